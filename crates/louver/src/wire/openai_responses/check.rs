//! What Responses refuses, in its own words.

use super::pairs::{Unpaired, reasoning_without_item};
use crate::json::text;
use crate::wire::field::members_of;
use crate::wire::{History, Message, Violation};
use std::borrow::Cow;

pub(super) fn check(history: &History<'_>) -> Vec<Violation> {
    let messages = &history.messages;
    let unpaired = Unpaired::of(messages);
    let calls = unpaired.calls.iter().map(|index| call_without_output(messages[*index], *index));
    let outputs = unpaired.outputs.iter().map(|index| output_without_call(messages[*index], *index));
    let alone = reasoning_without_item(messages, |_| false);
    let reasoning = alone.iter().map(|index| reasoning_alone(messages[*index], *index));
    let mut violations: Vec<_> = calls.chain(outputs).chain(reasoning).collect();
    violations.sort_by_key(|violation| violation.index);
    violations
}

fn call_without_output(message: &Message, index: usize) -> Violation {
    let wording = format!("No tool output found for {} {}.", spoken_type(message), pairing_id(message));
    violation("call-without-output", index, wording)
}

fn output_without_call(message: &Message, index: usize) -> Violation {
    let (kind, id) = (spoken_type(message), pairing_id(message));
    violation("output-without-call", index, format!("No tool call found for {kind} with call_id {id}."))
}

fn reasoning_alone(message: &Message, index: usize) -> Violation {
    let id = message.shape().parts.first().map(|part| message.own_id_of(part)).unwrap_or_default();
    let wording = format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
    violation("reasoning-without-item", index, wording)
}

fn violation(rule: &'static str, index: usize, message: String) -> Violation {
    Violation { rule, index, place: String::new(), message }
}

fn pairing_id(message: &Message) -> Cow<'_, str> {
    message.shape().parts.first().map(|part| message.id_of(part)).unwrap_or_default()
}

/// An item's type as the API's sentences have it: `function call output`.
fn spoken_type(message: &Message) -> String {
    let kind =
        members_of(message.raw(), "type").last().map(|member| member.value.of(message.raw())).unwrap_or_default();
    text::decode(kind.trim_matches('"')).replace('_', " ")
}
