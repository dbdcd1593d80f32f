//! Reading one field of a message whatever its value is.
//!
//! Keys come in any order, so a reader first collects values and only then knows what they mean. A field of the wrong
//! kind is no error here: the message is kept as it came, and the provider may know better.

use super::{Part, PartKind, Role};
use crate::json::text::meaning_of;
use crate::json::{Cursor, JsonError, Kind, Span};
use std::borrow::Cow;

/// A value that was passed. `null` is the same as no value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    /// Where it stands, quotes included.
    pub(super) span: Span,
    /// A string's own characters, or those of the compact JSON of anything else.
    pub(super) chars: u32,
    is_string: bool,
}

impl Value {
    /// Passes any value.
    #[inline]
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, JsonError> {
        match cursor.kind()? {
            Kind::String => {
                let string = cursor.string()?;
                Ok(Self { span: string.span, chars: string.chars, is_string: true })
            }
            Kind::Null => cursor.skip().map(|_| Self::default()),
            _ => {
                let before = cursor.compact_chars();
                let span = cursor.skip()?;
                Ok(Self::passed(span, cursor.compact_chars() - before))
            }
        }
    }

    /// An object or array that was passed member by member.
    pub(super) fn passed(span: Span, compact_chars: u64) -> Self {
        Self { span, chars: saturate(compact_chars), is_string: false }
    }

    /// Whether there is one.
    pub(super) fn is_some(self) -> bool {
        !self.span.is_empty()
    }

    /// Whether it is a string.
    pub(super) fn is_string(self) -> bool {
        self.is_string
    }

    /// The text between the quotes of a string, nothing for anything else.
    pub(super) fn inner(self) -> Span {
        if self.is_string { Span { start: self.span.start + 1, end: self.span.end - 1 } } else { Span::default() }
    }

    /// A string's characters, none for anything else.
    pub(super) fn string_chars(self) -> u32 {
        if self.is_string { self.chars } else { 0 }
    }

    /// Text to read, which stands at `span` as a part. What is no string says nothing.
    pub(super) fn text_part(self, cursor: &Cursor<'_>, span: Span) -> Part {
        Part { blank: is_blank(cursor.raw(self.inner())), ..self.part(PartKind::Text, span) }
    }

    /// A part at `span` that is read as this value.
    pub(super) fn part(self, kind: PartKind, span: Span) -> Part {
        Part { text: self.span, chars: self.chars, ..Part::new(kind, span) }
    }

    /// The part of a tool call with this as its input. The tool's name counts, too.
    pub(super) fn call_part(self, name: Self, kind: PartKind, span: Span) -> Part {
        let chars = self.chars.saturating_add(name.string_chars());
        Part { name: name.inner(), chars, ..self.part(kind, span) }
    }

    /// A value that is kept and counted as its JSON.
    pub(super) fn other_part(self) -> Part {
        self.part(PartKind::Other, self.span)
    }
}

/// Passes a value and returns its text, empty where it is no string.
pub(super) fn word<'a>(cursor: &mut Cursor<'a>) -> Result<Cow<'a, str>, JsonError> {
    if cursor.kind()? == Kind::String { cursor.text() } else { cursor.skip().map(|_| Cow::default()) }
}

/// Reads a role by the names that a format has for them.
pub(super) fn role(cursor: &mut Cursor<'_>, names: &[(&str, Role)], expected: &str) -> Result<Role, JsonError> {
    cursor.kind()?;
    let start = cursor.offset();
    let word = cursor.text()?;
    let found = names.iter().find(|(name, _)| *name == word).map(|(_, role)| *role);
    found.ok_or_else(|| JsonError::shape(format!("unknown role `{word}`: {expected}"), start))
}

/// Passes a value and says whether it is `true`.
pub(super) fn is_true(cursor: &mut Cursor<'_>) -> Result<bool, JsonError> {
    let span = cursor.skip()?;
    Ok(cursor.raw(span) == "true")
}

/// Passes a value and returns the characters of its compact JSON, quotes included.
pub(super) fn compact_chars(cursor: &mut Cursor<'_>) -> Result<u64, JsonError> {
    let before = cursor.compact_chars();
    cursor.skip()?;
    Ok(cursor.compact_chars() - before)
}

/// A count of characters as a part keeps it.
pub(super) fn saturate(chars: u64) -> u32 {
    u32::try_from(chars).unwrap_or(u32::MAX)
}

/// Whether the text between a JSON string's quotes is empty or white space once its escapes are resolved.
///
/// Stops at the first character that is neither, so it costs nothing on real text.
fn is_blank(inner: &str) -> bool {
    let mut rest = inner;
    while let Some(character) = rest.chars().next() {
        let is_escape = character == '\\';
        let read = if is_escape { meaning_of(rest.as_bytes()) } else { Some((character, character.len_utf8())) };
        match read {
            Some((meaning, length)) if meaning.is_whitespace() => rest = &rest[length..],
            _ => return false,
        }
    }
    true
}

/// A member of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Key and value.
    pub(super) span: Span,
    /// The value alone.
    pub(super) value: Span,
}

/// Every member of this name of the object at `object`; a key may well come twice.
pub(super) fn members(raw: &str, object: Span, name: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let text = object.of(raw);
    let mut cursor = Cursor::new(text);
    let mut end_of_last = 0;
    let shifted = |start: u32, end: u32| Span { start: object.start + start, end: object.start + end };
    // The message has been read before; what is no object has no members.
    let _ = cursor.object(|key, cursor| {
        let value = cursor.skip()?;
        if key == name {
            let key_start = text[end_of_last..].find('"').map_or(value.start, |at| (end_of_last + at) as u32);
            found.push(Member { span: shifted(key_start, value.end), value: shifted(value.start, value.end) });
        }
        end_of_last = value.end as usize;
        Ok(())
    });
    found
}

/// The members of the object that a raw message is.
pub(super) fn members_of(raw: &str, name: &str) -> Vec<Member> {
    members(raw, Span { start: 0, end: saturate(raw.len() as u64) }, name)
}

#[cfg(test)]
mod tests {
    use super::{is_blank, members, members_of};
    use crate::json::Span;
    use crate::json::text::{decode, encode};
    use proptest::prelude::*;

    #[test]
    fn a_member_is_found_with_its_key_as_often_as_it_comes() {
        let raw = r#"{"a": "\"b\"", "b" : [1] ,"c":{"b":0}, "\u0062":2}"#;
        let found: Vec<_> = members_of(raw, "b").iter().map(|m| (m.span.of(raw), m.value.of(raw))).collect();
        assert_eq!(found, [(r#""b" : [1]"#, "[1]"), (r#""\u0062":2"#, "2")]);
        let inside = members(raw, Span { start: 30, end: 37 }, "b");
        assert_eq!(inside.iter().map(|m| m.span.of(raw)).collect::<Vec<_>>(), [r#""b":0"#]);
    }

    proptest! {
        #[test]
        fn blank_is_what_is_blank_after_decoding(text in "[ \t\n\u{b}\u{c}\u{a0}\u{3000}\u{8}a\\\\\"]{0,4}") {
            let json = encode(&text);
            let inner = &json[1..json.len() - 1];
            prop_assert_eq!(is_blank(inner), decode(inner).trim().is_empty());
        }
    }
}
