//! What is in a Responses item.
//!
//! A message has a part per element of its content; any other item is one part, followed by what a result or a
//! provider's tool holds. The seeds' estimate of an item without `content` is that of its payload: what was asked
//! (`arguments`, `input`, `action`, `operation`, `code`, `queries`) and what was answered (`output`, `results`,
//! `outputs`, `tools`), or its `summary`; a string counts its own characters, anything else its compact JSON. An item
//! of an unknown type counts whole, encrypted content not at all.

use crate::json::{Cursor, JsonError, Kind, Span};
use crate::wire::field::{Value, saturate};
use crate::wire::openai::{Content, RoleField, in_slot, put_result_first};
use crate::wire::{MediaKind, Part, PartKind, Role, Shape};
use std::borrow::Cow;

pub(super) fn shape(cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
    cursor.expect(Kind::Object)?;
    let (start, before) = (cursor.offset(), cursor.compact_chars());
    let mut fields = Fields::default();
    cursor.object(|key, cursor| fields.member(key, cursor))?;
    let whole = Value::passed(cursor.span_from(start), cursor.compact_chars() - before);
    fields.into_shape(start, whole)
}

/// The members of an item, as far as they matter.
#[derive(Default)]
struct Fields<'a> {
    kind: Option<Cow<'a, str>>,
    role: Option<RoleField>,
    id: Value,
    call_id: Value,
    approval_request_id: Value,
    name: Value,
    /// What the model asked for.
    asked: Value,
    /// What came of it, where that is no list of parts.
    answered: Value,
    has_failed: bool,
    content: Content,
    output: Content,
    summary: Content,
    parts: Vec<Part>,
    slots: Slots,
}

/// Where the values stand that parts were read from.
#[derive(Default)]
struct Slots {
    content: Span,
    output: Span,
    summary: Span,
}

impl<'a> Fields<'a> {
    fn member(&mut self, key: &str, cursor: &mut Cursor<'a>) -> Result<(), JsonError> {
        let Self { parts, slots, .. } = self;
        match key {
            "type" if cursor.kind()? != Kind::Null => self.kind = Some(cursor.text()?),
            "role" if cursor.kind()? != Kind::Null => self.role = Some(RoleField::read(cursor)?),
            "content" => self.content = in_slot(&mut slots.content, parts, cursor, Content::read)?,
            "output" => self.output = in_slot(&mut slots.output, parts, cursor, read_output)?,
            "summary" => self.summary = in_slot(&mut slots.summary, parts, cursor, Content::read)?,
            "id" => self.id = Value::read(cursor)?,
            "call_id" => self.call_id = Value::read(cursor)?,
            "approval_request_id" => self.approval_request_id = Value::read(cursor)?,
            "name" => self.name = Value::read(cursor)?,
            "status" if cursor.kind()? == Kind::String => self.has_failed = cursor.text()? == "failed",
            "arguments" | "input" | "action" | "actions" | "operation" | "code" | "queries" => {
                keep_some(&mut self.asked, Value::read(cursor)?);
            }
            "result" | "results" | "outputs" | "tools" | "error" | "reason" => {
                keep_some(&mut self.answered, Value::read(cursor)?);
            }
            _ => drop(cursor.skip()?),
        }
        Ok(())
    }

    fn into_shape(mut self, start: usize, whole: Value) -> Result<Shape, JsonError> {
        let kind = ItemKind::of(self.kind.as_deref(), self.call_id.is_some());
        let role = self.role_as(kind, start)?;
        let estimate_chars = self.estimate(kind, whole);
        match kind {
            ItemKind::Message => self.finish_message()?,
            ItemKind::Call => self.finish_call(whole.span),
            ItemKind::Output => self.finish_output(whole.span),
            ItemKind::ServerCall => self.finish_server_call(whole.span, PartKind::ServerToolResult),
            ItemKind::ServerImage => self.finish_server_call(whole.span, PartKind::Media(MediaKind::Image)),
            ItemKind::Reasoning => self.finish_reasoning(whole.span),
            ItemKind::Compaction => self.finish_as(Part::new(PartKind::Compaction, whole.span)),
            ItemKind::Reference => self.finish_as(Part::new(PartKind::Reference, whole.span)),
            ItemKind::Tools | ItemKind::Other => self.finish_as(whole.other_part()),
        }
        Ok(Shape { role, parts: self.parts.into(), estimate_chars, cache_marks: self.content.cache_marks })
    }

