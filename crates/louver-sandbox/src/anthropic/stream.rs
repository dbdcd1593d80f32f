//! An answer of the Messages API as events.

use serde_json::{Value, json};

use super::reply;
use crate::body::text;
use crate::provider::Reply;
use crate::sse;

pub(super) fn events(reply: &Reply<'_>) -> Vec<String> {
    let start = reply::envelope(reply, &[], &reply::usage_object(&reply.usage, 1));
    let mut events = vec![event(&json!({"type": "message_start", "message": start})), event(&json!({"type": "ping"}))];
    for (index, block) in reply::content(reply).iter().enumerate() {
        block_events(reply, index, block, &mut events);
    }
    events.push(event(&json!({
        "type": "message_delta",
        "delta": {"stop_reason": reply::stop_reason(reply), "stop_sequence": null},
        "usage": reply::usage_total(&reply.usage),
    })));
    events.push(event(&json!({"type": "message_stop"})));
    events
}

fn event(data: &Value) -> String {
    sse::named(text(data, "type"), data)
}

fn block_events(reply: &Reply<'_>, index: usize, block: &Value, events: &mut Vec<String>) {
    events.push(event(&json!({"type": "content_block_start", "index": index, "content_block": opened(block)})));
    for delta in deltas(reply, index, block) {
        events.push(event(&json!({"type": "content_block_delta", "index": index, "delta": delta})));
    }
    events.push(event(&json!({"type": "content_block_stop", "index": index})));
}

/// A block before its deltas.
fn opened(block: &Value) -> Value {
    match text(block, "type") {
        "thinking" => json!({"type": "thinking", "thinking": "", "signature": ""}),
        "tool_use" => json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
        _ => json!({"type": "text", "text": ""}),
    }
}

fn deltas(reply: &Reply<'_>, index: usize, block: &Value) -> Vec<Value> {
    match text(block, "type") {
        "thinking" => {
            let thought = sse::pieces(text(block, "thinking"));
            let mut deltas: Vec<Value> =
                thought.iter().map(|piece| json!({"type": "thinking_delta", "thinking": piece})).collect();
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
            deltas
        }
        "tool_use" => {
            let call = &reply.answer.calls[index - leading_blocks(reply)];
            let arguments = if call.arguments.is_object() { call.arguments_text() } else { "{}".to_owned() };
            let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
            let pieces = sse::pieces(&arguments);
            deltas.extend(pieces.iter().map(|piece| json!({"type": "input_json_delta", "partial_json": piece})));
            deltas
        }
        _ => {
            let pieces = sse::pieces(text(block, "text"));
            pieces.iter().map(|piece| json!({"type": "text_delta", "text": piece})).collect()
        }
    }
}

/// Blocks before the first call.
fn leading_blocks(reply: &Reply<'_>) -> usize {
    usize::from(reply.answer.thinking.is_some()) + usize::from(reply.answer.text.is_some())
}
