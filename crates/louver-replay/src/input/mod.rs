//! Reading recorded conversations: one module per kind of file.
//!
//! | module | what it reads |
//! |---|---|
//! | `body` | request bodies, bare lists of messages, the wrapper with `format` and `messages` |
//! | `message_lines` | a message, or a whole request body, per line |
//! | `claude_code` | Claude Code's session files |
//! | `codex` | Codex's rollouts |
//! | `gemini_cli` | Gemini CLI's session files |

mod claude_code;
mod clients;
mod codex;
mod gemini_cli;
mod kind;
mod lines;
mod message_lines;
mod moment;
mod source;

pub use clients::{Client, clients};
pub use kind::Kind;
pub use moment::{NoMoment, since};
pub use source::{Source, find};

use crate::conversation::Conversation;
use louver::{Body, JsonError, Message};
use std::error::Error;
use std::sync::Arc;

/// The most bytes of one file.
pub const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file itself.
    #[error("cannot be opened")]
    File(#[source] std::io::Error),
    /// Too large.
    #[error("has {0} bytes, more than the {MAX_BYTES} that are read")]
    TooLarge(u64),
    /// Not JSON, or not a history.
    #[error("cannot be read")]
    Json(#[from] JsonError),
    /// A line that is no JSON.
    #[error("line {line} is not JSON")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A message in a line that its format does not know.
    #[error("line {line} is not a message")]
    Message {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        #[source]
        source: JsonError,
    },
    /// Nothing in it.
    #[error("is empty")]
    Blank,
    /// Nothing of a conversation in it.
    #[error("holds no messages")]
    Empty,
}

/// The conversations of a file: one, or several where it holds several or was compacted on the way.
///
/// # Errors
///
/// A file that cannot be opened, is too large, or is none of the known kinds.
pub fn read(source: &Source) -> Result<Vec<Conversation>, ReadError> {
    let text = source.text()?;
    read_text(&source.name(), &text)
}

/// The same for text in memory.
///
/// # Errors
///
/// Text that is none of the known kinds.
pub fn read_text(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(ReadError::Blank);
    }
    let found = match Kind::of(text) {
        Kind::Body => vec![read_body(name, text)?],
        Kind::BodyLines => message_lines::read_bodies(name, text)?,
        Kind::MessageLines => vec![message_lines::read(name, text)?],
        Kind::ClaudeCode => claude_code::read(name, text)?,
        Kind::Codex => codex::read(name, text)?,
        Kind::GeminiCli => vec![gemini_cli::read(name, text)?],
        Kind::GeminiCliLines => gemini_cli::read_lines(name, text)?,
    };
    if found.iter().all(|conversation| conversation.messages.is_empty()) {
        return Err(ReadError::Empty);
    }
    Ok(found)
}

/// A request body, a wrapper, or a bare list of messages.
fn read_body(name: &str, text: &str) -> Result<Conversation, ReadError> {
    Ok(Conversation::of_body(name, &Body::parse(text, None)?))
}

/// Adds a message that stands in a line, with its time.
fn push(conversation: &mut Conversation, line: usize, raw: &str, time: Option<i64>) -> Result<(), ReadError> {
    let message = Message::parse(conversation.format, raw).map_err(|source| ReadError::Message { line, source })?;
    conversation.messages.push(Arc::new(message));
    conversation.times.push(time);
    Ok(())
}

/// An error and its causes in one sentence.
pub(crate) fn sentence(error: &dyn Error) -> String {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Names the second and later conversation of a file.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}#{}", number + 1) }
}