    fn role_as(&self, kind: ItemKind, start: usize) -> Result<Role, JsonError> {
        match (kind.role(), &self.role) {
            (Some(role), _) => Ok(role),
            (None, Some(field)) => match field.named.filter(|role| *role != Role::Tool) {
                Some(role) => Ok(role),
                None if kind == ItemKind::Other => Ok(Role::Developer),
                None => Err(field.refused("system, developer, user, assistant")),
            },
            (None, None) if kind == ItemKind::Other => Ok(self.role_of_unknown()),
            (None, None) => Err(JsonError::shape("expected an item with a `type` or a `role`", start)),
        }
    }

    /// A call can only be the model's; anything else that is new is taken for the application's.
    fn role_of_unknown(&self) -> Role {
        let is_call = self.kind.as_deref().is_some_and(|name| name.ends_with("_call"));
        if is_call { Role::Assistant } else { Role::Developer }
    }

    fn estimate(&self, kind: ItemKind, whole: Value) -> u64 {
        let answered = u64::from(self.answered.chars) + self.output.chars;
        match kind {
            ItemKind::Message => self.content.chars,
            ItemKind::Call | ItemKind::ServerImage => u64::from(self.asked.chars),
            ItemKind::Output => answered,
            ItemKind::ServerCall => u64::from(self.asked.chars) + answered,
            ItemKind::Reasoning if self.content.kind.is_some() => self.content.chars,
            ItemKind::Reasoning => self.summary.chars,
            ItemKind::Compaction | ItemKind::Reference => 0,
            ItemKind::Tools | ItemKind::Other => u64::from(whole.chars),
        }
    }

    fn finish_message(&mut self) -> Result<(), JsonError> {
        if let Some(fault) = self.content.fault.take() {
            return Err(fault.inside_key("content"));
        }
        self.keep_parts_of(self.slots.content);
        let own_id = self.id.inner();
        self.parts.iter_mut().for_each(|part| part.own_id = own_id);
        Ok(())
    }

    fn finish_call(&mut self, whole: Span) {
        let id = match self.kind.as_deref() {
            Some("mcp_approval_request") => self.id.inner(),
            _ => self.call_id.inner(),
        };
        self.finish_as(Part { id, ..self.asked.call_part(self.name, PartKind::ToolCall, whole) });
    }

    /// The text of a result is what an edit may replace with a string, so it is empty where the API takes none: a
    /// screenshot, the tools that a search found.
    fn finish_output(&mut self, whole: Span) {
        self.keep_parts_of(self.slots.output);
        if self.answered.is_some() && !self.answered.is_string() {
            self.parts.push(self.answered.other_part());
        }
        let (id, own_id, is_error) = (self.id_of_output(), self.id.inner(), self.has_failed);
        let result = Part { id, own_id, is_error, ..Part::new(PartKind::ToolResult, whole) };
        put_result_first(&mut self.parts, &self.output, result);
        let result = &mut self.parts[0];
        if !matches!(self.output.kind, Some(Kind::String | Kind::Array)) {
            result.text = Span::default();
        }
        if self.answered.is_string() && result.text.is_empty() {
            result.text = self.answered.span;
            result.chars = self.answered.chars;
        }
    }

    fn id_of_output(&self) -> Span {
        match self.kind.as_deref() {
            Some("mcp_approval_response") => self.approval_request_id.inner(),
            // Its `id` is documented as that of the call.
            Some("local_shell_call_output") if !self.call_id.is_some() => self.id.inner(),
            _ => self.call_id.inner(),
        }
    }

    fn finish_server_call(&mut self, whole: Span, answer: PartKind) {
        self.finish_as(self.asked.call_part(self.name, PartKind::ServerToolCall, whole));
        if self.answered.is_some() {
            self.parts.push(answer_part(answer, self.answered.span, u64::from(self.answered.chars)));
        }
        if self.output.kind.is_some() {
            self.parts.push(answer_part(answer, self.output.span, self.output.chars));
        }
    }

