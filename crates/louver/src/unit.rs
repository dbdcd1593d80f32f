//! What must stay together.
//!
//! A unit is a run of messages that a wire format forbids to separate: a tool call with all its results, thinking with
//! its call, reasoning with its items. Every other message is a unit of its own. Policies see units, never single
//! messages, so none of them can orphan a tool result.

use crate::wire::{Format, Message, Part, PartKind, Role, Shape};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

/// A run of messages that stay or leave together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its messages, as indices into the log.
    pub range: Range<usize>,
    /// The first message of the unit that it belongs to although others stand between: the late answer to an old call.
    /// It stays as long as that unit stays.
    pub(crate) owner: Option<usize>,
}

impl Unit {
    pub(crate) fn single(index: usize) -> Self {
        Self { range: index..index + 1, owner: None }
    }

    /// How many messages it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Never: a unit has at least one message.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// The units of a whole history.
///
/// ```
/// use louver::unit::units_of;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[
///     {"role":"user","content":"List the files."},
///     {"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"ls","arguments":"{}"}}]},
///     {"role":"tool","tool_call_id":"a","content":"README.md"},
///     {"role":"assistant","content":"One file."}
/// ]"#, None)?;
/// let ranges: Vec<_> = units_of(body.format(), body.messages().iter().map(|m| &**m)).collect();
/// assert_eq!(ranges, [0..1, 1..3, 3..4]);
/// # Ok::<(), louver::json::JsonError>(())
/// ```
pub fn units_of<'a>(
    format: Format,
    messages: impl IntoIterator<Item = &'a Message>,
) -> impl Iterator<Item = Range<usize>> {
    let mut tracker = UnitTracker::new(format);
    let mut units: Vec<Range<usize>> = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        match tracker.place(index, message) {
            Place::Opens => units.push(index..index + 1),
            Place::Joins(earlier) => {
                let start = units.partition_point(|unit| unit.end <= earlier);
                units.truncate(start + 1);
                if let Some(unit) = units.last_mut() {
                    unit.end = index + 1;
                }
            }
        }
    }
    units.into_iter()
}

/// Where a new message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It starts a unit.
    Opens,
    /// It belongs to the unit of this earlier message, and so does everything between.
    Joins(usize),
}

/// Finds each message's unit as it arrives, in O(its parts).
#[derive(Clone, Debug)]
pub(crate) struct UnitTracker {
    format: Format,
    /// Calls without an answer: id to the messages that made them, oldest first.
    open: HashMap<Box<str>, Vec<usize>>,
    previous: Previous,
}

/// What the message before was.
#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    is_from_model: bool,
    /// The model's run so far holds something that what follows cannot be parted from.
    is_sticky: bool,
    is_compaction: bool,
    ends_in_thinking: bool,
}

impl UnitTracker {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, open: HashMap::new(), previous: Previous::default() }
    }

    pub(crate) fn place(&mut self, index: usize, message: &Message) -> Place {
        let shape = message.shape();
        let starts_run = shape.is_from_model() && (!self.previous.is_from_model || self.starts_anew(shape));
        if starts_run && self.format != Format::OpenAiResponses {
            // Only Responses lets an answer come after the model has spoken again.
            self.open.clear();
        }
        let answered = self.answer(message);
        let joins_previous = index > 0 && self.sticks(shape);
        self.note_calls(index, message);
        let is_sticky = (self.previous.is_sticky && !starts_run) || is_sticky(shape);
        let ends_in = |kind| shape.parts.last().is_some_and(|part| part.kind == kind);
        self.previous = Previous {
            is_from_model: shape.is_from_model(),
            is_sticky: shape.is_from_model() && is_sticky,
            is_compaction: ends_in(PartKind::Compaction),
            ends_in_thinking: ends_in(PartKind::Thinking),
        };
        match answered {
            Some(call) => Place::Joins(call),
            None if joins_previous => Place::Joins(index - 1),
            None => Place::Opens,
        }
    }

    /// Whether the message cannot be parted from the one before it.
    fn sticks(&self, shape: &Shape) -> bool {
        let continues_run = self.previous.is_sticky && shape.is_from_model() && !self.starts_anew(shape);
        // Anthropic takes a system entry only behind what it was said to. What follows it is not bound to it: a client
        // that puts one behind every message of the user would else have one unit, and nothing could ever leave.
        let follows_request = self.format == Format::Anthropic && shape.role == Role::System;
        continues_run || follows_request
    }

    /// Whether a compaction stands here, between what it replaces and what came after it. Only reasoning needs the item
    /// that follows it, whatever that is.
    fn starts_anew(&self, shape: &Shape) -> bool {
        let is_compaction = shape.parts.first().is_some_and(|part| part.kind == PartKind::Compaction);
        self.previous.is_compaction || (is_compaction && !self.previous.ends_in_thinking)
    }

    /// Takes the answered calls off the open ones and returns the message of the oldest.
    fn answer(&mut self, message: &Message) -> Option<usize> {
        let format = self.format;
        let results = message.shape().parts_of(PartKind::ToolResult);
        results.filter_map(|part| self.open.get_mut(&*key(format, message, part))?.pop()).min()
    }

    fn note_calls(&mut self, index: usize, message: &Message) {
        for part in message.shape().parts_of(PartKind::ToolCall) {
            let key = key(self.format, message, part).into();
            self.open.entry(key).or_default().push(index);
        }
    }
}

/// Gemini pairs by order, the others by id.
fn key<'m>(format: Format, message: &'m Message, part: &Part) -> Cow<'m, str> {
    if format == Format::Gemini { Cow::Borrowed("") } else { message.id_of(part) }
}

/// Whether what the model says next belongs to this.
fn is_sticky(shape: &Shape) -> bool {
    shape
        .parts
        .iter()
        .any(|part| matches!(part.kind, PartKind::Thinking | PartKind::ToolCall | PartKind::ServerToolCall))
}
