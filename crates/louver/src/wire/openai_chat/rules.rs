//! What Chat Completions refuses, in its own words.

use crate::wire::field::members_of;
use crate::wire::repair::{Change, Repair};
use crate::wire::rule::{Case, Finding, Rule, by_message, parts_found, remove};
use crate::wire::{Message, Part, PartKind, Splice};

pub(super) static RULES: [Rule; 3] = [
    Rule {
        name: "calls-without-results",
        wording: "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                  'tool_call_id'. The following tool_call_ids did not have response messages: {id}",
        law: "every call is answered before anybody else speaks",
        check: |case| by_message(&case.unpaired.calls, |index, parts| unanswered(case, index, parts)),
        fix: drop_calls,
    },
    Rule {
        name: "result-without-call",
        wording: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                  'tool_calls'.",
        law: "a result answers a call of the assistant message before it",
        check: |case| {
            let place = || ".role".to_owned();
            by_message(&case.unpaired.results, |index, _| Finding { place: place(), ..Finding::at(index) })
        },
        fix: remove,
    },
    Rule {
        name: "no-messages",
        wording: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array \
                  instead.",
        law: "a request needs at least one message",
        check: |case| Vec::from_iter(case.history.messages.is_empty().then(Finding::default)),
        // Something has to be asked.
        fix: |repair, _| repair.append("Continue."),
    },
];

/// The calls of one message that nothing answers. The older `function_call` has only a name.
fn unanswered(case: &Case<'_>, index: usize, parts: Vec<usize>) -> Finding {
    let message = case.history.messages[index];
    let label = |part: &usize| match (message.id_of(call(message, part)), message.name_of(call(message, part))) {
        (id, name) if id.is_empty() => name,
        (id, _) => id,
    };
    let id = parts.iter().map(label).collect::<Vec<_>>().join(", ");
    let place = parts.first().map(|part| place_of(message, call(message, part))).unwrap_or_default();
    Finding { id, place, parts, ..Finding::at(index) }
}

fn call<'m>(message: &'m Message, part: &usize) -> &'m Part {
    &message.shape().parts[*part]
}

/// Where a call stands: an element of `tool_calls`, or the older `function_call`.
fn place_of(message: &Message, call: &Part) -> String {
    if members_of(message.raw(), "function_call").iter().any(|member| member.value == call.span) {
        return ".function_call".to_owned();
    }
    let before = listed_calls(message).filter(|part| part.span.start < call.span.start);
    format!(".tool_calls[{}]", before.count())
}

/// The calls in `tool_calls`.
fn listed_calls(message: &Message) -> impl Iterator<Item = &Part> {
    let list = members_of(message.raw(), "tool_calls").last().map(|member| member.value).unwrap_or_default();
    let calls = message.shape().parts_of(PartKind::ToolCall);
    calls.filter(move |part| list.start <= part.span.start && part.span.end <= list.end)
}

fn drop_calls(repair: &mut Repair<'_>, found: &[Finding]) {
    repair.pass(|spot| match parts_found(found, spot.index) {
        parts if parts.is_empty() => Change::Keep,
        parts => without_calls(spot.message, &parts),
    });
}

/// With the last call goes its member, since an empty list is refused, and with nothing else to say the message.
fn without_calls(message: &Message, gone: &[usize]) -> Change {
    let mut left = message.shape().parts.iter().enumerate().filter(|(at, _)| gone.binary_search(at).is_err());
    if !left.any(|(_, part)| says_something(part)) {
        return Change::Remove;
    }
    let is_gone = |part: &Part| gone.iter().any(|at| call(message, at).span == part.span);
    let mut splice = Splice::default();
    if listed_calls(message).all(is_gone) {
        // All of them: of several the one before would count once the last is gone.
        members_of(message.raw(), "tool_calls").iter().for_each(|member| splice.remove(member.span));
    } else {
        listed_calls(message).filter(|part| is_gone(part)).for_each(|part| splice.remove(part.span));
    }
    let calls = members_of(message.raw(), "function_call");
    if gone.iter().any(|at| calls.iter().any(|member| member.value == call(message, at).span)) {
        calls.iter().for_each(|member| splice.remove(member.span));
    }
    Change::Replace(splice.apply(message.raw()))
}

/// Whether an assistant message may consist of this part: thinking alone is none, nor is an empty text.
fn says_something(part: &Part) -> bool {
    match part.kind {
        PartKind::Thinking => false,
        PartKind::Text => part.chars > 0,
        _ => true,
    }
}
