//! An answer of the `generateContent` API as events.

use serde_json::{Value, json};

use super::reply;
use crate::body::text;
use crate::provider::Reply;
use crate::sse;

pub(super) fn events(reply: &Reply<'_>) -> Vec<String> {
    let parts: Vec<Value> = reply::parts(reply).iter().flat_map(split).collect();
    if parts.is_empty() {
        return vec![sse::unnamed(&reply::whole(reply))];
    }
    let count = parts.len() as u64;
    let total = reply.usage.visible_output;
    let mut events: Vec<String> = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let is_last = index as u64 + 1 == count;
        let so_far = total * (index as u64 + 1) / count;
        events.push(sse::unnamed(&reply::chunk(reply, &[part], is_last, so_far)));
    }
    events
}

/// A text part as several; any other part as it is.
fn split(part: &Value) -> Vec<Value> {
    if part.get("text").is_none() {
        return vec![part.clone()];
    }
    let pieces = sse::pieces(text(part, "text"));
    let with_text = |piece: &&str| {
        let mut split = part.clone();
        split["text"] = json!(piece);
        split
    };
    pieces.iter().map(with_text).collect()
}
