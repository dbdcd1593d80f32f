//! An answer of the Chat Completions API as events.

use serde_json::{Value, json};

use super::reply;
use crate::provider::Reply;
use crate::sse;

pub(super) fn events(reply: &Reply<'_>) -> Vec<String> {
    let wants_usage = reply.request.body["stream_options"]["include_usage"] == Value::Bool(true);
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = reply::envelope(reply, "chat.completion.chunk");
        chunk["choices"] = choices;
        if wants_usage {
            chunk["usage"] = usage;
        }
        sse::unnamed(&chunk)
    };
    let choice =
        |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
    let mut events: Vec<String> =
        deltas(reply).into_iter().map(|delta| chunk(choice(delta, Value::Null), Value::Null)).collect();
    events.push(chunk(choice(json!({}), json!(reply::finish_reason(reply))), Value::Null));
    if wants_usage {
        events.push(chunk(json!([]), reply::usage_object(&reply.usage)));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn deltas(reply: &Reply<'_>) -> Vec<Value> {
    let text = reply::said(reply);
    let mut deltas = vec![json!({"role": "assistant", "content": text.map(|_| ""), "refusal": null})];
    let pieces = sse::pieces(text.unwrap_or_default());
    deltas.extend(pieces.iter().map(|piece| json!({"content": piece})));
    for (index, call) in reply.answer.calls.iter().enumerate() {
        deltas.push(json!({"tool_calls": [{
            "index": index,
            "id": reply::call_id(reply, index),
            "type": "function",
            "function": {"name": call.name, "arguments": ""},
        }]}));
        let arguments = call.arguments_text();
        let pieces = sse::pieces(&arguments);
        deltas.extend(
            pieces.iter().map(|piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})),
        );
    }
    deltas
}
