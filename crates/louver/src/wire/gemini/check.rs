//! What `generateContent` refuses, in its own words.

use super::pairing::{calls, responses, strays};
use crate::wire::{History, Message, Part, PartKind, Role, Violation};

const CALL_OUT_OF_PLACE: &str =
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
const RESPONSE_OUT_OF_PLACE: &str =
    "Please ensure that function response turn comes immediately after a function call turn.";
const RESPONSE_COUNT: &str = "Please ensure that the number of function response parts is equal to the number of \
                              function call parts of the function call turn.";

/// Every rule that the history breaks, in message order.
pub(super) fn check(history: &History<'_>) -> Vec<Violation> {
    let messages = &history.messages;
    let mut found = Vec::new();
    match messages.first() {
        None => {
            found.push(violation("no-messages", 0, "", "GenerateContentRequest.contents: contents is not specified"))
        }
        Some(first) if first.shape().role != Role::User => {
            let message = "First content should be with role 'user', got model";
            found.push(violation("first-not-user", 0, "", message));
        }
        Some(_) => {}
    }
    for (index, message) in messages.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| messages[before]);
        if message.shape().parts.is_empty() {
            let text = format!("GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.");
            found.push(violation("empty-parts", index, ".parts", &text));
        }
        found.extend(out_of_place(index, previous, message));
        if has_wrong_count(message, messages.get(index + 1).copied()) {
            found.push(violation("response-count", index, "", RESPONSE_COUNT));
        }
    }
    found
}

fn out_of_place(index: usize, previous: Option<&Message>, message: &Message) -> Vec<Violation> {
    let mut parts = strays(message);
    if is_call_out_of_place(previous, message) {
        parts.extend(calls(message).first());
    }
    if previous.is_none_or(|previous| calls(previous).is_empty()) {
        parts.extend(responses(message).first());
    }
    if parts.is_empty() {
        return Vec::new();
    }
    let positions = positions(message);
    let refuse = |at: usize| {
        let (rule, text) = match message.shape().parts[at].kind {
            PartKind::ToolCall => ("call-out-of-place", CALL_OUT_OF_PLACE),
            _ => ("response-out-of-place", RESPONSE_OUT_OF_PLACE),
        };
        violation(rule, index, &format!(".parts[{}]", positions[at]), text)
    };
    parts.into_iter().map(refuse).collect()
}

/// Whether this call turn follows another call turn. Words of the model before a call are the same turn gone on: real
/// sessions hold them as contents of their own. At the start of a history another rule is broken.
pub(super) fn is_call_out_of_place(previous: Option<&Message>, message: &Message) -> bool {
    previous.is_some_and(|previous| !calls(previous).is_empty()) && !calls(message).is_empty()
}

/// Whether the content behind this call turn does not answer each of its calls.
fn has_wrong_count(message: &Message, next: Option<&Message>) -> bool {
    let calls = calls(message).len();
    calls > 0 && calls != next.map_or(0, |next| responses(next).len())
}

fn violation(rule: &'static str, index: usize, place: &str, message: &str) -> Violation {
    Violation { rule, index, place: place.to_owned(), message: message.to_owned() }
}

/// The index of each part among those that stand directly in the content; a nested one has its holder's.
fn positions(message: &Message) -> Vec<usize> {
    let mut count = 0;
    let position = |part: &Part| {
        count += usize::from(!part.nested);
        count - 1
    };
    message.shape().parts.iter().map(position).collect()
}
