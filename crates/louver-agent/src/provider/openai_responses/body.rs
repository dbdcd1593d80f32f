//! Requests of the Responses API.

use crate::provider::request::Request;
use serde_json::{Map, Value, json};

/// Families that do not reason and refuse to be asked for it.
const WITHOUT_REASONING: [&str; 3] = ["gpt-3", "gpt-4", "chatgpt"];

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = shared(request);
    fields.insert("max_output_tokens".to_owned(), json!(request.max_tokens));
    fields.insert("store".to_owned(), json!(false));
    if !WITHOUT_REASONING.iter().any(|family| request.model.starts_with(family)) {
        // Nothing is stored, so reasoning has to come along to be sent back.
        fields.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if request.is_streamed {
        fields.insert("stream".to_owned(), json!(true));
    }
    if let Some(extra) = request.extra {
        fields.extend(extra.clone());
    }
    with_input(fields, &request.messages)
}

pub(super) fn count_body(request: &Request<'_>) -> String {
    with_input(shared(request), &request.messages)
}

fn shared(request: &Request<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("model".to_owned(), json!(request.model));
    if let Some(system) = request.system {
        fields.insert("instructions".to_owned(), json!(system));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.schema, "strict": false})
        });
        fields.insert("tools".to_owned(), Value::Array(tools.collect()));
    }
    fields
}

fn with_input(fields: Map<String, Value>, items: &[&str]) -> String {
    let mut body = Value::Object(fields).to_string();
    body.pop();
    body.push_str(",\"input\":[");
    body.push_str(&items.join(","));
    body.push_str("]}");
    body
}
