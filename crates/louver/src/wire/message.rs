//! One element of a history: raw text and shape.

use super::{Format, Part, Role, Shape, Wire};
use crate::json::{Cursor, JsonError, text};
use crate::tokens::LastCount;
use std::borrow::Cow;

/// One element of a history, kept as the raw text it came as.
///
/// ```
/// use louver::wire::{Format, Message, Role};
///
/// let message = Message::parse(Format::OpenAiChat, r#"{"role": "user",  "content": "Hi"}"#).unwrap();
/// assert_eq!(message.shape().role, Role::User);
/// assert_eq!(message.raw(), r#"{"role": "user",  "content": "Hi"}"#);
/// ```
///
/// # What is in it?
///
/// ```
/// use louver::{Format, Message, Role};
///
/// let raw = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#;
/// let message = Message::parse(Format::OpenAiChat, raw)?;
/// let call = &message.shape().parts[0];
/// assert_eq!((message.id_of(call), message.name_of(call), message.text_of(call)), ("call_1".into(), "read".into(), "{}".into()));
/// assert_eq!((message.own_id_of(call), message.media_of(call)), ("".into(), "{}"));
/// assert_eq!(Message::synthetic(Format::OpenAiChat, Role::User, "Hi")?.raw(), r#"{"role":"user","content":"Hi"}"#);
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    raw: Box<str>,
    shape: Shape,
    last_count: LastCount,
}

impl Message {
    /// Reads one message. O(its bytes).
    ///
    /// # Errors
    ///
    /// Text that is not JSON, or not a message of this format.
    pub fn parse(format: Format, raw: &str) -> Result<Self, JsonError> {
        Self::read(format.wire(), raw)
    }

    pub(super) fn read(wire: &Wire, raw: &str) -> Result<Self, JsonError> {
        let mut cursor = Cursor::new(raw);
        let start = cursor.rebase();
        let shape = (wire.shape)(&mut cursor)?;
        let end = cursor.offset();
        cursor.finish()?;
        Ok(Self::new(&raw[start..end], shape))
    }

    pub(crate) fn new(raw: &str, shape: Shape) -> Self {
        Self { raw: raw.into(), shape, last_count: LastCount::default() }
    }

    /// A message of our own.
    ///
    /// # Errors
    ///
    /// Only if the format's writer and reader disagree, which a property test rules out.
    pub fn synthetic(format: Format, role: Role, text: &str) -> Result<Self, JsonError> {
        Self::parse(format, &format.wire().write(role, text))
    }

    /// The text as it came, byte for byte.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    pub(crate) fn last_count(&self) -> &LastCount {
        &self.last_count
    }

    /// What is in it.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What the model reads of a part: the text of a string, the compact JSON of anything else.
    pub fn text_of(&self, part: &Part) -> Cow<'_, str> {
        let value = part.text.of(&self.raw);
        match value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(inner) => text::decode(inner),
            None => text::compact(value),
        }
    }

    /// A part's pairing id, empty where it has none.
    pub fn id_of(&self, part: &Part) -> Cow<'_, str> {
        text::decode(part.id.of(&self.raw))
    }

    /// A part's own id, empty where it has none.
    pub fn own_id_of(&self, part: &Part) -> Cow<'_, str> {
        text::decode(part.own_id.of(&self.raw))
    }

    /// A part's tool name or media type, empty where it has none.
    pub fn name_of(&self, part: &Part) -> Cow<'_, str> {
        text::decode(part.name.of(&self.raw))
    }

    /// The media data of a part as written, without its quotes.
    pub fn media_of(&self, part: &Part) -> &str {
        let value = part.text.of(&self.raw);
        value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(value)
    }
}
