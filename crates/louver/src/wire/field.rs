//! Reading one field of a message whatever its value is.
//!
//! A field of the wrong kind is no error here: the message is kept as it came, and the provider may know better.

use crate::json::{Cursor, JsonError, Kind, Span, Str, text};
use std::borrow::Cow;

/// A value and the characters that it takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    pub(super) span: Span,
    pub(super) chars: u64,
}

/// Passes a value and measures it as compact JSON.
pub(super) fn value(cursor: &mut Cursor<'_>) -> Result<Value, JsonError> {
    let before = cursor.compact_chars();
    let span = cursor.skip()?;
    Ok(Value { span, chars: cursor.compact_chars() - before })
}

/// Passes a value and measures it as a reader would: a string by its characters.
pub(super) fn readable(cursor: &mut Cursor<'_>) -> Result<Value, JsonError> {
    if cursor.kind()? == Kind::String {
        let Str { span, chars } = cursor.string()?;
        return Ok(Value { span, chars: chars.into() });
    }
    value(cursor)
}

/// Passes a value; where it is a string, this is it.
pub(super) fn string(cursor: &mut Cursor<'_>) -> Result<Option<Str>, JsonError> {
    if cursor.kind()? == Kind::String { cursor.string().map(Some) } else { cursor.skip().map(|_| None) }
}

/// Passes a value and returns its text, empty where it is no string.
pub(super) fn word<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, JsonError> {
    if cursor.kind()? == Kind::String { cursor.text() } else { cursor.skip().map(|_| Cow::default()) }
}

/// Passes a value and says whether it is `true`.
pub(super) fn is_true(cursor: &mut Cursor<'_>) -> Result<bool, JsonError> {
    let span = cursor.skip()?;
    Ok(cursor.raw(span) == "true")
}

/// Passes a value and says whether it is anything but `null`.
pub(super) fn is_some(cursor: &mut Cursor<'_>) -> Result<bool, JsonError> {
    let kind = cursor.kind()?;
    cursor.skip()?;
    Ok(kind != Kind::Null)
}

/// Where the text of a string stands between its quotes; the empty span where there is no string.
pub(super) fn inner(string: Option<Str>) -> Span {
    string.map_or(Span::default(), Str::inner)
}

/// Whether the text of a string, escapes as written, is nothing but white space. Looks no further than the first
/// character that is neither white space nor an escape.
pub(super) fn is_blank(inner: &str) -> bool {
    let rest = inner.trim_start();
    rest.is_empty() || (rest.starts_with('\\') && text::decode(rest).trim_start().is_empty())
}

/// Characters as a part counts them.
pub(super) fn clamp(chars: u64) -> u32 {
    u32::try_from(chars).unwrap_or(u32::MAX)
}
