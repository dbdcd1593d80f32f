//! Requests of the Responses API.

use crate::provider::request::{Request, with_list};
use serde_json::{Value, json};

/// Families that do not reason and refuse to be asked for it.
const WITHOUT_REASONING: [&str; 3] = ["gpt-3", "gpt-4", "chatgpt"];

pub(super) fn body(request: &Request<'_>) -> String {
    let mut fields = shared(request);
    fields["max_output_tokens"] = json!(request.max_tokens);
    fields["store"] = json!(false);
    if !WITHOUT_REASONING.iter().any(|family| request.model.starts_with(family)) {
        // Nothing is stored, so reasoning has to come along to be sent back.
        fields["include"] = json!(["reasoning.encrypted_content"]);
    }
    if request.is_streamed {
        fields["stream"] = json!(true);
    }
    request.add_extra(&mut fields);
    with_list(&fields, "input", &request.messages)
}

pub(super) fn count_body(request: &Request<'_>) -> String {
    with_list(&shared(request), "input", &request.messages)
}

fn shared(request: &Request<'_>) -> Value {
    let mut fields = json!({"model": request.model});
    if let Some(system) = request.system {
        fields["instructions"] = json!(system);
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({"type": "function", "name": tool.name, "description": tool.description,
                "parameters": tool.schema, "strict": false})
        });
        fields["tools"] = Value::Array(tools.collect());
    }
    fields
}
