//! The smallest change that makes a Gemini history legal.
//!
//! What may go for its own sake goes first, then calls and responses without a partner; at last, when it is settled
//! which contents are neighbours, ours go between those that may not meet.

use super::check::{check, is_call_out_of_place};
use super::{pairing, write};
use crate::wire::draft::{Change, Draft, Spot};
use crate::wire::{Fix, Format, History, Role};

/// What our own content says where one has to stand.
const BRIDGE: &str = "[Conversation continues]";

/// The fixes, none for a legal history.
pub(super) fn repair(history: &History<'_>) -> Vec<Fix> {
    if check(history).is_empty() {
        return Vec::new();
    }
    let mut draft = Draft::of(Format::Gemini, &history.messages);
    draft.pass("a content has parts", |spot| {
        if spot.message.shape().parts.is_empty() { Change::Remove } else { Change::Keep }
    });
    draft.pass("the model calls and the user responds", |spot| {
        Change::drop_parts_and_lone_thinking(spot.message, pairing::strays(spot.message))
    });
    draft.pass("a call turn is answered by as many responses", unpaired);
    draft.pass("the first turn and the turn before a call turn are the user's", |spot| {
        if needs_user_before(spot) { Change::Precede(write::message(Role::User, BRIDGE)) } else { Change::Keep }
    });
    if draft.messages().is_empty() {
        draft.append(&write::message(Role::User, BRIDGE), "a history has a content");
    }
    draft.fixes()
}

fn unpaired(spot: Spot<'_>) -> Change {
    let (mut parts, _) = pairing::without_partner(spot.message, spot.next);
    match spot.previous.filter(|previous| !pairing::calls(previous).is_empty()) {
        Some(call_turn) => parts.extend(pairing::without_partner(call_turn, Some(spot.message)).1),
        None => parts.extend(pairing::responses(spot.message)),
    }
    Change::drop_parts_and_lone_thinking(spot.message, parts)
}

fn needs_user_before(spot: Spot<'_>) -> bool {
    match spot.previous {
        None => spot.message.shape().is_from_model(),
        previous => is_call_out_of_place(previous, spot.message),
    }
}
