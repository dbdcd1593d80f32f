//! Reading a conversation, within bounds.

use anyhow::{Context, anyhow, bail, ensure};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use louver::display::truncate;
use louver::{Body, Format, JsonError};
use louver_replay::input::{Kind, read_text};
use louver_replay::{Conversation, ReplayError, Strand, request};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// A longer path says no more than its ends.
const MAX_PATH_CHARS: usize = 120;

/// Standard input, and whether a person sits at it.
pub(crate) struct Stdin<'r> {
    pub(crate) reader: &'r mut dyn Read,
    pub(crate) is_terminal: bool,
}

/// Where a conversation comes from, and how it is read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct Input {
    /// A JSON file, or a session of Claude Code, Codex or Gemini CLI; `-` or nothing reads stdin
    #[arg(id = "INPUT", value_hint = ValueHint::FilePath, help_heading = None)]
    path: Option<PathBuf>,

    /// The wire format, instead of finding it out
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    format: Option<Format>,

    /// Only what stood before request T, counted from 1
    #[arg(long, value_name = "T", value_parser = number_of_request)]
    at: Option<NonZeroUsize>,

    /// Refuse larger inputs
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "64MB",
        value_parser = parse_bytes,
        allow_negative_numbers = true
    )]
    max_bytes: u64,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.file() {
            None => f.write_str("stdin"),
            Some(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Input {
    /// What was typed.
    pub(crate) fn typed(&self) -> Option<&str> {
        self.path.as_deref().and_then(Path::to_str)
    }

    /// The file, unless it is stdin.
    fn file(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.as_os_str() != "-")
    }

    /// Reads the whole conversation. Every error names the source.
    pub(crate) fn read(&self, stdin: &mut Stdin<'_>) -> anyhow::Result<Body> {
        ensure!(
            self.file().is_some() || !stdin.is_terminal,
            "no INPUT: name a JSON file, or pipe one in (louver --help shows examples)"
        );
        self.parse(stdin).with_context(|| self.to_string())
    }

    fn parse(&self, stdin: &mut Stdin<'_>) -> anyhow::Result<Body> {
        let bytes = match self.file() {
            None => read_bounded(&mut *stdin.reader, self.max_bytes)?,
            Some(path) => read_file(path, self.max_bytes)?,
        };
        ensure!(!bytes.trim_ascii().is_empty(), "the input is empty (byte 0)");
        ensure!(!bytes.starts_with(BYTE_ORDER_MARK), "starts with a byte order mark, which is not JSON (byte 0)");
        let parsed = Body::parse_bytes(&bytes, self.format);
        match (parsed, self.at) {
            (Ok(body), None) => Ok(body),
            (Ok(body), Some(at)) => before_request(&[Conversation::of_body(&self.to_string(), &body)], at),
            (Err(error), at) => match self.session(&bytes) {
                Some(conversations) => of_session(&conversations?, at),
                None => Err(anyhow::Error::msg(sentence(&error))),
            },
        }
    }

    /// The conversations of a session file; `None` where it is none.
    fn session(&self, bytes: &[u8]) -> Option<anyhow::Result<Vec<Conversation>>> {
        let text = std::str::from_utf8(bytes).ok().filter(|text| Kind::of(text).is_session())?;
        Some(read_text(&self.to_string(), text).map_err(anyhow::Error::from))
    }
}

/// The history that a session ended with, or what stood before one of its requests.
fn of_session(conversations: &[Conversation], at: Option<NonZeroUsize>) -> anyhow::Result<Body> {
    if let Some(at) = at {
        return before_request(conversations, at);
    }
    let last = conversations.iter().rev().find(|one| one.strand == Strand::Main).or(conversations.last());
    let conversation = last.context("holds no messages")?;
    wrapped(conversation, conversation.messages.len())
}

fn before_request(conversations: &[Conversation], at: NonZeroUsize) -> anyhow::Result<Body> {
    // Whoever reads the input names it.
    let (conversation, turn) = request(conversations, at.get()).map_err(|error| match error {
        ReplayError::NoSuchRequest { turn, requests, .. } => {
            anyhow!("has no request {turn}, the last is {requests}")
        }
        other => other.into(),
    })?;
    wrapped(conversation, conversation.turns()[turn - 1].at)
}

fn number_of_request(typed: &str) -> Result<NonZeroUsize, &'static str> {
    typed.parse().map_err(|_| "expected a whole number, 1 or more")
}

fn wrapped(conversation: &Conversation, messages: usize) -> anyhow::Result<Body> {
    Ok(Body::parse(&conversation.to_wrapper(messages), Some(conversation.format))?)
}

fn format_parser() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// A number of bytes: `1000000`, `64MB`, `16MiB`.
fn parse_bytes(typed: &str) -> Result<u64, String> {
    let digits = typed.find(|c: char| !c.is_ascii_digit()).unwrap_or(typed.len());
    let (number, unit) = typed.split_at(digits);
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("expected a number of bytes such as 1000000, 64MB or 16MiB".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes such as 1000000, 64MB or 16MiB")?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
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
    let end = truncate(&path, steps - ends).len();
    sentence.replacen(&path, &format!("{}…{}", truncate(&path, ends), &path[end..]), 1)
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
    use super::{parse_bytes, read_bounded};

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(read_bounded(&b"12345"[..], 5).unwrap(), b"12345");
        assert!(read_bounded(&b"12345"[..], 4).is_err());
    }

    #[test]
    fn an_endless_input_ends_at_the_limit() {
        assert!(read_bounded(std::io::repeat(b' '), 1000).is_err());
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(parse_bytes("64MB"), Ok(64_000_000));
        assert_eq!(parse_bytes("1 KiB"), Ok(1024));
        assert_eq!(parse_bytes("17"), Ok(17));
        assert!(parse_bytes("").is_err() && parse_bytes("-1").is_err() && parse_bytes("5 apples").is_err());
        assert!(parse_bytes("99999999999GB").is_err());
    }
}
