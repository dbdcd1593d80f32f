//! Which calls are answered: those of an assistant message by the results of the message directly behind it.
//!
//! Neighbours of one role are not merged first, although the API says that it merges them: its own errors speak of the
//! next and the previous message, and a history that is legal under the literal reading is legal under either.

use crate::wire::pairing::{By, Pairing, Reach};
use crate::wire::{Message, PartKind};
use std::borrow::Cow;
use std::collections::HashMap;

/// A system entry belongs to the message that it follows.
pub(super) static PAIRING: Pairing = Pairing { by: By::Id, reach: Reach::Next, binds_instructions: true };

/// The server tool calls whose result does not follow in the same message, as indices of parts.
pub(super) fn unanswered_server_calls(message: &Message) -> Vec<usize> {
    let mut results: HashMap<Cow<'_, str>, u32> = HashMap::new();
    let mut unanswered = Vec::new();
    for (at, part) in message.shape().parts.iter().enumerate().rev().filter(|(_, part)| !part.nested) {
        match part.kind {
            PartKind::ServerToolResult => *results.entry(message.id_of(part)).or_default() += 1,
            PartKind::ServerToolCall => match results.get_mut(&message.id_of(part)) {
                Some(count) if *count > 0 => *count -= 1,
                _ => unanswered.push(at),
            },
            _ => {}
        }
    }
    unanswered.reverse();
    unanswered
}