    /// One part, however many texts it has: they are signed together. With a single text the part's `text` is that
    /// text, otherwise the list that holds them.
    fn finish_reasoning(&mut self, whole: Span) {
        let mut texts = self.parts.iter().filter(|part| part.kind == PartKind::Text && part.chars > 0);
        let mut thinking = Part::new(PartKind::Thinking, whole);
        thinking.text = match (texts.next(), texts.next()) {
            (None, _) => Span::default(),
            (Some(only), None) => only.text,
            _ if self.content.chars > self.summary.chars => self.content.span,
            _ => self.summary.span,
        };
        thinking.chars = saturate(self.parts.iter().map(|part| u64::from(part.chars)).sum());
        self.finish_as(thinking);
    }

    fn finish_as(&mut self, mut part: Part) {
        part.own_id = self.id.inner();
        self.parts.clear();
        self.parts.push(part);
    }

    /// Members that mean nothing in this item leave no parts.
    fn keep_parts_of(&mut self, slot: Span) {
        self.parts.retain(|part| slot.start <= part.span.start && part.span.end <= slot.end);
    }
}

fn keep_some(field: &mut Value, value: Value) {
    if value.is_some() {
        *field = value;
    }
}

/// A screenshot is an object where other outputs are a string or a list of parts.
fn read_output(cursor: &mut Cursor<'_>, parts: &mut Vec<Part>) -> Result<Content, JsonError> {
    match cursor.kind()? {
        Kind::Object => Content::read_single(cursor, parts),
        _ => Content::read(cursor, parts),
    }
}

/// What came of a provider's tool. A picture is no text.
fn answer_part(kind: PartKind, span: Span, chars: u64) -> Part {
    let chars = if kind == PartKind::ServerToolResult { saturate(chars) } else { 0 };
    Part { text: span, chars, ..Part::new(kind, span) }
}

/// The kinds of items that differ for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ItemKind {
    /// A message with a role.
    Message,
    /// The model asks the client for something and waits for an item that answers.
    Call,
    /// The client's answer.
    Output,
    /// The model used a tool of the provider; whatever came of it stands in the same item.
    ServerCall,
    /// The same, and what came of it is a picture.
    ServerImage,
    /// What the model thought.
    Reasoning,
    /// The provider's compaction of what came before.
    Compaction,
    /// An item that only the provider has.
    Reference,
    /// Tools that the application offers inside the history.
    Tools,
    /// Anything else.
    Other,
}

impl ItemKind {
    /// Reads a `type`; an item without one is a message. New types of calls and outputs are known by their ending,
    /// but only with a `call_id`: a call that has none leaves nothing that an output could name.
    fn of(name: Option<&str>, has_call_id: bool) -> Self {
        match name {
            None | Some("message") => Self::Message,
            Some("reasoning") => Self::Reasoning,
            Some("compaction" | "compaction_summary") => Self::Compaction,
            Some("item_reference") => Self::Reference,
            Some("additional_tools") => Self::Tools,
            Some("image_generation_call") => Self::ServerImage,
            Some("web_search_call" | "file_search_call" | "code_interpreter_call" | "mcp_call" | "mcp_list_tools") => {
                Self::ServerCall
            }
            // The provider's own tool search has a null `call_id` and still an output item.
            Some("tool_search_call" | "function_call" | "custom_tool_call" | "mcp_approval_request") => Self::Call,
            Some(
                "tool_search_output"
                | "function_call_output"
                | "custom_tool_call_output"
                | "local_shell_call_output"
                | "mcp_approval_response",
            ) => Self::Output,
            Some(name) if has_call_id && (name.ends_with("_call") || name == "program") => Self::Call,
            Some(name) if has_call_id && name.ends_with("_output") => Self::Output,
            Some(_) => Self::Other,
        }
    }

    /// Who speaks in an item of this kind, whatever role it names.
    fn role(self) -> Option<Role> {
        match self {
            Self::Message | Self::Other => None,
            Self::Output => Some(Role::Tool),
            Self::Tools => Some(Role::Developer),
            Self::Call
            | Self::ServerCall
            | Self::ServerImage
            | Self::Reasoning
            | Self::Compaction
            | Self::Reference => Some(Role::Assistant),
        }
    }
}
