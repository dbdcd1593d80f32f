//! An answer of the Messages API in one piece.

use serde_json::{Value, json};

use super::thinking;
use crate::provider::{Reply, Usage};

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = envelope(reply, &content(reply), &usage_total(&reply.usage));
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
    match (reply.answer.is_cut, reply.answer.calls.is_empty()) {
        (true, _) => "max_tokens",
        (false, false) => "tool_use",
        (false, true) => "end_turn",
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

/// `input_tokens` is only what was neither read from the cache nor written to it.
pub(super) fn usage_object(usage: &Usage, output_tokens: u64) -> Value {
    json!({
        "input_tokens": usage.input - usage.read - usage.written(),
        "cache_creation_input_tokens": usage.written(),
        "cache_read_input_tokens": usage.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.written_short,
            "ephemeral_1h_input_tokens": usage.written_long,
        },
        "output_tokens": output_tokens,
        "service_tier": "standard",
    })
}

/// The same at the end of an answer.
pub(super) fn usage_total(usage: &Usage) -> Value {
    let mut object = usage_object(usage, usage.output());
    object["output_tokens_details"] = json!({"thinking_tokens": usage.thinking});
    object
}
