//! Which call is answered by which output, and which reasoning by which item.

use crate::wire::{Message, Part, PartKind};
use std::borrow::Cow;
use std::collections::HashMap;

/// What is left over once every output has answered the latest open call of its id. Ids come again in real histories, and
/// a call that was aborted long ago is not answered by an output that stands right behind another one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Unpaired {
    /// Calls that nothing answers, in order.
    pub(super) calls: Vec<usize>,
    /// Outputs that answer nothing, in order.
    pub(super) outputs: Vec<usize>,
}

impl Unpaired {
    /// Goes through the history once. O(its items).
    pub(super) fn of(messages: &[&Message]) -> Self {
        let mut open = HashMap::<Cow<'_, str>, Vec<usize>>::new();
        let mut outputs = Vec::new();
        for (index, message) in messages.iter().enumerate() {
            let Some(part) = message.shape().parts.first() else {
                continue;
            };
            match part.kind {
                PartKind::ToolCall => open.entry(message.id_of(part)).or_default().push(index),
                PartKind::ToolResult => {
                    let id = message.id_of(part);
                    let call = open.get_mut(&id).and_then(Vec::pop);
                    outputs.extend((call.is_none() && !id.is_empty()).then_some(index));
                }
                _ => {}
            }
        }
        // What has no id is run by the provider: nothing has to answer it, and it answers nothing of ours.
        open.remove("");
        let mut calls: Vec<_> = open.into_values().flatten().collect();
        calls.sort_unstable();
        Self { calls, outputs }
    }
}

/// The reasoning items with an id that no item of the model follows, in order. Items at which `is_gone` are as if they
/// were not there. Several reasoning items in a row share the item after them.
pub(super) fn reasoning_without_item(messages: &[&Message], is_gone: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut found = Vec::new();
    let mut item_follows = false;
    for (index, message) in messages.iter().enumerate().rev().filter(|(index, _)| !is_gone(*index)) {
        match reasoning(message) {
            Some(part) if !item_follows && !part.own_id.is_empty() => found.push(index),
            Some(_) => {}
            None => item_follows = message.shape().is_from_model(),
        }
    }
    found.reverse();
    found
}

/// The one part of a reasoning item.
pub(super) fn reasoning(message: &Message) -> Option<&Part> {
    message.shape().parts.first().filter(|part| part.kind == PartKind::Thinking)
}
