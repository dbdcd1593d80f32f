//! What is in an Anthropic message.

use crate::json::{Cursor, JsonError, Kind, Span};
use crate::wire::field::{self, Value};
use crate::wire::{MediaKind, Part, PartKind, Role, Shape};
use std::borrow::Cow;

/// Passes one message.
const ROLES: [(&str, Role); 3] = [("user", Role::User), ("assistant", Role::Assistant), ("system", Role::System)];

pub(super) fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
    let start = cursor.offset();
    let mut role = None;
    let mut content = Content::default();
    cursor.object(|key, cursor| match key {
        "role" => field::role(cursor, &ROLES, "expected user, assistant or system").map(|read| role = Some(read)),
        "content" => Content::read(cursor).map(|read| content = read),
        _ => cursor.skip().map(drop),
    })?;
    let role = role.ok_or_else(|| JsonError::shape("the message has no `role`", start))?;
    let Content { parts, estimate_chars, cache_marks } = content;
    Ok(Shape { role, parts: parts.into(), estimate_chars, cache_marks })
}

/// What the `content` of a message adds to its shape.
#[derive(Default)]
struct Content {
    parts: Vec<Part>,
    estimate_chars: u64,
    cache_marks: u32,
}

impl Content {
    fn read(cursor: &mut Cursor<'_>) -> Result<Self, JsonError> {
        let mut content = Self::default();
        let before = cursor.compact_chars();
        match cursor.kind()? {
            Kind::Null => return cursor.skip().map(|_| content),
            Kind::String => {
                let text = Value::read(cursor)?;
                content.parts.push(text.text_part(cursor, text.span));
                return Ok(Self { estimate_chars: text.chars.into(), ..content });
            }
            Kind::Array => cursor.array(|_, cursor| content.read_block(cursor))?,
            Kind::Object => content.parts.push(Value::read(cursor)?.other_part()),
            Kind::Bool | Kind::Number => return Err(cursor.unexpected("a string or an array of blocks")),
        }
        content.estimate_chars = cursor.compact_chars() - before;
        Ok(content)
    }

    /// A block of the message, with the blocks that it holds behind it.
    fn read_block(&mut self, cursor: &mut Cursor<'_>) -> Result<(), JsonError> {
        let at = self.parts.len();
        self.parts.push(Part::new(PartKind::Other, Span::default()));
        let mut nested_marks = 0;
        let mut misfit = None;
        let (block, span) = Block::read(cursor, |cursor| {
            self.parts.truncate(at + 1);
            nested_marks = 0;
            misfit = None;
            cursor.array(|index, cursor| {
                if cursor.kind()? != Kind::Object {
                    let error = cursor.unexpected("an object").inside_index(index).inside_key("content");
                    misfit.get_or_insert(error);
                    return cursor.skip().map(drop);
                }
                let (block, span) = Block::read(cursor, |cursor| cursor.skip().map(drop))?;
                nested_marks += u32::from(block.has_cache_mark);
                self.parts.push(Part { nested: true, ..block.part(cursor, span) });
                Ok(())
            })
        })?;
        let part = block.part(cursor, span);
        self.cache_marks += u32::from(block.has_cache_mark);
        if !matches!(part.kind, PartKind::ToolResult | PartKind::ServerToolResult) {
            self.parts.truncate(at + 1);
        } else if let Some(error) = misfit {
            return Err(error);
        } else {
            self.cache_marks += nested_marks;
        }
        self.parts[at] = part;
        Ok(())
    }
}

/// The fields of a block, collected before its `type` says what they mean: keys come in any order.
#[derive(Default)]
struct Block<'a> {
    kind: Cow<'a, str>,
    text: Value,
    thinking: Value,
    id: Value,
    tool_use_id: Value,
    name: Value,
    input: Value,
    content: Value,
    /// The strings of a content array are counted at the parts it holds.
    holds_blocks: bool,
    source: Source<'a>,
    is_error: bool,
    is_encrypted: bool,
    has_cache_mark: bool,
    /// Characters of the whole block, but for those that are signed or encrypted.
    chars: u64,
}

