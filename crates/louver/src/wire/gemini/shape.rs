//! What is in a Gemini content.

use crate::json::{Cursor, JsonError, Kind, Span};
use crate::wire::field::{self, Value};
use crate::wire::{MediaKind, Part, PartKind, Role, Shape};

/// Passes one content.
const ROLES: [(&str, Role); 2] = [("user", Role::User), ("model", Role::Assistant)];

pub(super) fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
    let start = cursor.offset();
    let mut role = None;
    let mut parts = Vec::new();
    let mut estimate_chars = 0;
    cursor.object(|key, cursor| match key {
        "role" => field::role(cursor, &ROLES, "please use a valid role: user, model").map(|read| role = Some(read)),
        "parts" => read_parts(cursor).map(|read| (parts, estimate_chars) = read),
        _ => cursor.skip().map(drop),
    })?;
    let role = role.ok_or_else(|| JsonError::shape("the content has no `role`", start))?;
    Ok(Shape { role, parts: parts.into(), estimate_chars, cache_marks: 0 })
}

/// The parts, and the characters of their compact JSON.
fn read_parts(cursor: &mut Cursor<'_>) -> Result<(Vec<Part>, u64), JsonError> {
    let mut parts = Vec::new();
    let before = cursor.compact_chars();
    match cursor.kind()? {
        Kind::Null => return cursor.skip().map(|_| (parts, 0)),
        Kind::Array => cursor.array(|_, cursor| read_part(cursor, &mut parts))?,
        Kind::Object => parts.push(Value::read(cursor)?.other_part()),
        Kind::String | Kind::Bool | Kind::Number => return Err(cursor.unexpected("an array of parts")),
    }
    Ok((parts, cursor.compact_chars() - before))
}

/// A part of the content, with the parts that it holds behind it.
fn read_part(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    let at = parts.len();
    parts.push(Part::new(PartKind::Other, Span::default()));
    let part = Fields::read(cursor, &mut |cursor| {
        parts.truncate(at + 1);
        cursor.array(|_, cursor| {
            let part = Fields::read(cursor, &mut |cursor| cursor.skip().map(drop))?;
            parts.push(Part { nested: true, ..part });
            Ok(())
        })
    })?;
    if part.kind != PartKind::ToolResult {
        parts.truncate(at + 1);
    }
    parts[at] = part;
    Ok(())
}

/// What a part says about itself besides the one key that makes it what it is.
#[derive(Default)]
struct Fields {
    text: Value,
    is_thought: bool,
    /// The part that a key other than `text` made.
    special: Option<Part>,
    /// Characters of signatures.
    hidden: u64,
}

/// Passes the array of parts inside a function response.
type PassParts<'f, 'a> = &'f mut dyn FnMut(&mut Cursor<'a>) -> Result<(), JsonError>;

impl Fields {
    fn read<'a>(cursor: &mut Cursor<'a>, nested: PassParts<'_, 'a>) -> Result<Part, JsonError> {
        cursor.expect(Kind::Object)?;
        let (start, before) = (cursor.offset(), cursor.compact_chars());
        let mut fields = Self::default();
        cursor.object(|key, cursor| fields.read_member(key, cursor, nested))?;
        let chars = cursor.compact_chars() - before - fields.hidden;
        Ok(fields.part(cursor, cursor.span_from(start), chars))
    }

    /// Keys are accepted in both spellings, as the API does.
    fn read_member<'a>(
        &mut self,
        key: &str,
        cursor: &mut Cursor<'a>,
        nested: PassParts<'_, 'a>,
    ) -> Result<(), JsonError> {
        match key {
            "text" => self.text = Value::read(cursor)?,
            "thought" => self.is_thought = field::is_true(cursor)?,
            "thoughtSignature" | "thought_signature" => self.hidden += field::compact_chars(cursor)?,
            _ => {
                let part = read_special(key, cursor, nested)?;
                self.special = part.or(self.special);
            }
        }
        Ok(())
    }

    fn part(self, cursor: &Cursor<'_>, span: Span, chars: u64) -> Part {
        match self.special {
            Some(part) => Part { span, ..part },
            None if !self.text.is_string() => Value::passed(span, chars).other_part(),
            None if self.is_thought => self.text.part(PartKind::Thinking, span),
            None => self.text.text_part(cursor, span),
        }
    }
}

