//! An answer of the Responses API as events.

use serde_json::{Value, json};

use super::reply;
use crate::body::{items, text};
use crate::provider::Reply;
use crate::sse;

pub(super) fn events(reply: &Reply<'_>) -> Vec<String> {
    let mut events = Events::default();
    events.push("response.created", json!({"response": reply::envelope(reply, "in_progress")}));
    events.push("response.in_progress", json!({"response": reply::envelope(reply, "in_progress")}));
    for (index, item) in reply::output(reply).iter().enumerate() {
        events.push("response.output_item.added", json!({"output_index": index, "item": opened(item)}));
        match text(item, "type") {
            "message" => message(&mut events, index, item),
            "reasoning" => reasoning(&mut events, index, item),
            _ => call(&mut events, index, item),
        }
        events.push("response.output_item.done", json!({"output_index": index, "item": item}));
    }
    let end = format!("response.{}", reply::status(reply));
    events.push(&end, json!({"response": reply::whole(reply)}));
    events.list
}

/// Events so far; each gets the next sequence number.
#[derive(Default)]
struct Events {
    list: Vec<String>,
}

impl Events {
    fn push(&mut self, name: &str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.list.len());
        self.list.push(sse::named(name, &data));
    }
}

/// An item before anything of it has been said.
fn opened(item: &Value) -> Value {
    let mut opened = item.clone();
    match text(item, "type") {
        "message" => opened["content"] = json!([]),
        "reasoning" => opened["summary"] = json!([]),
        _ => opened["arguments"] = json!(""),
    }
    if opened.get("status").is_some() {
        opened["status"] = json!("in_progress");
    }
    opened
}

fn message(events: &mut Events, index: usize, item: &Value) {
    let place = |extra: Value| merged(json!({"item_id": item["id"], "output_index": index, "content_index": 0}), extra);
    let part = &item["content"][0];
    let said = text(part, "text");
    let empty = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
    events.push("response.content_part.added", place(json!({"part": empty})));
    for piece in sse::pieces(said) {
        events.push("response.output_text.delta", place(json!({"delta": piece, "logprobs": []})));
    }
    events.push("response.output_text.done", place(json!({"text": said, "logprobs": []})));
    events.push("response.content_part.done", place(json!({"part": part})));
}

fn reasoning(events: &mut Events, index: usize, item: &Value) {
    let place = |extra: Value| merged(json!({"item_id": item["id"], "output_index": index, "summary_index": 0}), extra);
    for part in items(item, "summary") {
        let thought = text(part, "text");
        let empty = json!({"type": "summary_text", "text": ""});
        events.push("response.reasoning_summary_part.added", place(json!({"part": empty})));
        for piece in sse::pieces(thought) {
            events.push("response.reasoning_summary_text.delta", place(json!({"delta": piece})));
        }
        events.push("response.reasoning_summary_text.done", place(json!({"text": thought})));
        events.push("response.reasoning_summary_part.done", place(json!({"part": part})));
    }
}

fn call(events: &mut Events, index: usize, item: &Value) {
    let place = |extra: Value| merged(json!({"item_id": item["id"], "output_index": index}), extra);
    let arguments = text(item, "arguments");
    for piece in sse::pieces(arguments) {
        events.push("response.function_call_arguments.delta", place(json!({"delta": piece})));
    }
    let done = json!({"arguments": arguments, "name": item["name"]});
    events.push("response.function_call_arguments.done", place(done));
}

fn merged(mut base: Value, extra: Value) -> Value {
    if let (Some(base), Value::Object(extra)) = (base.as_object_mut(), extra) {
        base.extend(extra);
    }
    base
}
