//! Which contents are call turns, and which responses belong to them: those of the content directly behind, by count.

use crate::wire::pairing::{By, Pairing, Reach, calls_in, results_in};
use crate::wire::{Message, PartKind};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// Ids are optional, so nothing is paired by them.
pub(super) static PAIRING: Pairing = Pairing { by: By::Order, reach: Reach::Next, binds_instructions: false };

/// Whether the model calls in this content.
pub(super) fn is_call_turn(message: &Message) -> bool {
    message.shape().is_from_model() && message.shape().has(PartKind::ToolCall)
}

/// Whether the content behind this call turn does not answer each of its calls.
pub(super) fn has_wrong_count(message: &Message, next: Option<&Message>) -> bool {
    let calls = calls_in(message.shape()).count();
    calls > 0 && calls != next.map_or(0, |next| results_in(next.shape()).count())
}

/// The parts that keep a call turn from having as many responses as calls: calls of the first content, responses of
/// the second. Each call takes the next response of its own name, in order; what is left over has no partner.
pub(super) fn without_partner(call_turn: &Message, next: Option<&Message>) -> (Vec<usize>, Vec<usize>) {
    let mut calls: Vec<usize> = calls_in(call_turn.shape()).collect();
    let Some(next) = next.filter(|next| has_wrong_count(call_turn, Some(next))) else {
        return if next.is_none() { (calls, Vec::new()) } else { Default::default() };
    };
    let mut waiting: HashMap<Cow<'_, str>, VecDeque<usize>> = HashMap::new();
    for at in results_in(next.shape()) {
        waiting.entry(next.name_of(&next.shape().parts[at])).or_default().push_back(at);
    }
    calls.retain(|at| {
        let name = call_turn.name_of(&call_turn.shape().parts[*at]);
        waiting.get_mut(&name).and_then(VecDeque::pop_front).is_none()
    });
    (calls, waiting.into_values().flatten().collect())
}
