//! Requests of the Messages API.

use super::marks;
use crate::provider::request::{Request, with_list};
use serde_json::{Value, json};

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = shared(request);
    fields["max_tokens"] = json!(request.max_tokens);
    fields["stream"] = json!(request.is_streamed);
    request.add_extra(&mut fields);
    with_list(&fields, "messages", &marks::marked(request))
}

pub(super) fn count_body(request: &Request<'_>) -> String {
    with_list(&shared(request), "messages", &request.messages)
}

/// Model, system and tools. The last block of each static part is marked: everything up to it is the same in every
/// request of a run.
fn shared(request: &Request<'_>) -> Value {
    let mut fields = json!({"model": request.model});
    if let Some(system) = request.system.filter(|text| !text.trim().is_empty()) {
        fields["system"] = json!([{"type": "text", "text": system, "cache_control": marks::mark()}]);
    }
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
        .collect();
    if let Some(last) = tools.last_mut() {
        last["cache_control"] = marks::mark();
        fields["tools"] = Value::Array(tools);
    }
    fields
}
