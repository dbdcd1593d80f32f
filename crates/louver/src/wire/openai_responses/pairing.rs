//! Which call is answered by which output, and which reasoning by which item.

use crate::wire::pairing::{By, Pairing, Reach};
use crate::wire::{Message, PartKind};

/// A call that was aborted long ago is not answered by an output that stands right behind another one of its id.
pub(super) static PAIRING: Pairing = Pairing { by: By::Id, reach: Reach::Anywhere, binds_instructions: false };

/// The reasoning items with an id that no item of the model follows, in order. Several in a row share the item after
/// them.
pub(super) fn reasoning_without_item(messages: &[&Message]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut item_follows = false;
    for (index, message) in messages.iter().enumerate().rev() {
        match message.shape().parts.first().filter(|part| part.kind == PartKind::Thinking) {
            Some(part) if !item_follows && !part.own_id.is_empty() => found.push(index),
            Some(_) => {}
            None => item_follows = message.shape().is_from_model(),
        }
    }
    found.reverse();
    found
}
