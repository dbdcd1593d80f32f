//! Which calls are answered.
//!
//! Ids repeat in real histories, so they pair only neighbours: the calls of an assistant message with the results of
//! the message directly behind it, one result for each call. Neighbours of one role are not merged first, although the
//! API says that it merges them: its own errors speak of the next and the previous message, and a history that is
//! legal under the literal reading is legal under either.

use crate::wire::{Message, Part, PartKind, Role};
use std::borrow::Cow;
use std::collections::HashMap;

/// The calls of `message` that `next` does not answer, as indices of parts.
pub(super) fn unanswered_calls(message: &Message, next: Option<&Message>) -> Vec<usize> {
    let calls = parts_of(message, PartKind::ToolCall);
    if calls.is_empty() {
        return calls;
    }
    let results = match next {
        Some(next) if message.shape().role == Role::Assistant => ids_of_results(next),
        _ => HashMap::new(),
    };
    without_partner(message, calls, results)
}

/// The results of `message` that answer no call of `previous`, as indices of parts.
pub(super) fn orphan_results(previous: Option<&Message>, message: &Message) -> Vec<usize> {
    let results = parts_of(message, PartKind::ToolResult);
    if results.is_empty() {
        return results;
    }
    let calls = match previous {
        Some(previous) if message.shape().role == Role::User => ids_of_calls(previous),
        _ => HashMap::new(),
    };
    without_partner(message, results, calls)
}

/// The server tool calls whose result does not follow in the same message, as indices of parts.
pub(super) fn unanswered_server_calls(message: &Message) -> Vec<usize> {
    let parts = &message.shape().parts;
    let mut results: HashMap<Cow<'_, str>, u32> = HashMap::new();
    let mut unanswered = Vec::new();
    for (at, part) in parts.iter().enumerate().rev() {
        match part.kind {
            PartKind::ServerToolResult if !part.nested => *results.entry(message.id_of(part)).or_default() += 1,
            PartKind::ServerToolCall if !part.nested && !take(&mut results, &message.id_of(part)) => {
                unanswered.push(at);
            }
            _ => {}
        }
    }
    unanswered.reverse();
    unanswered
}

/// The parts of one kind that stand directly in the message, as indices.
fn parts_of(message: &Message, kind: PartKind) -> Vec<usize> {
    let is_wanted = |part: &Part| part.kind == kind && !part.nested;
    message.shape().parts.iter().enumerate().filter(|(_, part)| is_wanted(part)).map(|(at, _)| at).collect()
}

fn ids_of_calls(message: &Message) -> HashMap<Cow<'_, str>, u32> {
    if message.shape().role == Role::Assistant { ids(message, PartKind::ToolCall) } else { HashMap::new() }
}

fn ids_of_results(message: &Message) -> HashMap<Cow<'_, str>, u32> {
    if message.shape().role == Role::User { ids(message, PartKind::ToolResult) } else { HashMap::new() }
}

fn ids(message: &Message, kind: PartKind) -> HashMap<Cow<'_, str>, u32> {
    let mut ids = HashMap::new();
    for part in message.shape().parts_of(kind).filter(|part| !part.nested) {
        *ids.entry(message.id_of(part)).or_default() += 1;
    }
    ids
}

fn without_partner(message: &Message, parts: Vec<usize>, mut partners: HashMap<Cow<'_, str>, u32>) -> Vec<usize> {
    let mut alone = parts;
    alone.retain(|at| !take(&mut partners, &message.id_of(&message.shape().parts[*at])));
    alone
}

/// Uses one of the ids up; says whether there was one.
fn take(ids: &mut HashMap<Cow<'_, str>, u32>, id: &str) -> bool {
    match ids.get_mut(id) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}
