//! Which contents are call turns, and which responses belong to them.

use crate::wire::{Message, Part, PartKind, Role};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The calls that the model makes in this content, as indices of parts. A content with calls is a call turn.
pub(super) fn calls(message: &Message) -> Vec<usize> {
    parts_of(message, Role::Assistant, PartKind::ToolCall)
}

/// The responses that this content gives, as indices of parts. A content with responses is a response turn.
pub(super) fn responses(message: &Message) -> Vec<usize> {
    parts_of(message, Role::User, PartKind::ToolResult)
}

/// The calls of a user and the responses of a model, which stand in no turn at all, as indices of parts.
pub(super) fn strays(message: &Message) -> Vec<usize> {
    let mut strays = parts_of(message, Role::User, PartKind::ToolCall);
    strays.extend(parts_of(message, Role::Assistant, PartKind::ToolResult));
    strays
}

fn parts_of(message: &Message, role: Role, kind: PartKind) -> Vec<usize> {
    let is_wanted = |part: &Part| part.kind == kind && !part.nested && message.shape().role == role;
    message.shape().parts.iter().enumerate().filter(|(_, part)| is_wanted(part)).map(|(at, _)| at).collect()
}

/// The parts that keep a call turn from having as many responses as calls: calls of the first content, responses of
/// the second. Each call takes the next response of its own name, in order; what is left over has no partner.
pub(super) fn without_partner(call_turn: &Message, next: Option<&Message>) -> (Vec<usize>, Vec<usize>) {
    let mut calls = calls(call_turn);
    let Some(next) = next else {
        return (calls, Vec::new());
    };
    let responses = responses(next);
    if calls.len() == responses.len() {
        return (Vec::new(), Vec::new());
    }
    let mut waiting: HashMap<Cow<'_, str>, VecDeque<usize>> = HashMap::new();
    for at in responses {
        waiting.entry(next.name_of(&next.shape().parts[at])).or_default().push_back(at);
    }
    calls.retain(|at| {
        let name = call_turn.name_of(&call_turn.shape().parts[*at]);
        waiting.get_mut(&name).and_then(VecDeque::pop_front).is_none()
    });
    let mut left: Vec<usize> = waiting.into_values().flatten().collect();
    left.sort_unstable();
    (calls, left)
}
