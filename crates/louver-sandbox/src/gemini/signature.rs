//! Thought signatures on function calls.

use serde_json::Value;

use super::judge::{count, role};
use crate::Violation;
use crate::body::{is_missing, items, text};
use crate::models;
use crate::provider::{Reply, Request};

/// Whether the model of a request wants its function calls back with their signatures.
pub(super) fn is_needed(request: &Request) -> bool {
    models::find(&request.model).needs_thought_signature
}

pub(super) fn issue(reply: &Reply<'_>) -> String {
    format!("CsbxAQ{:016}", reply.serial)
}

/// Names the calls of the current turn, the one since the user last said something, that lack their signature. Of parallel
/// calls only the first one carries it.
pub(super) fn verify(request: &Request) -> Vec<Violation> {
    if !is_needed(request) {
        return Vec::new();
    }
    let contents = items(&request.body, "contents");
    let prompt =
        contents.iter().rposition(|content| role(content) == "user" && count(content, "functionResponse") == 0);
    let start = prompt.map_or(0, |prompt| prompt + 1);
    let open = contents.iter().enumerate().skip(start);
    open.filter(|(_, content)| role(content) == "model")
        .filter_map(|(index, content)| missing(index, content))
        .collect()
}

fn missing(index: usize, content: &Value) -> Option<Violation> {
    let parts = items(content, "parts");
    let position = parts.iter().position(|part| !is_missing(part, "functionCall"))?;
    if !is_missing(&parts[position], "thoughtSignature") {
        return None;
    }
    let message = format!(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
         correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
         call `default_api:{}`, position {}.",
        text(&parts[position]["functionCall"], "name"),
        index + 1
    );
    Some(Violation::new("thought-signature-missing", format!("contents.{index}.parts.{position}"), message))
}
