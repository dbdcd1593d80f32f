//! An answer of the Chat Completions API in one piece.

use serde_json::{Value, json};

use crate::provider::{Reply, Usage};

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    let mut message = json!({
        "role": "assistant",
        "content": said(reply),
        "refusal": null,
        "annotations": [],
    });
    let calls: Vec<Value> = (0..reply.answer.calls.len()).map(|index| call(reply, index)).collect();
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let mut body = envelope(reply, "chat.completion");
    body["choices"] =
        json!([{"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(reply)}]);
    body["usage"] = usage_object(&reply.usage);
    body
}

/// What is said; an answer that was cut before its first word says an empty text.
pub(super) fn said<'a>(reply: &Reply<'a>) -> Option<&'a str> {
    let answer = reply.answer;
    answer.text.as_deref().or((answer.is_cut && answer.calls.is_empty()).then_some(""))
}

/// What whole answers and chunks have in common.
pub(super) fn envelope(reply: &Reply<'_>, object: &str) -> Value {
    json!({
        "id": format!("chatcmpl-sbx{:016}", reply.serial),
        "object": object,
        "created": reply.created,
        "model": reply.request.model,
        "service_tier": "default",
        "system_fingerprint": null,
    })
}

pub(super) fn finish_reason(reply: &Reply<'_>) -> &'static str {
    match (reply.answer.is_cut, reply.answer.calls.is_empty()) {
        (true, _) => "length",
        (false, false) => "tool_calls",
        (false, true) => "stop",
    }
}

pub(super) fn call_id(reply: &Reply<'_>, index: usize) -> String {
    format!("call_sbx{:012}{index:02}", reply.serial)
}

fn call(reply: &Reply<'_>, index: usize) -> Value {
    let call = &reply.answer.calls[index];
    json!({
        "id": call_id(reply, index),
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments_text()},
    })
}

/// The `usage` object of the Chat Completions API.
pub(super) fn usage_object(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output(),
        "total_tokens": usage.input + usage.output(),
        "prompt_tokens_details": {
            "cached_tokens": usage.read,
            "cache_write_tokens": usage.written(),
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.thinking,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
