//! Cache marks on the outgoing copy. They are outside the law of bytes: the log never sees them.

use crate::provider::request::Request;
use louver::cache_mark::with_cache_mark;
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
        if let Some(marked) = with_cache_mark(request.messages[index]) {
            messages[index] = Cow::Owned(marked);
        }
    }
    messages
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
