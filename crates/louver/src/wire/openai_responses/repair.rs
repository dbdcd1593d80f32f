//! The smallest change that makes a Responses history legal.
//!
//! Calls that nothing answers and outputs that answer nothing go, then the reasoning that is left without its item.
//! Neither step can unpair anything that was paired, so one round is enough.

use super::pairs::{Unpaired, reasoning_without_item};
use crate::wire::{Fix, History};

pub(super) fn repair(history: &History<'_>) -> Vec<Fix> {
    let messages = &history.messages;
    let unpaired = Unpaired::of(messages);
    let is_gone =
        |index: usize| unpaired.calls.binary_search(&index).is_ok() || unpaired.outputs.binary_search(&index).is_ok();
    let alone = reasoning_without_item(messages, is_gone);
    let calls = unpaired.calls.iter().map(|index| remove(*index, "no output answers this call"));
    let outputs = unpaired.outputs.iter().map(|index| remove(*index, "this output answers no call before it"));
    let reasoning = alone.iter().map(|index| remove(*index, "no item of the model follows this reasoning"));
    let mut fixes: Vec<_> = calls.chain(outputs).chain(reasoning).collect();
    fixes.sort_by_key(Fix::index);
    fixes
}

fn remove(index: usize, reason: &str) -> Fix {
    Fix::Remove { index, reason: reason.to_owned() }
}
