//! Requests of the Chat Completions API.

use crate::provider::request::{Request, with_list};
use serde_json::{Value, json};

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = json!({"model": request.model, "max_completion_tokens": request.max_tokens});
    if request.is_streamed {
        fields["stream"] = json!(true);
        fields["stream_options"] = json!({"include_usage": true});
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.schema});
            json!({"type": "function", "function": function})
        });
        fields["tools"] = Value::Array(tools.collect());
    }
    request.add_extra(&mut fields);
    let system = request.system.map(|text| json!({"role": "system", "content": text}).to_string());
    let messages: Vec<&str> = system.as_deref().into_iter().chain(request.messages.iter().copied()).collect();
    with_list(&fields, "messages", &messages)
}
