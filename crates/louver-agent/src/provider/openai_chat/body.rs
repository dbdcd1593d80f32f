//! Requests of the Chat Completions API.

use crate::provider::request::Request;
use serde_json::{Map, Value, json};

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = Map::new();
    fields.insert("model".to_owned(), json!(request.model));
    fields.insert("max_completion_tokens".to_owned(), json!(request.max_tokens));
    if request.is_streamed {
        fields.insert("stream".to_owned(), json!(true));
        fields.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        });
        fields.insert("tools".to_owned(), Value::Array(tools.collect()));
    }
    if let Some(extra) = request.extra {
        fields.extend(extra.clone());
    }
    let system = request.system.map(|text| json!({"role": "system", "content": text}).to_string());
    let messages: Vec<&str> = system.as_deref().into_iter().chain(request.messages.iter().copied()).collect();
    let mut body = Value::Object(fields).to_string();
    body.pop();
    body.push_str(",\"messages\":[");
    body.push_str(&messages.join(","));
    body.push_str("]}");
    body
}
