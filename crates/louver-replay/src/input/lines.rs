//! JSON, one value per line.

use super::ReadError;
use serde::de::DeserializeOwned;

/// The values of all lines with their numbers from 1. A last line that breaks off is left out: the session may still
/// be running.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<Vec<(usize, T)>, ReadError> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
    let mut values = Vec::new();
    while let Some((at, line)) = lines.next() {
        match serde_json::from_str(line) {
            Ok(value) => values.push((at + 1, value)),
            Err(error) if error.is_eof() && lines.peek().is_none() && !values.is_empty() => break,
            Err(source) => return Err(ReadError::Line { line: at + 1, source }),
        }
    }
    Ok(values)
}
