//! What Chat Completions refuses, in its own words.

use super::pairs::{Unanswered, Unpaired};
use crate::wire::field::members_of;
use crate::wire::{History, Message, Part, PartKind, Violation};

pub(super) fn check(history: &History<'_>) -> Vec<Violation> {
    let messages = &history.messages;
    if messages.is_empty() {
        return vec![no_messages()];
    }
    let unpaired = Unpaired::of(messages);
    let calls = unpaired.calls.iter().map(|unanswered| calls_without_results(messages[unanswered.index], unanswered));
    let results = unpaired.results.iter().map(|index| result_without_call(*index));
    let mut violations: Vec<_> = calls.chain(results).collect();
    violations.sort_by_key(|violation| violation.index);
    violations
}

fn no_messages() -> Violation {
    Violation {
        rule: "no-messages",
        index: 0,
        place: String::new(),
        message: "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array \
                  instead."
            .to_owned(),
    }
}

fn calls_without_results(message: &Message, unanswered: &Unanswered<'_>) -> Violation {
    Violation {
        rule: "calls-without-results",
        index: unanswered.index,
        place: unanswered.parts.first().map(|part| place_of(message, part)).unwrap_or_default(),
        message: format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            unanswered.ids(message)
        ),
    }
}

/// Where a call stands: an element of `tool_calls`, or the older `function_call`.
fn place_of(message: &Message, call: &Part) -> String {
    if members_of(message.raw(), "function_call").iter().any(|member| member.value == call.span) {
        return ".function_call".to_owned();
    }
    let list = members_of(message.raw(), "tool_calls").last().map(|member| member.value).unwrap_or_default();
    let before = message.shape().parts_of(PartKind::ToolCall).filter(|part| {
        let is_listed = list.start <= part.span.start && part.span.end <= list.end;
        is_listed && part.span.start < call.span.start
    });
    format!(".tool_calls[{}]", before.count())
}

fn result_without_call(index: usize) -> Violation {
    Violation {
        rule: "result-without-call",
        index,
        place: ".role".to_owned(),
        message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with \
                  'tool_calls'."
            .to_owned(),
    }
}