impl<'a> Block<'a> {
    /// Passes a block. `blocks` passes the array in its `content`, where it has one.
    fn read(
        cursor: &mut Cursor<'a>,
        mut blocks: impl FnMut(&mut Cursor<'a>) -> Result<(), JsonError>,
    ) -> Result<(Self, Span), JsonError> {
        cursor.expect(Kind::Object)?;
        let (start, before) = (cursor.offset(), cursor.compact_chars());
        let mut block = Self::default();
        let mut hidden = 0;
        cursor.object(|key, cursor| {
            match key {
                "type" => block.kind = field::word(cursor)?,
                "text" => block.text = Value::read(cursor)?,
                "thinking" => block.thinking = Value::read(cursor)?,
                "id" => block.id = Value::read(cursor)?,
                "tool_use_id" => block.tool_use_id = Value::read(cursor)?,
                "name" => block.name = Value::read(cursor)?,
                "input" => block.input = Value::read(cursor)?,
                "content" => hidden += block.read_content(cursor, &mut blocks)?,
                "source" => block.source = Source::read(cursor)?,
                "is_error" => block.is_error = field::is_true(cursor)?,
                "cache_control" => block.has_cache_mark = Value::read(cursor)?.is_some(),
                key if is_hidden(key) => {
                    block.is_encrypted |= key == "encrypted_content" && cursor.kind()? != Kind::Null;
                    hidden += field::compact_chars(cursor)?;
                }
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        block.chars = cursor.compact_chars() - before - hidden;
        Ok((block, cursor.span_from(start)))
    }

    /// Passes the `content` and returns how many of its characters nobody reads.
    fn read_content(
        &mut self,
        cursor: &mut Cursor<'a>,
        blocks: &mut impl FnMut(&mut Cursor<'a>) -> Result<(), JsonError>,
    ) -> Result<u64, JsonError> {
        let kind = cursor.kind()?;
        self.holds_blocks = kind == Kind::Array;
        if !matches!(kind, Kind::Array | Kind::Object) {
            self.content = Value::read(cursor)?;
            return Ok(0);
        }
        let (start, before) = (cursor.offset(), cursor.compact_chars());
        let hidden = if self.holds_blocks { blocks(cursor).map(|()| 0)? } else { pass_counting_hidden(cursor)? };
        self.content = Value::passed(cursor.span_from(start), cursor.compact_chars() - before - hidden);
        Ok(hidden)
    }

    /// What the block is, now that its type is known.
    fn part(&self, cursor: &Cursor<'_>, span: Span) -> Part {
        match self.kind.as_ref() {
            "text" => self.text.text_part(cursor, span),
            "tool_use" => self.call(PartKind::ToolCall, span),
            "server_tool_use" | "mcp_tool_use" => self.call(PartKind::ServerToolCall, span),
            "tool_result" => self.result(PartKind::ToolResult, span),
            "thinking" => self.thinking.part(PartKind::Thinking, span),
            "redacted_thinking" => Part::new(PartKind::Thinking, span),
            "image" => self.media(MediaKind::Image, span),
            "document" => self.document(span),
            "compaction" => self.compaction(span),
            "container_upload" => Part::new(PartKind::Reference, span),
            kind if kind.ends_with("_tool_result") => self.result(PartKind::ServerToolResult, span),
            _ => Value::passed(span, self.chars).other_part(),
        }
    }

    fn call(&self, kind: PartKind, span: Span) -> Part {
        Part { id: self.id.inner(), ..self.input.call_part(self.name, kind, span) }
    }

    fn result(&self, kind: PartKind, span: Span) -> Part {
        let part = self.content.part(kind, span);
        let chars = if self.holds_blocks { 0 } else { part.chars };
        Part { id: self.tool_use_id.inner(), is_error: self.is_error, chars, ..part }
    }

    /// A compaction without content is one that failed: it stands for nothing, and nobody reads it.
    fn compaction(&self, span: Span) -> Part {
        let is_some = self.is_encrypted || self.content.is_some();
        self.content.part(if is_some { PartKind::Compaction } else { PartKind::Other }, span)
    }

    fn media(&self, kind: MediaKind, span: Span) -> Part {
        let name = self.source.media_type.inner();
        Part { text: self.source.data.span, name, ..Part::new(PartKind::Media(kind), span) }
    }

    /// A document whose source is plain text or blocks is read like text, so its characters count.
    fn document(&self, span: Span) -> Part {
        match self.source.kind.as_ref() {
            "text" | "content" => self.source.data.part(PartKind::Other, span),
            _ => self.media(MediaKind::Document, span),
        }
    }
}

/// Where the data of a media block is.
#[derive(Default)]
struct Source<'a> {
    kind: Cow<'a, str>,
    media_type: Value,
    data: Value,
}

impl<'a> Source<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, JsonError> {
        let mut source = Self::default();
        if cursor.kind()? != Kind::Object {
            cursor.skip()?;
            return Ok(source);
        }
        cursor.object(|key, cursor| match key {
            "type" => field::word(cursor).map(|word| source.kind = word),
            "media_type" => Value::read(cursor).map(|read| source.media_type = read),
            "data" | "url" | "file_id" | "content" => Value::read(cursor).map(|read| source.data = read),
            _ => cursor.skip().map(drop),
        })?;
        Ok(source)
    }
}

/// Passes an object or an array and counts the characters in it that are signed, encrypted or media.
fn pass_counting_hidden(cursor: &mut Cursor<'_>) -> Result<u64, JsonError> {
    let mut hidden = 0;
    match cursor.kind()? {
        Kind::Object => cursor.object(|key, cursor| {
            let is_media = key == "source" && cursor.kind()? == Kind::Object;
            hidden +=
                if is_media || is_hidden(key) { field::compact_chars(cursor)? } else { pass_counting_hidden(cursor)? };
            Ok(())
        })?,
        Kind::Array => cursor.array(|_, cursor| {
            hidden += pass_counting_hidden(cursor)?;
            Ok(())
        })?,
        _ => drop(cursor.skip()?),
    }
    Ok(hidden)
}

/// Whether only the provider reads what stands under this key.
fn is_hidden(key: &str) -> bool {
    key == "signature" || key.starts_with("encrypted_")
}