/// The part that a key other than `text` makes, if it makes one. A value that is no object makes none.
fn read_special<'a>(key: &str, cursor: &mut Cursor<'a>, nested: PassParts<'_, 'a>) -> Result<Option<Part>, JsonError> {
    let part = match key {
        _ if cursor.kind()? != Kind::Object => return cursor.skip().map(|_| None),
        "functionCall" | "function_call" => read_function(cursor, PartKind::ToolCall, nested),
        "functionResponse" | "function_response" => read_function(cursor, PartKind::ToolResult, nested),
        "inlineData" | "inline_data" | "fileData" | "file_data" => read_media(cursor),
        "executableCode" | "executable_code" | "toolCall" | "tool_call" => {
            read_server(cursor, PartKind::ServerToolCall)
        }
        "codeExecutionResult" | "code_execution_result" | "toolResponse" | "tool_response" => {
            read_server(cursor, PartKind::ServerToolResult)
        }
        _ => return cursor.skip().map(|_| None),
    };
    part.map(Some)
}

/// A `functionCall` or `functionResponse`.
fn read_function<'a>(cursor: &mut Cursor<'a>, kind: PartKind, nested: PassParts<'_, 'a>) -> Result<Part, JsonError> {
    let payload = if kind == PartKind::ToolCall { "args" } else { "response" };
    let (mut id, mut name, mut value, mut is_error) = (Value::default(), Value::default(), Value::default(), false);
    cursor.object(|key, cursor| match key {
        "name" => Value::read(cursor).map(|read| name = read),
        "id" => Value::read(cursor).map(|read| id = read),
        "parts" if cursor.kind()? == Kind::Array => nested(cursor),
        key if key == payload => read_payload(cursor).map(|read| (value, is_error) = read),
        _ => cursor.skip().map(drop),
    })?;
    let is_error = is_error && kind == PartKind::ToolResult;
    Ok(Part { id: id.inner(), is_error, ..value.call_part(name, kind, Span::default()) })
}

/// The arguments or the response, and whether they hold the key of a failure.
fn read_payload(cursor: &mut Cursor<'_>) -> Result<(Value, bool), JsonError> {
    if cursor.kind()? != Kind::Object {
        return Value::read(cursor).map(|value| (value, false));
    }
    let (start, before) = (cursor.offset(), cursor.compact_chars());
    let mut is_error = false;
    cursor.object(|key, cursor| {
        is_error |= key == "error";
        cursor.skip().map(drop)
    })?;
    Ok((Value::passed(cursor.span_from(start), cursor.compact_chars() - before), is_error))
}

/// An `inlineData` or `fileData`.
fn read_media(cursor: &mut Cursor<'_>) -> Result<Part, JsonError> {
    let (mut text, mut mime) = (Span::default(), Span::default());
    cursor.object(|key, cursor| match key {
        "data" | "fileUri" | "file_uri" => cursor.skip().map(|span| text = span),
        "mimeType" | "mime_type" => Value::read(cursor).map(|read| mime = read.inner()),
        _ => cursor.skip().map(drop),
    })?;
    let kind = media_kind(cursor.raw(mime));
    Ok(Part { text, name: mime, ..Part::new(PartKind::Media(kind), Span::default()) })
}

fn media_kind(mime: &str) -> MediaKind {
    match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio" | "video") => MediaKind::Audio,
        _ => MediaKind::Document,
    }
}

/// A call or result of a tool that Google runs.
fn read_server(cursor: &mut Cursor<'_>, kind: PartKind) -> Result<Part, JsonError> {
    let (start, before) = (cursor.offset(), cursor.compact_chars());
    let mut id = Value::default();
    cursor.object(|key, cursor| match key {
        "id" => Value::read(cursor).map(|read| id = read),
        _ => cursor.skip().map(drop),
    })?;
    let value = Value::passed(cursor.span_from(start), cursor.compact_chars() - before);
    Ok(Part { id: id.inner(), ..value.part(kind, Span::default()) })
}
