//! An answer of the Messages API in one piece.

use serde_json::{Value, json};

use super::{thinking, usage};
use crate::provider::Reply;

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = envelope(reply, &content(reply), &usage::total(&reply.usage));
    message["stop_reason"] = json!(stop_reason(reply));
    message
}

/// A message without its stop reason.
pub(super) fn envelope(reply: &Reply<'_>, content: &[Value], usage: &Value) -> Value {
    let mut message = json!({
        "id": format!("msg_sbx{:016}", reply.serial),
        "type": "message",
        "role": "assistant",
        "model": reply.request.model,
        "content": content,
        "stop_reason": null,
        "stop_sequence": null,
        "usage": usage,
    });
    if thinking::may_control_binding(reply.request) {
        message["input_transformations"] = json!(thinking::transformations(reply.request));
    }
    message
}

pub(super) fn stop_reason(reply: &Reply<'_>) -> &'static str {
    match (&reply.answer.text, reply.answer.calls.is_empty()) {
        (_, false) => "tool_use",
        (Some(_), true) => "end_turn",
        (None, true) => "max_tokens",
    }
}

/// The content blocks of an answer: thinking, text, calls.
pub(super) fn content(reply: &Reply<'_>) -> Vec<Value> {
    let answer = reply.answer;
    let mut blocks = Vec::new();
    if let Some(thought) = &answer.thinking {
        let signature = thinking::sign(reply.request, thought);
        blocks.push(json!({"type": "thinking", "thinking": thought, "signature": signature}));
    }
    if let Some(text) = &answer.text {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        blocks.push(json!({
            "type": "tool_use",
            "id": format!("toolu_sbx{:012}{index:02}", reply.serial),
            "name": call.name,
            "input": call.arguments_object(),
        }));
    }
    blocks
}
