//! What the Chat Completions API insists on before it looks at the history.

use serde_json::Value;

use crate::Violation;
use crate::body::{items, text};
use crate::openai_request::new_cache_fields;
use crate::provider::Request;
use crate::refusal::Refusal;

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

pub(super) fn screen(request: &Request) -> Result<(), Refusal> {
    request.require(&["model", "messages"])?;
    Refusal::if_any(messages(&request.body).or_else(|| new_cache_fields(request)))
}

fn messages(body: &Value) -> Option<Violation> {
    if !body["messages"].is_array() {
        return Some(Violation::invalid("messages", "Invalid type for 'messages': expected an array of objects."));
    }
    items(body, "messages").iter().enumerate().find_map(|(index, message)| {
        let role = text(message, "role");
        let supported = ROLES.map(|role| format!("'{role}'")).join(", ");
        let message = format!("Invalid value: '{role}'. Supported values are: {supported}.");
        (!ROLES.contains(&role)).then(|| Violation::invalid(format!("messages.{index}"), message))
    })
}
