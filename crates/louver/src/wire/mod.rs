//! The four wire formats: what a message is made of, what must stay together, what is legal.
//!
//! A [`Message`] is the raw text it came as plus its [`Shape`]; nothing is ever re-serialised. Everything that differs
//! between providers stands in one table, [`Wire`], with a folder per format and the same file names in each:
//!
//! | file | question it answers |
//! |---|---|
//! | `shape.rs` | what is in this message? |
//! | `pairing.rs` | which result answers which call, and how far away may it stand? |
//! | `rules.rs` | what does the provider refuse, in which words, and what makes it legal? |
//! | `write.rs` | how is a message of our own written, and where does one have to stand? |

pub mod anthropic;
mod body;
mod detect;
mod field;
mod format;
pub mod gemini;
mod message;
mod openai;
pub mod openai_chat;
pub mod openai_responses;
mod pairing;
mod repair;
mod rule;
mod shape;
mod splice;
mod violation;

pub use body::{Body, Thinking};
pub use format::{Format, UnknownFormat};
pub use message::Message;
#[doc(hidden)]
pub use pairing::Pairing;
pub(crate) use pairing::Tracker;
#[doc(hidden)]
pub use rule::{Advice, Rule};
pub use shape::{MediaKind, Part, PartKind, Role, Shape};
#[doc(hidden)]
pub use splice::Splice;
pub use violation::{Fix, Violation};

use crate::json::{Cursor, JsonError};

/// A history as a provider would judge it: the messages in order, and what else of the request matters.
///
/// ```
/// use louver::wire::History;
/// use louver::{Format, Message};
///
/// let message = Message::parse(Format::Anthropic, r#"{"role":"assistant","content":"Hello"}"#)?;
/// let found = Format::Anthropic.wire().check(&History::of([&message]));
/// assert_eq!(found[0].rule, "first-not-user");
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Debug)]
pub struct History<'a> {
    /// The messages as they would be sent.
    pub messages: Vec<&'a Message>,
    /// Cache marks on tools and system.
    pub outer_cache_marks: u32,
    /// The request's thinking setting.
    pub thinking: Thinking,
}

impl<'a> History<'a> {
    /// Messages alone, with nothing around them.
    pub fn of(messages: impl IntoIterator<Item = &'a Message>) -> Self {
        Self { messages: messages.into_iter().collect(), outer_cache_marks: 0, thinking: Thinking::Unset }
    }
}

/// What one provider's format asks of us: a table with a row for each question.
///
/// ```
/// use louver::wire::History;
/// use louver::{Format, Message, Role};
///
/// let wire = Format::Anthropic.wire();
/// let answer = Message::parse(Format::Anthropic, &wire.write(Role::Assistant, "Hello"))?;
/// let history = History::of([&answer]);
/// assert_eq!((wire.check(&history).len(), wire.advise(&history).len(), wire.repair(&history).len()), (1, 0, 1));
/// assert_eq!(wire.bridge(None, Some(answer.shape())), Some(Role::User)); // what has to stand before it
/// assert_eq!(wire.write_part("Hi"), r#"{"type":"text","text":"Hi"}"#);
/// assert_eq!(wire.write_result("\"long\"", "short"), "\"short\"");
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Debug)]
pub struct Wire {
    /// Passes one message and says what is in it. Spans are relative to the message's first byte, which is the
    /// cursor's base.
    pub(crate) shape: fn(&mut Cursor<'_>) -> Result<Shape, JsonError>,
    /// How calls and results find each other.
    pub(crate) pairing: &'static Pairing,
    /// What the provider refuses, and what makes it legal.
    rules: &'static [Rule],
    /// What is legal and still worth a warning.
    advice: &'static [Advice],
    write: fn(Role, &str) -> String,
    write_result: fn(&str, &str) -> String,
    write_part: fn(&str) -> String,
    bridge: fn(Option<&Shape>, Option<&Shape>) -> Option<Role>,
}

impl Wire {
    /// Passes one message and says what is in it. Spans are relative to the cursor's base.
    ///
    /// # Errors
    ///
    /// Text that is no message of the format.
    pub fn shape(&self, cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
        (self.shape)(cursor)
    }

    /// The raw text of a message of our own.
    pub fn write(&self, role: Role, text: &str) -> String {
        (self.write)(role, text)
    }

    /// The JSON value that takes the place of a tool result's [`text`](Part::text) span. `like` is the value it
    /// replaces, so that an object stays an object.
    pub fn write_result(&self, like: &str, text: &str) -> String {
        (self.write_result)(like, text)
    }

    /// The JSON of a content part that holds `text`, for a message that an edit would leave empty.
    pub fn write_part(&self, text: &str) -> String {
        (self.write_part)(text)
    }

    /// The role of the message that has to stand between two neighbours so that the history stays legal; `None`
    /// where they may stand together. No `before` means the start of the history, no `after` its end.
    pub fn bridge(&self, before: Option<&Shape>, after: Option<&Shape>) -> Option<Role> {
        (self.bridge)(before, after)
    }
}

/// A text of our own, and where it is blank something in its place: the APIs refuse blank text or have no use for it.
fn or_placeholder(text: &str) -> &str {
    if text.trim().is_empty() { "[empty]" } else { text }
}

impl Format {
    /// The rules of this format.
    pub fn wire(self) -> &'static Wire {
        match self {
            Self::Anthropic => &anthropic::WIRE,
            Self::OpenAiChat => &openai_chat::WIRE,
            Self::OpenAiResponses => &openai_responses::WIRE,
            Self::Gemini => &gemini::WIRE,
        }
    }
}
