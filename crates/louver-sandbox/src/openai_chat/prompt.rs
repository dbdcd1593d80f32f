//! Reading a Chat Completions body as blocks, tools and facts.

use serde_json::Value;

use crate::body::{items, text};
use crate::counter::Counter;
use crate::openai_request::{self, Parts};
use crate::prompt::Prompt;
use crate::provider::Request;

pub(super) fn read(request: &Request, counter: &Counter) -> Prompt {
    let messages = items(&request.body, "messages");
    let parts = Parts {
        label: "message",
        history: messages,
        instructions: &Value::Null,
        functions: items(&request.body, "tools").iter().filter_map(|tool| tool.get("function")).collect(),
        ends_with_results: messages.last().is_some_and(|message| text(message, "role") == "tool"),
    };
    openai_request::read(request, counter, &parts)
}
