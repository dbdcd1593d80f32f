//! What is in a Chat Completions message.

use crate::json::{Cursor, JsonError, Kind, Span};
use crate::wire::field::Value;
use crate::wire::openai::{Content, RoleField, in_slot, put_result_first};
use crate::wire::{Part, PartKind, Role, Shape};

const ROLES: &str = "system, developer, user, assistant, tool, function";

pub(super) fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
    cursor.expect(Kind::Object)?;
    let start = cursor.offset();
    let mut fields = Fields::default();
    cursor.object(|key, cursor| fields.member(key, cursor))?;
    let whole = cursor.span_from(start);
    fields.into_shape(start, whole)
}

/// The members of a message, as far as they matter. Parts are in the order of the text.
#[derive(Default)]
struct Fields {
    role: Option<RoleField>,
    content: Content,
    name: Value,
    tool_call_id: Value,
    has_cache_mark: bool,
    parts: Vec<Part>,
    slots: Slots,
}

/// Where the values stand that parts were read from.
#[derive(Default)]
struct Slots {
    content: Span,
    tool_calls: Span,
    function_call: Span,
    reasoning: Span,
    refusal: Span,
    audio: Span,
}

impl Fields {
    fn member(&mut self, key: &str, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        let Self { parts, slots, .. } = self;
        match key {
            "role" => self.role = Some(RoleField::read(cursor)?),
            "content" => self.content = in_slot(&mut slots.content, parts, cursor, Content::read)?,
            "tool_calls" => in_slot(&mut slots.tool_calls, parts, cursor, read_calls)?,
            "function_call" => in_slot(&mut slots.function_call, parts, cursor, read_function_call)?,
            "reasoning_content" => in_slot(&mut slots.reasoning, parts, cursor, read_reasoning)?,
            "refusal" => in_slot(&mut slots.refusal, parts, cursor, read_refusal)?,
            "audio" => in_slot(&mut slots.audio, parts, cursor, read_audio)?,
            "tool_call_id" => self.tool_call_id = Value::read(cursor)?,
            "name" => self.name = Value::read(cursor)?,
            "cache_control" => self.has_cache_mark = Value::read(cursor)?.is_some(),
            _ => drop(cursor.skip()?),
        }
        Ok(())
    }

    fn into_shape(mut self, start: usize, whole: Span) -> Result<Shape, JsonError> {
        let role = match &self.role {
            Some(field) => field.named.ok_or_else(|| field.refused(ROLES))?,
            None => return Err(JsonError::shape("expected a message with a `role`", start)),
        };
        if let Some(fault) = self.content.fault.take() {
            return Err(fault.inside_key("content"));
        }
        if role != Role::Assistant {
            self.disarm_calls();
        }
        if role == Role::Tool {
            self.put_result_first(whole);
        }
        Ok(Shape {
            role,
            parts: self.parts.into(),
            estimate_chars: self.content.chars,
            cache_marks: self.content.cache_marks + u32::from(self.has_cache_mark),
        })
    }

    /// Only an assistant calls; under any other role the member is unknown, so nothing can answer it.
    fn disarm_calls(&mut self) {
        for part in self.parts.iter_mut().filter(|part| part.kind == PartKind::ToolCall) {
            part.kind = PartKind::Other;
        }
    }

    fn put_result_first(&mut self, whole: Span) {
        let span = if self.content.kind.is_some() { self.content.span } else { whole };
        let (id, name) = (self.tool_call_id.inner(), self.name.inner());
        let result = Part { id, name, ..Part::new(PartKind::ToolResult, span) };
        put_result_first(&mut self.parts, &self.content, result);
    }
}

fn read_calls(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    match cursor.kind()? {
        Kind::Null => cursor.skip().map(drop),
        Kind::Array => cursor.array(|_, cursor| read_call(cursor, parts)),
        _ => Err(cursor.unexpected("an array or null")),
    }
}

fn read_function_call(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    match cursor.kind()? {
        Kind::Null => cursor.skip().map(drop),
        Kind::Object => read_call(cursor, parts),
        _ => Err(cursor.unexpected("an object or null")),
    }
}

/// Passes a call: an element of `tool_calls`, or the older `function_call`, which has no id.
fn read_call(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    cursor.expect(Kind::Object)?;
    let start = cursor.offset();
    let (mut id, mut callee) = (Value::default(), Callee::default());
    cursor.object(|key, cursor| match key {
        "id" => Value::read(cursor).map(|read| id = read),
        "function" | "custom" if cursor.kind()? == Kind::Object => {
            cursor.object(|key, cursor| callee.member(key, cursor))
        }
        _ => callee.member(key, cursor),
    })?;
    let call = callee.input.call_part(callee.name, PartKind::ToolCall, cursor.span_from(start));
    parts.push(Part { id: id.inner(), ..call });
    Ok(())
}

/// What is called, and with what.
#[derive(Default)]
struct Callee {
    name: Value,
    input: Value,
}

impl Callee {
    fn member(&mut self, key: &str, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        match key {
            "name" => self.name = Value::read(cursor)?,
            "arguments" | "input" => self.input = Value::read(cursor)?,
            _ => drop(cursor.skip()?),
        }
        Ok(())
    }
}

/// Passes a member that is one part, if it is anything.
fn read_some(
    cursor: &mut Cursor<'_>,
    parts: &mut Vec<Part>,
    part: fn(Value, &Cursor<'_>) -> Part,
) -> Result<(), JsonError> {
    let value = Value::read(cursor)?;
    parts.extend(value.is_some().then(|| part(value, cursor)));
    Ok(())
}

fn read_reasoning(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    read_some(cursor, parts, |value, _| value.part(PartKind::Thinking, value.span))
}

fn read_refusal(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    read_some(cursor, parts, |value, cursor| value.text_part(cursor, value.span))
}

/// Sound that the model made earlier, named by an id.
fn read_audio(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<(), JsonError> {
    read_some(cursor, parts, |value, _| Part::new(PartKind::Reference, value.span))
}
