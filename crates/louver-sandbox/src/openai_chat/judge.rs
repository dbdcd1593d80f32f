//! The history rules of the Chat Completions API.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};

/// Names every history rule that a Chat Completions body breaks.
pub(super) fn judge(body: &Value) -> Vec<Violation> {
    let messages = items(body, "messages");
    let mut found = Vec::new();
    if messages.is_empty() {
        found.push(Violation::new(
            "no-messages",
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        ));
    }
    let mut open = OpenCalls::default();
    for (index, message) in messages.iter().enumerate() {
        if matches!(text(message, "role"), "tool" | "function") {
            found.extend(open.answer(index, message));
        } else {
            found.extend(open.close());
            open = OpenCalls::of(index, message);
        }
    }
    found.extend(open.close());
    found
}

/// The calls of the latest assistant message that still wait for their results.
#[derive(Default)]
struct OpenCalls<'a> {
    index: usize,
    ids: Vec<&'a str>,
}

impl<'a> OpenCalls<'a> {
    fn of(index: usize, message: &'a Value) -> Self {
        if text(message, "role") != "assistant" {
            return Self::default();
        }
        let calls = items(message, "tool_calls").iter().map(|call| text(call, "id"));
        // Calls from before there were ids: one at most, which a message of the role `function` answers.
        let older = (!is_missing(message, "function_call")).then_some("");
        Self { index, ids: calls.chain(older).collect() }
    }

    fn answer(&mut self, index: usize, result: &Value) -> Option<Violation> {
        let id = text(result, "tool_call_id");
        if let Some(answered) = self.ids.iter().position(|open| *open == id) {
            self.ids.remove(answered);
            return None;
        }
        Some(Violation::new(
            "result-without-call",
            format!("messages.{index}"),
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        ))
    }

    fn close(&self) -> Option<Violation> {
        if self.ids.is_empty() {
            return None;
        }
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
             'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            self.ids.join(", ")
        );
        Some(Violation::new("calls-without-results", format!("messages.{}", self.index), message))
    }
}
