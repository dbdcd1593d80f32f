//! Reading a conversation, within bounds.

use anyhow::{Context, bail, ensure};
use louver::json::JsonError;
use louver::wire::{Body, Format};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// A longer path says no more than its ends.
const MAX_PATH_CHARS: usize = 120;

/// Where a conversation comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

impl Source {
    /// A path, or `-` or nothing for stdin.
    pub(crate) fn of(path: Option<PathBuf>) -> Self {
        match path {
            Some(path) if path.as_os_str() != "-" => Self::File(path),
            _ => Self::Stdin,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("stdin"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Standard input, and whether a person sits at it.
pub(crate) struct Stdin<'r> {
    pub(crate) reader: &'r mut dyn Read,
    pub(crate) is_terminal: bool,
}

impl fmt::Debug for Stdin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdin").field("is_terminal", &self.is_terminal).finish_non_exhaustive()
    }
}

/// What to read and how.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) source: Source,
    pub(crate) format: Option<Format>,
    pub(crate) max_bytes: u64,
}

impl Input {
    /// Reads the whole conversation. Every error names the source.
    pub(crate) fn read(&self, stdin: &mut Stdin<'_>) -> anyhow::Result<Body> {
        ensure!(
            !(self.source == Source::Stdin && stdin.is_terminal),
            "no INPUT: name a JSON file, or pipe one in (louver --help shows examples)"
        );
        self.parse(stdin).with_context(|| self.source.to_string())
    }

    fn parse(&self, stdin: &mut Stdin<'_>) -> anyhow::Result<Body> {
        let bytes = match &self.source {
            Source::Stdin => read_bounded(&mut *stdin.reader, self.max_bytes)?,
            Source::File(path) => read_file(path, self.max_bytes)?,
        };
        ensure!(!bytes.trim_ascii().is_empty(), "the input is empty (byte 0)");
        ensure!(!bytes.starts_with(BYTE_ORDER_MARK), "starts with a byte order mark, which is not JSON (byte 0)");
        Body::parse_bytes(&bytes, self.format).map_err(|error| anyhow::Error::msg(sentence(&error)))
    }
}

/// Reads a file, but not more than `max_bytes` of it.
pub(crate) fn read_file(path: &Path, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path).map_err(spoken)?;
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        bail!("is a directory, not a file");
    }
    read_bounded(file, max_bytes)
}

/// The limit is checked while reading: what is beyond it never reaches memory.
fn read_bounded(reader: impl Read, max_bytes: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(spoken)?;
    ensure!(
        bytes.len() as u64 <= max_bytes,
        "the input goes on beyond the limit at byte {max_bytes} (--max-bytes raises it)"
    );
    Ok(bytes)
}

/// The error as it is, but a path of a thousand steps only by its ends.
fn sentence(error: &JsonError) -> String {
    let (sentence, path) = (error.to_string(), error.path());
    let steps = path.chars().count();
    if steps <= MAX_PATH_CHARS {
        return sentence;
    }
    let ends = MAX_PATH_CHARS / 2;
    let start: String = path.chars().take(ends).collect();
    let end: String = path.chars().skip(steps - ends).collect();
    sentence.replacen(&path, &format!("{start}…{end}"), 1)
}

/// An operating system's error without its number: `no such file or directory`.
pub(crate) fn spoken(error: io::Error) -> anyhow::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return error.into();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    anyhow::Error::msg(first.into_iter().chain(letters).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::read_bounded;

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(read_bounded(&b"12345"[..], 5).unwrap(), b"12345");
        assert!(read_bounded(&b"12345"[..], 4).is_err());
    }

    #[test]
    fn an_endless_input_ends_at_the_limit() {
        assert!(read_bounded(std::io::repeat(b' '), 1000).is_err());
    }
}
