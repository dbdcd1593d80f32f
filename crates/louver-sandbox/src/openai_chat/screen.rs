//! What the Chat Completions API insists on before it looks at the history.

use serde_json::Value;

use crate::Violation;
use crate::body::{is_missing, items, text};
use crate::models;
use crate::provider::Request;
use crate::refusal::Refusal;

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    if let Some(field) = ["model", "messages"].into_iter().find(|field| is_missing(&request.body, field)) {
        return Err(Refusal::MissingField { field });
    }
    let violation = messages(&request.body).or_else(|| new_cache_fields(request));
    violation.map_or(Ok(()), |violation| Err(Refusal::Illegal(violation)))
}

fn invalid(path: &str, message: &str) -> Violation {
    Violation::new("invalid-request", path, message)
}

fn messages(body: &Value) -> Option<Violation> {
    if !body["messages"].is_array() {
        return Some(invalid("messages", "Invalid type for 'messages': expected an array of objects."));
    }
    items(body, "messages").iter().enumerate().find_map(|(index, message)| {
        let role = text(message, "role");
        let supported = ROLES.map(|role| format!("'{role}'")).join(", ");
        let message = format!("Invalid value: '{role}'. Supported values are: {supported}.");
        (!ROLES.contains(&role)).then(|| invalid(&format!("messages.{index}"), &message))
    })
}

/// The cache options of newer models are unknown parameters to older ones.
fn new_cache_fields(request: &Request) -> Option<Violation> {
    let is_old = !models::find(&request.model).cache.reports_writes;
    (is_old && !is_missing(&request.body, "prompt_cache_options"))
        .then(|| invalid("prompt_cache_options", "Unknown parameter: 'prompt_cache_options'."))
}
