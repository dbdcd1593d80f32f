//! Cache marks on the outgoing copy. They are outside the law of bytes: the log never sees them.

use crate::provider::request::Request;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;

pub(super) fn mark() -> Value {
    json!({"type": "ephemeral"})
}

/// The messages, with a mark where the last request ended, so that its entry is found however many blocks came since,
/// and one at the end, for the next. With those on tools and system these are four at most.
pub(super) fn marked<'a>(request: &Request<'a>) -> Vec<Cow<'a, str>> {
    let mut messages: Vec<Cow<'a, str>> = request.messages.iter().map(|raw| Cow::Borrowed(*raw)).collect();
    let stable = request.stable_messages.min(messages.len()).checked_sub(1);
    let last = messages.len().checked_sub(1);
    for index in [stable.filter(|index| Some(*index) != last), last].into_iter().flatten() {
        if let Some(marked) = with_mark(request.messages[index]) {
            messages[index] = Cow::Owned(marked);
        }
    }
    messages
}

#[derive(Deserialize)]
struct Holder<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    cache_control: Option<Value>,
}

/// The message with a mark on its last block that can carry one; `None` where none can or one does already.
fn with_mark(raw: &str) -> Option<String> {
    let holder: Holder<'_> = serde_json::from_str(raw).ok()?;
    let content = holder.content.get();
    if content.starts_with('"') {
        let block = format!("[{{\"type\":\"text\",\"text\":{content},\"cache_control\":{}}}]", mark());
        return Some(replaced(raw, content, &block));
    }
    let blocks: Vec<&RawValue> = serde_json::from_str(content).ok()?;
    let carries = |block: &&&RawValue| {
        let block: Option<Block<'_>> = serde_json::from_str(block.get()).ok();
        block.is_some_and(|block| !matches!(&*block.kind, "thinking" | "redacted_thinking"))
    };
    let block = blocks.iter().rev().find(carries)?.get();
    let parsed: Block<'_> = serde_json::from_str(block).ok()?;
    if parsed.cache_control.is_some() {
        return None;
    }
    let open = block.trim_end().strip_suffix('}')?;
    Some(replaced(raw, block, &format!("{open},\"cache_control\":{}}}", mark())))
}

/// `raw` with one of its own slices replaced.
fn replaced(raw: &str, slice: &str, by: &str) -> String {
    let start = slice.as_ptr() as usize - raw.as_ptr() as usize;
    format!("{}{by}{}", &raw[..start], &raw[start + slice.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked_raw(messages: Vec<&str>, stable_messages: usize) -> Vec<String> {
        let request = Request { stable_messages, ..Request::new("m", 1, messages) };
        marked(&request).into_iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn the_end_and_the_last_stable_message_are_marked() {
        let marked = marked_raw(
            vec![
                r#"{"role":"user","content":"a"}"#,
                r#"{"role":"assistant", "content":[{"type":"text","text":"b"}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"c"}]}"#,
            ],
            1,
        );
        assert_eq!(
            marked,
            [
                r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#,
                r#"{"role":"assistant", "content":[{"type":"text","text":"b"}]}"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"c","cache_control":{"type":"ephemeral"}}]}"#,
            ]
        );
    }

    #[test]
    fn thinking_carries_no_mark() {
        let thinking = r#"{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"thinking","thinking":"t","signature":"s"}]}"#;
        let marked = marked_raw(vec![thinking], 0);
        assert!(marked[0].contains(r#""text":"b","cache_control""#), "{}", marked[0]);
        let alone = r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}"#;
        assert_eq!(marked_raw(vec![alone], 0), [alone]);
    }
}
