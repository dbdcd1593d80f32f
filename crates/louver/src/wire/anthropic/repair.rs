//! The smallest change that makes an Anthropic history legal.
//!
//! Passes go from what stands alone to what depends on neighbours: a message that goes lets its neighbours meet, so
//! everything that may go for its own sake goes before calls look for their results.

use super::check::{MAX_CACHE_MARKS, check, first_late_result, is_empty, is_misplaced_system, may_stand_first};
use super::{pairing, write};
use crate::json::Span;
use crate::wire::draft::{Change, Draft, Spot};
use crate::wire::field::{members, members_of};
use crate::wire::{Fix, Format, History, Message, PartKind, Role, Splice};

/// What our own message says where one has to stand.
const BRIDGE: &str = "[Conversation continues]";

/// The fixes, none for a legal history.
pub(super) fn repair(history: &History<'_>) -> Vec<Fix> {
    if check(history).is_empty() {
        return Vec::new();
    }
    let mut draft = Draft::of(Format::Anthropic, &history.messages);
    drop_what_cannot_stand(&mut draft);
    settle_system_entries(&mut draft);
    draft.pass("a tool call and its result stand in neighbouring messages, one for one", unpaired);
    settle_system_entries(&mut draft);
    draft.pass("tool results come first", results_first);
    drop_oldest_cache_marks(&mut draft, history.outer_cache_marks);
    start_with_user(&mut draft);
    close_tool_turn(&mut draft, history);
    draft.fixes()
}

/// Empty messages, blank text, thinking that is not the assistant's, server calls that came to nothing.
fn drop_what_cannot_stand(draft: &mut Draft<'_>) {
    draft.pass("a message has content", |spot| if is_empty(spot.message) { Change::Remove } else { Change::Keep });
    draft.pass("text is not blank", |spot| {
        let parts = spot.message.shape().parts.iter().enumerate();
        Change::drop_parts(
            parts.filter(|(_, part)| part.kind == PartKind::Text && part.blank).map(|(at, _)| at).collect(),
        )
    });
    draft.pass("only the assistant thinks", |spot| {
        let parts = spot.message.shape().parts.iter().enumerate();
        let is_misplaced = !spot.message.shape().is_from_model();
        let thinking = parts.filter(|(_, part)| is_misplaced && part.kind == PartKind::Thinking && !part.nested);
        Change::drop_parts(thinking.map(|(at, _)| at).collect())
    });
    draft.pass("a server tool call has its result", |spot| {
        let calls = pairing::unanswered_server_calls(spot.message);
        Change::drop_parts_and_lone_thinking(spot.message, calls)
    });
}

/// In a run of system entries the last is judged once the others are settled, so this takes a second pass.
fn settle_system_entries(draft: &mut Draft<'_>) {
    let is_system = |message: &Message| message.shape().role == Role::System;
    let mut is_changed = true;
    while is_changed {
        let mut follows_call = false;
        is_changed = draft.pass("a system message follows the user and precedes the assistant", |spot| {
            if !is_system(spot.message) {
                follows_call = spot.message.shape().has(PartKind::ToolCall);
                return Change::Keep;
            }
            let is_decided = !spot.previous.is_some_and(is_system) || spot.next.is_some_and(is_system);
            let is_misplaced = is_misplaced_system(spot.previous, spot.message, spot.next);
            if is_decided && is_misplaced { settled(spot.message, follows_call) } else { Change::Keep }
        });
    }
}

/// A system entry of plain text can say the same as the user, unless it stands between a call and its result. A
/// compaction is never lost: it is the assistant's anyway.
fn settled(message: &Message, follows_call: bool) -> Change {
    let is_plain = message.shape().parts.iter().all(|part| part.kind == PartKind::Text);
    let role = match role_value(message.raw()) {
        Some(role) if message.shape().has(PartKind::Compaction) => (role, "\"assistant\""),
        Some(role) if is_plain && !follows_call => (role, "\"user\""),
        _ => return Change::Remove,
    };
    let mut splice = Splice::default();
    splice.replace(role.0, role.1.to_owned());
    Change::Replace(splice.apply(message.raw()))
}

fn unpaired(spot: Spot<'_>) -> Change {
    let mut parts = pairing::unanswered_calls(spot.message, spot.next);
    parts.extend(pairing::orphan_results(spot.previous, spot.message));
    Change::drop_parts_and_lone_thinking(spot.message, parts)
}

/// Results move to the front; everything keeps its order otherwise, and the text between blocks stays.
fn results_first(spot: Spot<'_>) -> Change {
    if first_late_result(spot.message).is_none() {
        return Change::Keep;
    }
    let blocks = || spot.message.shape().parts.iter().filter(|part| !part.nested);
    let results = blocks().filter(|part| part.kind == PartKind::ToolResult);
    let others = blocks().filter(|part| part.kind != PartKind::ToolResult);
    let mut splice = Splice::default();
    for (slot, block) in blocks().zip(results.chain(others)) {
        splice.replace(slot.span, block.span.of(spot.message.raw()).to_owned());
    }
    Change::Replace(splice.apply(spot.message.raw()))
}

/// Marks on tools, system and compactions are not ours to drop; the newest of the messages' marks are the ones that save most.
fn drop_oldest_cache_marks(draft: &mut Draft<'_>, outer_cache_marks: u32) {
    let inner: u64 = draft.messages().iter().map(|message| u64::from(message.shape().cache_marks)).sum();
    let mut excess = (u64::from(outer_cache_marks) + inner).saturating_sub(MAX_CACHE_MARKS);
    draft.pass("at most 4 blocks carry a cache mark", |spot| {
        if excess == 0 || spot.message.shape().cache_marks == 0 {
            return Change::Keep;
        }
        let mut splice = Splice::default();
        let parts = spot.message.shape().parts.iter().filter(|part| part.kind != PartKind::Compaction);
        for part in parts {
            let members = cache_mark_members(spot.message.raw(), part.span);
            if excess > 0 && !members.is_empty() {
                excess -= 1;
                members.into_iter().for_each(|member| splice.remove(member));
            }
        }
        Change::Replace(splice.apply(spot.message.raw()))
    });
}

fn start_with_user(draft: &mut Draft<'_>) {
    let reason = "a history starts with the user";
    if draft.messages().is_empty() {
        return draft.append(&write::message(Role::User, BRIDGE), reason);
    }
    draft.pass(reason, |spot| match spot.previous {
        None if !may_stand_first(spot.message.shape()) => Change::Precede(write::message(Role::User, BRIDGE)),
        _ => Change::Keep,
    });
}

/// Thinking that was never there cannot be made up, but behind a text of the user the tool turn is an old one.
fn close_tool_turn(draft: &mut Draft<'_>, history: &History<'_>) {
    let left = check(&History { messages: draft.messages(), ..history.clone() });
    if left.iter().any(|violation| violation.rule == "thinking-misplaced") {
        draft.append(&write::message(Role::User, BRIDGE), "an open tool turn starts with thinking");
    }
}

/// Where the value of the message's role stands.
fn role_value(raw: &str) -> Option<Span> {
    members_of(raw, "role").last().map(|member| member.value)
}

/// The members of the block at `span` that mark it, key included; none where the last of them says null.
fn cache_mark_members(raw: &str, span: Span) -> Vec<Span> {
    let found = members(raw, span, "cache_control");
    let is_marked = found.last().is_some_and(|member| member.value.of(raw) != "null");
    found.into_iter().filter(|_| is_marked).map(|member| member.span).collect()
}
