//! The history rules of the Responses API.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};

/// A kind of call that the client answers, and how the two find each other.
struct Pairing {
    call: &'static str,
    output: &'static str,
    call_key: &'static str,
    output_key: &'static str,
    /// Whether the server may run it itself; then neither side has a `call_id`.
    may_be_hosted: bool,
}

const fn by_call_id(call: &'static str, output: &'static str) -> Pairing {
    Pairing { call, output, call_key: "call_id", output_key: "call_id", may_be_hosted: false }
}

const PAIRINGS: [Pairing; 9] = [
    by_call_id("function_call", "function_call_output"),
    by_call_id("custom_tool_call", "custom_tool_call_output"),
    by_call_id("shell_call", "shell_call_output"),
    by_call_id("local_shell_call", "local_shell_call_output"),
    by_call_id("apply_patch_call", "apply_patch_call_output"),
    by_call_id("computer_call", "computer_call_output"),
    by_call_id("program", "program_output"),
    Pairing { may_be_hosted: true, ..by_call_id("tool_search_call", "tool_search_output") },
    Pairing {
        call_key: "id",
        output_key: "approval_request_id",
        ..by_call_id("mcp_approval_request", "mcp_approval_response")
    },
];

/// Names every history rule that a Responses body breaks.
pub(super) fn judge(body: &Value) -> Vec<Violation> {
    let input = items(body, "input");
    let mut found = Vec::new();
    for pairing in &PAIRINGS {
        pair(body, input, pairing, &mut found);
    }
    lonely_reasoning(input, &mut found);
    found.sort_by_key(position);
    found
}

fn position(violation: &Violation) -> usize {
    violation.path.rsplit('.').next().and_then(|index| index.parse().ok()).unwrap_or(0)
}

/// Matches outputs to the earliest unanswered call of the same kind and id: ids repeat in real histories.
fn pair(body: &Value, input: &[Value], pairing: &Pairing, found: &mut Vec<Violation>) {
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (index, item) in input.iter().enumerate() {
        let kind = text(item, "type");
        if kind == pairing.call && !is_hosted(item, pairing, pairing.call_key) {
            open.push((index, text(item, pairing.call_key)));
        } else if kind == pairing.output && !is_hosted(item, pairing, pairing.output_key) {
            let id = text(item, pairing.output_key);
            match open.iter().position(|(_, open_id)| *open_id == id) {
                Some(answered) => drop(open.remove(answered)),
                None if history_is_elsewhere(body, input) => {}
                None => found.push(output_without_call(index, id)),
            }
        }
    }
    found.extend(open.into_iter().map(|(index, id)| call_without_output(index, id)));
}

fn is_hosted(item: &Value, pairing: &Pairing, key: &str) -> bool {
    pairing.may_be_hosted && is_missing(item, key)
}

/// Whether the server holds history that this body only points to, so that an output may answer a call outside it.
fn history_is_elsewhere(body: &Value, input: &[Value]) -> bool {
    !is_missing(body, "previous_response_id")
        || !is_missing(body, "conversation")
        || input.iter().any(|item| text(item, "type") == "item_reference")
}

fn output_without_call(index: usize, id: &str) -> Violation {
    let message = format!("No tool call found for function call output with call_id {id}.");
    Violation::new("output-without-call", format!("input.{index}"), message)
}

fn call_without_output(index: usize, id: &str) -> Violation {
    let message = format!("No tool output found for function call {id}.");
    Violation::new("call-without-output", format!("input.{index}"), message)
}

/// A reasoning item with an id belongs to the item that the model produced right after it.
fn lonely_reasoning(input: &[Value], found: &mut Vec<Violation>) {
    for (index, item) in input.iter().enumerate() {
        if !is_reasoning(item) || is_missing(item, "id") {
            continue;
        }
        let follower = input[index + 1..].iter().find(|later| !is_reasoning(later));
        if !follower.is_some_and(is_model_output) {
            let message = format!(
                "Item '{}' of type 'reasoning' was provided without its required following item.",
                text(item, "id")
            );
            found.push(Violation::new("reasoning-without-item", format!("input.{index}"), message));
        }
    }
}

fn is_reasoning(item: &Value) -> bool {
    text(item, "type") == "reasoning"
}

/// Whether the model produced an item, as opposed to the client.
fn is_model_output(item: &Value) -> bool {
    match text(item, "type") {
        "" | "message" => text(item, "role") == "assistant",
        "additional_tools" | "compaction_trigger" => false,
        kind => !PAIRINGS.iter().any(|pairing| pairing.output == kind),
    }
}

/// Whether an item answers a call.
pub(super) fn is_output(item: &Value) -> bool {
    PAIRINGS.iter().any(|pairing| pairing.output == text(item, "type"))
}
