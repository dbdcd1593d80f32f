//! Reading a Responses body as blocks, tools and facts.

use serde_json::{Value, json};

use super::judge::is_output;
use crate::body::{items, text};
use crate::counter::Counter;
use crate::openai_request::{self, Parts};
use crate::prompt::Prompt;
use crate::provider::Request;

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let body = &request.body;
    let input = list(body);
    let parts = Parts {
        label: "item",
        history: &input,
        instructions: &body["instructions"],
        functions: items(body, "tools").iter().filter(|tool| text(tool, "type") == "function").collect(),
        ends_with_results: input.last().is_some_and(is_output),
    };
    openai_request::read(request, counter, &parts)
}

/// The input as items; a string is one message of the user.
pub(super) fn list(body: &Value) -> Vec<Value> {
    match body["input"].as_str() {
        Some(said) => vec![json!({"type": "message", "role": "user", "content": said})],
        None => items(body, "input").to_vec(),
    }
}
