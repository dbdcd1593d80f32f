//! What the two formats of OpenAI have in common: roles, and what stands under `content` (and under the `output` of a
//! Responses item), which is a string or a list of parts.
//!
//! Chat Completions and Responses name their parts differently but never use one name for two things, so one reader
//! knows both.

use super::field::{self, Value, saturate};
use super::{MediaKind, Part, PartKind, Role};
use crate::json::{Cursor, JsonError, Kind, Span};
use std::borrow::Cow;

/// A role that was passed. Whether it is a fault depends on what else the message holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoleField {
    /// The role, if it is one that OpenAI knows.
    pub(super) named: Option<Role>,
    offset: usize,
}

impl RoleField {
    /// Passes a role's name.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, JsonError> {
        cursor.expect(Kind::String)?;
        let offset = cursor.offset();
        let named = match &*cursor.text()? {
            "system" => Some(Role::System),
            "developer" => Some(Role::Developer),
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "tool" | "function" => Some(Role::Tool),
            _ => None,
        };
        Ok(Self { named, offset })
    }

    /// The error of a message that cannot have this role.
    pub(super) fn refused(self, expected: &str) -> JsonError {
        JsonError::shape(format!("expected one of {expected}"), self.offset).inside_key("role")
    }
}

/// A content that was passed; its parts went to the caller's list. `null` is the same as none.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Where it stands.
    pub(super) span: Span,
    /// What it is, if there is any.
    pub(super) kind: Option<Kind>,
    /// A string's own characters, or those of the compact JSON of anything else.
    pub(super) chars: u64,
    /// Parts that carry a cache mark.
    pub(super) cache_marks: u32,
    /// Why it is no content of a message. Items that are kept as they are do not care.
    pub(super) fault: Option<JsonError>,
}

impl Content {
    /// Passes a content and adds its parts to `parts`. An object, which no API takes, is one part that nothing edits.
    pub(super) fn read(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<Self, JsonError> {
        let kind = cursor.kind()?;
        let (start, before) = (cursor.offset(), cursor.compact_chars());
        let mut content = Self { kind: Some(kind), ..Self::default() };
        match kind {
            Kind::Null => return cursor.skip().map(|_| Self::default()),
            Kind::String => {
                let value = Value::read(cursor)?;
                parts.push(value.text_part(cursor, value.span));
                return Ok(Self { span: value.span, chars: u64::from(value.chars), ..content });
            }
            Kind::Array => cursor.array(|index, cursor| content.element(index, cursor, parts))?,
            Kind::Object => parts.push(Value::read(cursor)?.other_part()),
            Kind::Bool | Kind::Number => {
                content.fault = Some(cursor.unexpected("a string, an array or null"));
                parts.push(Value::read(cursor)?.other_part());
            }
        }
        content.span = cursor.span_from(start);
        content.chars = cursor.compact_chars() - before;
        Ok(content)
    }

    /// Passes a value that holds one part where another would hold a list of them.
    pub(super) fn read_single(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<Self, JsonError> {
        let before = cursor.compact_chars();
        let mut content = Self { kind: Some(Kind::Object), ..Self::default() };
        content.span = content.part(cursor, parts)?;
        content.chars = cursor.compact_chars() - before;
        Ok(content)
    }

    fn element(&mut self, index: usize, cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
        if cursor.kind()? == Kind::Object {
            return self.part(cursor, parts).map(drop);
        }
        if self.fault.is_none() {
            self.fault = Some(cursor.unexpected("an object").inside_index(index));
        }
        let value = Value::read(cursor)?;
        parts.extend(value.is_some().then(|| value.other_part()));
        Ok(())
    }

    fn part(&mut self, cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<Span, JsonError> {
        cursor.expect(Kind::Object)?;
        let (start, before) = (cursor.offset(), cursor.compact_chars());
        let fields = PartFields::read(cursor)?;
        self.cache_marks += u32::from(fields.has_cache_mark);
        let span = cursor.span_from(start);
        let whole = Value::passed(span, cursor.compact_chars() - before);
        parts.push(fields.into_part(cursor, whole));
        Ok(span)
    }
}

/// The members of a content part that matter.
#[derive(Default)]
struct PartFields<'a> {
    kind: Cow<'a, str>,
    text: Value,
    refusal: Value,
    media: Media,
    has_cache_mark: bool,
}

impl<'a> PartFields<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, JsonError> {
        let mut fields = Self::default();
        cursor.object(|key, cursor| fields.member(key, cursor))?;
        Ok(fields)
    }

