//! The smallest change that makes a Chat Completions history legal.
//!
//! Calls that nothing answers go, and with them a message that holds nothing else; results that answer nothing go.
//! Neither can unpair anything that was paired, so one pass is enough.

use super::pairs::{Unanswered, Unpaired};
use super::write;
use crate::wire::field::members_of;
use crate::wire::{Fix, History, Message, Part, PartKind, Role, Splice};

pub(super) fn repair(history: &History<'_>) -> Vec<Fix> {
    let messages = &history.messages;
    let unpaired = Unpaired::of(messages);
    let calls = unpaired.calls.iter().map(|unanswered| without_calls(messages[unanswered.index], unanswered));
    let results = unpaired.results.iter().map(|index| without_result(*index));
    let mut fixes: Vec<_> = calls.chain(results).collect();
    fixes.sort_by_key(Fix::index);
    let removed = fixes.iter().filter(|fix| matches!(fix, Fix::Remove { .. })).count();
    if removed == messages.len() {
        fixes.push(first_message(messages.len()));
    }
    fixes
}

fn without_result(index: usize) -> Fix {
    Fix::Remove { index, reason: "its result answers no call of the assistant message before it".to_owned() }
}

/// Something has to be asked: an empty list is refused.
fn first_message(index: usize) -> Fix {
    Fix::Insert {
        index,
        raw: write::message(Role::User, "Continue."),
        reason: "a request needs at least one message".to_owned(),
    }
}

fn without_calls(message: &Message, unanswered: &Unanswered<'_>) -> Fix {
    let index = unanswered.index;
    let reason = format!("nothing answers these calls: {}", unanswered.ids(message));
    let is_gone = |part: &Part| unanswered.contains(part);
    if !message.shape().parts.iter().any(|part| !is_gone(part) && says_something(part)) {
        return Fix::Remove { index, reason };
    }
    let mut splice = Splice::default();
    remove_from_list(message, is_gone, &mut splice);
    remove_function_call(message, is_gone, &mut splice);
    Fix::Replace { index, raw: splice.apply(message.raw()), reason }
}

/// Whether an assistant message may consist of this part: thinking alone is none, nor is an empty text.
fn says_something(part: &Part) -> bool {
    match part.kind {
        PartKind::Thinking => false,
        PartKind::Text => part.chars > 0,
        _ => true,
    }
}

/// Takes calls out of `tool_calls`, or the whole member with the last of them: an empty list is refused.
fn remove_from_list(message: &Message, is_gone: impl Fn(&Part) -> bool, splice: &mut Splice) {
    let lists = members_of(message.raw(), "tool_calls");
    let Some(list) = lists.last().map(|member| member.value) else {
        return;
    };
    let calls = message.shape().parts_of(PartKind::ToolCall);
    let (gone, kept): (Vec<&Part>, Vec<&Part>) =
        calls.filter(|part| list.start <= part.span.start && part.span.end <= list.end).partition(|part| is_gone(part));
    if gone.is_empty() {
        return;
    }
    if kept.is_empty() {
        // All of them: the one before would count once the last is gone.
        lists.iter().for_each(|member| splice.remove(member.span));
    } else {
        gone.iter().for_each(|part| splice.remove(part.span));
    }
}

fn remove_function_call(message: &Message, is_gone: impl Fn(&Part) -> bool, splice: &mut Splice) {
    let calls = members_of(message.raw(), "function_call");
    let mut parts = message.shape().parts_of(PartKind::ToolCall);
    if parts.any(|part| is_gone(part) && calls.iter().any(|member| member.value == part.span)) {
        calls.iter().for_each(|member| splice.remove(member.span));
    }
}
