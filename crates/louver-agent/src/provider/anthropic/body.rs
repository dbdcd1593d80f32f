//! Requests of the Messages API.

use super::marks;
use crate::provider::request::Request;
use serde_json::{Map, Value, json};

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = shared(request);
    fields.insert("max_tokens".to_owned(), json!(request.max_tokens));
    fields.insert("stream".to_owned(), json!(request.is_streamed));
    if let Some(extra) = request.extra {
        fields.extend(extra.clone());
    }
    with_messages(fields, &marks::marked(request))
}

pub(super) fn count_body(request: &Request<'_>) -> String {
    with_messages(shared(request), &request.messages.iter().map(|raw| (*raw).into()).collect::<Vec<_>>())
}

/// Model, system and tools. The last block of each static part is marked: everything up to it is the same in every
/// request of a run.
fn shared(request: &Request<'_>) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("model".to_owned(), json!(request.model));
    if let Some(system) = request.system.filter(|text| !text.trim().is_empty()) {
        fields.insert("system".to_owned(), json!([{"type": "text", "text": system, "cache_control": marks::mark()}]));
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
        .collect();
    if let Some(last) = tools.last_mut() {
        last["cache_control"] = marks::mark();
        fields.insert("tools".to_owned(), Value::Array(tools));
    }
    fields
}

fn with_messages(fields: Map<String, Value>, messages: &[std::borrow::Cow<'_, str>]) -> String {
    let mut body = Value::Object(fields).to_string();
    body.pop();
    body.push_str(",\"messages\":[");
    body.push_str(&messages.join(","));
    body.push_str("]}");
    body
}