    fn member(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Result<(), JsonError> {
        match key {
            "type" => self.kind = field::word(cursor)?,
            "text" => self.text = Value::read(cursor)?,
            "refusal" => self.refusal = Value::read(cursor)?,
            "image_url" | "video_url" | "input_audio" | "file" => self.media.read_source(cursor)?,
            "file_data" | "file_url" | "file_id" => self.media.read_data(cursor)?,
            "cache_control" => self.has_cache_mark = Value::read(cursor)?.is_some(),
            _ => drop(cursor.skip()?),
        }
        Ok(())
    }

    fn into_part(self, cursor: &Cursor<'_>, whole: Value) -> Part {
        let span = whole.span;
        match &*self.kind {
            "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" => {
                self.text.text_part(cursor, span)
            }
            "refusal" => self.refusal.text_part(cursor, span),
            "image_url" | "input_image" | "computer_screenshot" => self.media.part(cursor, MediaKind::Image, span),
            "input_audio" | "video_url" => self.media.part(cursor, MediaKind::Audio, span),
            "file" | "input_file" => self.media.part(cursor, MediaKind::Document, span),
            _ => whole.other_part(),
        }
    }
}

/// Where a media part's data is.
#[derive(Clone, Copy, Default)]
struct Media {
    /// Base64, a `data:` address, any other address or a file's id.
    data: Value,
    format: Value,
}

impl Media {
    /// Passes an address, or an object that holds one.
    fn read_source(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        if cursor.kind()? != Kind::Object {
            return self.read_data(cursor);
        }
        *self = Self::default();
        cursor.object(|key, cursor| match key {
            "url" | "data" | "file_data" | "file_url" | "file_id" => self.read_data(cursor),
            "format" => Value::read(cursor).map(|format| self.format = format),
            _ => cursor.skip().map(drop),
        })
    }

    /// Passes one of the members that may hold the data; the others are null or absent.
    fn read_data(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        let data = Value::read(cursor)?;
        if data.is_string() {
            self.data = data;
        }
        Ok(())
    }

    fn part(self, cursor: &Cursor<'_>, kind: MediaKind, span: Span) -> Part {
        let named = media_type(cursor, self.data.inner());
        let name = if named.is_empty() { self.format.inner() } else { named };
        Part { text: self.data.span, name, ..Part::new(PartKind::Media(kind), span) }
    }
}

/// The media type of a `data:` address that stands between the quotes at `inner`, nothing for any other address.
fn media_type(cursor: &Cursor<'_>, inner: Span) -> Span {
    let Some(rest) = cursor.raw(inner).strip_prefix("data:") else {
        return Span::default();
    };
    let length = rest.bytes().take_while(|byte| !matches!(byte, b';' | b',')).count();
    let start = inner.start + "data:".len() as u32;
    Span { start, end: start + saturate(length as u64) }
}

/// Puts a tool result before the parts of its content, which become nested. A string has none: the result holds it.
pub(super) fn put_result_first(parts: &mut Vec<Part>, content: &Content, mut result: Part) {
    result.text = content.span;
    if content.kind == Some(Kind::String) {
        parts.retain(|part| part.span != content.span);
        result.chars = saturate(content.chars);
    }
    for part in parts.iter_mut() {
        part.nested = true;
    }
    parts.insert(0, result);
}

/// Passes the value of a member that holds parts. Of a member that comes twice the last one counts, so the parts of
/// the first, which stand at `slot`, leave the list.
pub(super) fn in_slot<'a, T>(
    slot: &mut Span,
    parts: &mut Vec<Part>,
    cursor: &mut Cursor<'a>,
    read: impl FnOnce(&mut Cursor<'a>, &mut Vec<Part>) -> Result<T, JsonError>,
) -> Result<T, JsonError> {
    if !slot.is_empty() {
        parts.retain(|part| part.span.start < slot.start || part.span.end > slot.end);
    }
    cursor.kind()?;
    let start = cursor.offset();
    let value = read(cursor, parts)?;
    *slot = cursor.span_from(start);
    Ok(value)
}
