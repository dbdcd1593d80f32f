//! A message, or a whole request body, per line.

use super::{ReadError, numbered, read_body};
use crate::conversation::Conversation;
use serde_json::value::RawValue;

/// A conversation whose messages stand one per line.
pub(super) fn read(name: &str, text: &str) -> Result<Conversation, ReadError> {
    let lines: Vec<(usize, Box<RawValue>)> = super::lines::parse(text)?;
    let messages: Vec<&str> = lines.iter().map(|(_, line)| line.get()).collect();
    read_body(name, &format!("[{}]", messages.join(",")))
}

/// A conversation per line.
pub(super) fn read_bodies(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let lines: Vec<(usize, Box<RawValue>)> = super::lines::parse(text)?;
    lines.iter().enumerate().map(|(number, (_, line))| read_body(&numbered(name, number), line.get())).collect()
}
