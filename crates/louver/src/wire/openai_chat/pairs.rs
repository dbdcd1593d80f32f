//! Which call is answered by which result.

use crate::wire::{Message, Part, PartKind, Role};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// What is left over once every result has answered a call of the assistant message that it follows.
#[derive(Debug, Default)]
pub(super) struct Unpaired<'a> {
    /// Assistant messages with calls that nothing answers, in order.
    pub(super) calls: Vec<Unanswered<'a>>,
    /// Messages whose result answers nothing, in order.
    pub(super) results: Vec<usize>,
}

/// The calls of one message that nothing answers.
#[derive(Debug)]
pub(super) struct Unanswered<'a> {
    pub(super) index: usize,
    /// In the order of the text.
    pub(super) parts: Vec<&'a Part>,
}

impl Unanswered<'_> {
    /// Whether this part is one of them.
    pub(super) fn contains(&self, part: &Part) -> bool {
        self.parts.binary_search_by_key(&part.span.start, |call| call.span.start).is_ok()
    }

    /// Their ids; the older `function_call` has only a name.
    pub(super) fn ids(&self, message: &Message) -> String {
        let labels = self.parts.iter().map(|part| match message.id_of(part) {
            id if id.is_empty() => message.name_of(part),
            id => id,
        });
        labels.collect::<Vec<_>>().join(", ")
    }
}

impl<'a> Unpaired<'a> {
    /// Goes through the history once. O(its parts).
    pub(super) fn of(messages: &[&'a Message]) -> Self {
        let mut unpaired = Self::default();
        let mut open = OpenCalls::default();
        for (index, message) in messages.iter().enumerate() {
            if message.shape().role == Role::Tool {
                if !open.answer(message) {
                    unpaired.results.push(index);
                }
                continue;
            }
            unpaired.calls.extend(open.close());
            open = OpenCalls::of(index, message);
        }
        unpaired.calls.extend(open.close());
        unpaired
    }
}

/// The calls of the latest message that was no result.
#[derive(Default)]
struct OpenCalls<'a> {
    index: usize,
    /// Those of one id in order: a model may well use an id twice.
    by_id: HashMap<Cow<'a, str>, VecDeque<&'a Part>>,
}

impl<'a> OpenCalls<'a> {
    fn of(index: usize, message: &'a Message) -> Self {
        let mut by_id = HashMap::<_, VecDeque<_>>::new();
        for part in message.shape().parts_of(PartKind::ToolCall) {
            by_id.entry(message.id_of(part)).or_default().push_back(part);
        }
        Self { index, by_id }
    }

    /// Whether the result found a call that nothing had answered yet.
    fn answer(&mut self, message: &'a Message) -> bool {
        let id = message.shape().parts.first().map(|part| message.id_of(part)).unwrap_or_default();
        self.by_id.get_mut(&id).and_then(VecDeque::pop_front).is_some()
    }

    fn close(self) -> Option<Unanswered<'a>> {
        let mut parts: Vec<_> = self.by_id.into_values().flatten().collect();
        parts.sort_by_key(|part| part.span.start);
        (!parts.is_empty()).then_some(Unanswered { index: self.index, parts })
    }
}
