//! An answer of the `generateContent` API in one piece.

use serde_json::{Value, json};

use super::signature;
use crate::provider::{Reply, Usage};

pub(super) fn whole(reply: &Reply<'_>) -> Value {
    chunk(reply, &parts(reply), true, reply.usage.visible_output)
}

/// A response that holds some parts of the answer.
pub(super) fn chunk(reply: &Reply<'_>, parts: &[Value], is_last: bool, candidate_tokens: u64) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!(if reply.answer.is_cut { "MAX_TOKENS" } else { "STOP" });
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": usage_object(&reply.usage, candidate_tokens),
        "modelVersion": reply.request.model,
        "responseId": format!("sbx{:016}", reply.serial),
    })
}

/// The parts of an answer: thought, text, calls. A call that could not be written to its end is no part.
pub(super) fn parts(reply: &Reply<'_>) -> Vec<Value> {
    let answer = reply.answer;
    let mut parts = Vec::new();
    if let Some(thought) = answer.thinking.as_ref().filter(|_| includes_thoughts(reply)) {
        parts.push(json!({"text": thought, "thought": true}));
    }
    if let Some(text) = &answer.text {
        parts.push(json!({"text": text}));
    }
    for (index, call) in answer.calls.iter().enumerate().filter(|(_, call)| !call.is_cut()) {
        let id = format!("sbx{:012}{index:02}", reply.serial);
        let mut part = json!({"functionCall": {"id": id, "name": call.name, "args": call.arguments_object()}});
        if index == 0 && signature::is_needed(reply.request) {
            part["thoughtSignature"] = json!(signature::issue(reply));
        }
        parts.push(part);
    }
    parts
}

fn includes_thoughts(reply: &Reply<'_>) -> bool {
    reply.request.body["generationConfig"]["thinkingConfig"]["includeThoughts"] == Value::Bool(true)
}

/// Usage after so many tokens of the visible answer; it grows with every chunk of a stream.
fn usage_object(usage: &Usage, candidate_tokens: u64) -> Value {
    let mut object = json!({
        "promptTokenCount": usage.input,
        "candidatesTokenCount": candidate_tokens,
        "totalTokenCount": usage.input + candidate_tokens + usage.thinking,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.input}],
    });
    if usage.read > 0 {
        object["cachedContentTokenCount"] = json!(usage.read);
        object["cacheTokensDetails"] = json!([{"modality": "TEXT", "tokenCount": usage.read}]);
    }
    if usage.thinking > 0 {
        object["thoughtsTokenCount"] = json!(usage.thinking);
    }
    object
}
