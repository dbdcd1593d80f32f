//! An answer of the Responses API in one piece.

use serde_json::{Value, json};

use super::links;
use crate::body::{is_missing, items};
use crate::provider::{Reply, Usage};

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut response = envelope(reply, status(reply));
    response["output"] = json!(output(reply));
    response["usage"] = usage_object(&reply.usage);
    if reply.answer.is_cut {
        response["incomplete_details"] = json!({"reason": "max_output_tokens"});
    } else {
        response["completed_at"] = json!(reply.created);
    }
    response
}

/// How an answer ended, and with it the last item that is not reasoning.
pub(super) fn status(reply: &Reply<'_>) -> &'static str {
    if reply.answer.is_cut { "incomplete" } else { "completed" }
}

/// A response without its output.
pub(super) fn envelope(reply: &Reply<'_>, status: &str) -> Value {
    let body = &reply.request.body;
    let or = |field: &str, default: Value| if is_missing(body, field) { default } else { body[field].clone() };
    json!({
        "id": format!("resp_sbx{:016}", reply.serial),
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": null,
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "model": reply.request.model,
        "output": [],
        "parallel_tool_calls": or("parallel_tool_calls", json!(true)),
        "previous_response_id": null,
        "reasoning": or("reasoning", json!({"effort": null, "summary": null})),
        "service_tier": "default",
        "store": or("store", json!(true)),
        "temperature": or("temperature", json!(1.0)),
        "text": or("text", json!({"format": {"type": "text"}})),
        "tool_choice": or("tool_choice", json!("auto")),
        "tools": or("tools", json!([])),
        "top_p": or("top_p", json!(1.0)),
        "truncation": or("truncation", json!("disabled")),
        "usage": null,
        "user": null,
        "metadata": or("metadata", json!({})),
    })
}

/// The output items of an answer: reasoning, message, calls.
pub(super) fn output(reply: &Reply<'_>) -> Vec<Value> {
    let mut output = Vec::new();
    if let Some(thought) = &reply.answer.thinking {
        output.push(reasoning(reply, thought));
    }
    if let Some(text) = &reply.answer.text {
        output.push(json!({
            "id": links::item_id("msg", reply, 0),
            "type": "message",
            "status": if reply.answer.calls.is_empty() { status(reply) } else { "completed" },
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
        }));
    }
    for (index, call) in reply.answer.calls.iter().enumerate() {
        output.push(json!({
            "id": links::item_id("fc", reply, index),
            "type": "function_call",
            "status": if call.is_cut() { status(reply) } else { "completed" },
            "call_id": format!("call_sbx{:012}{index:02}", reply.serial),
            "name": call.name,
            "arguments": call.arguments_text(),
        }));
    }
    output
}

fn reasoning(reply: &Reply<'_>, thought: &str) -> Value {
    let body = &reply.request.body;
    let shows_summary = !is_missing(&body["reasoning"], "summary");
    let summary = if shows_summary { json!([{"type": "summary_text", "text": thought}]) } else { json!([]) };
    let mut item = json!({"id": links::reasoning_id(reply.serial), "type": "reasoning", "summary": summary});
    if items(body, "include").iter().any(|included| included == "reasoning.encrypted_content") {
        item["encrypted_content"] = json!(format!("gAAAAsbx{:016}", reply.serial));
    }
    item
}

/// The `usage` object of the Responses API.
fn usage_object(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.read, "cache_write_tokens": usage.written()},
        "output_tokens": usage.output(),
        "output_tokens_details": {"reasoning_tokens": usage.thinking},
        "total_tokens": usage.input + usage.output(),
    })
}
