//! Cache marks, on the way out and on the way in. They are outside the law of bytes: the log never sees them.

use crate::json::{Cursor, JsonError, Kind, Span};
use crate::wire::Splice;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The mark itself.
pub const CACHE_MARK: &str = r#"{"type":"ephemeral"}"#;

/// Members that say nothing but how to cache.
const MARKS: [&str; 2] = ["cache_control", "prompt_cache_breakpoint"];

#[derive(Deserialize)]
struct Holder<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    cache_control: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: &'a RawValue,
}

/// The message with a mark on its last block that can carry one; `None` where none can or one does already.
///
/// ```
/// use louver::cache_mark::with_cache_mark;
///
/// let marked = with_cache_mark(r#"{"role":"user","content":"Hi"}"#).unwrap();
/// assert_eq!(marked, r#"{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral"}}]}"#);
/// assert_eq!(with_cache_mark(&marked), None);
/// ```
#[must_use]
pub fn with_cache_mark(raw: &str) -> Option<String> {
    let holder: Holder<'_> = serde_json::from_str(raw).ok()?;
    let content = holder.content.get();
    if content.starts_with('"') {
        let block = format!("[{{\"type\":\"text\",\"text\":{content},\"cache_control\":{CACHE_MARK}}}]");
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
    Some(replaced(raw, block, &format!("{open},\"cache_control\":{CACHE_MARK}}}")))
}

/// Whether a message may carry a mark. The word may stand in a text, too; no message without it is read.
#[must_use]
pub fn may_be_marked(raw: &str) -> bool {
    MARKS.iter().any(|mark| memmem::find(raw.as_bytes(), mark.as_bytes()).is_some())
}

/// The message without marks: its own, and those of its blocks and of the blocks that these hold. What is no message is
/// left as it is.
///
/// ```
/// use louver::cache_mark::{with_cache_mark, without_cache_marks};
///
/// let raw = r#"{"role":"user","content":[{"type":"text","text":"What does \"cache_control\" do?"}]}"#;
/// assert_eq!(without_cache_marks(&with_cache_mark(raw).unwrap()), raw);
/// let call = r#"{"content":[{"type":"tool_use","input":{"cache_control":1}}]}"#;
/// assert_eq!(without_cache_marks(call), call); // somebody's data
/// ```
#[must_use]
pub fn without_cache_marks(raw: &str) -> Cow<'_, str> {
    if !may_be_marked(raw) {
        return Cow::Borrowed(raw);
    }
    let mut marks = Splice::default();
    match find_marks(&mut Cursor::new(raw), &mut marks) {
        Ok(()) if !marks.is_empty() => Cow::Owned(marks.apply(raw)),
        _ => Cow::Borrowed(raw),
    }
}

/// Passes a message or a block.
fn find_marks(cursor: &mut Cursor<'_>, marks: &mut Splice) -> Result<(), JsonError> {
    let raw = cursor.source();
    let mut end_of_last = cursor.offset();
    cursor.object(|key, cursor| {
        let is_mark = MARKS.contains(&key);
        match key {
            "content" | "output" if cursor.kind()? == Kind::Array => {
                cursor.array(|_, cursor| match cursor.kind()? {
                    Kind::Object => find_marks(cursor, marks),
                    _ => cursor.skip().map(drop),
                })?;
            }
            _ => {
                let value = cursor.skip()?;
                let key_start =
                    raw[end_of_last..].find('"').map(|at| Span { start: (end_of_last + at) as u32, ..value });
                key_start.filter(|_| is_mark).into_iter().for_each(|mark| marks.remove(mark));
            }
        }
        end_of_last = cursor.offset();
        Ok(())
    })
}

/// What a message is known by, however it is marked: without marks, and with a string in place of a single text block.
/// Whoever marks a string has to make a block of it.
///
/// ```
/// use louver::cache_mark::{unmarked_form, with_cache_mark};
///
/// let raw = r#"{"role":"user","content":"Hi"}"#;
/// assert_eq!(unmarked_form(&with_cache_mark(raw).unwrap()), raw);
/// ```
#[must_use]
pub fn unmarked_form(raw: &str) -> Cow<'_, str> {
    let raw = without_cache_marks(raw);
    match with_bare_text(&raw) {
        Some(bare) => Cow::Owned(bare),
        None => raw,
    }
}

fn with_bare_text(raw: &str) -> Option<String> {
    let holder: Holder<'_> = serde_json::from_str(raw).ok()?;
    let content = holder.content.get();
    let [block] = *serde_json::from_str::<Vec<&RawValue>>(content).ok()? else { return None };
    let block: Text<'_> = serde_json::from_str(block.get()).ok()?;
    (block.kind == "text").then(|| replaced(raw, content, block.text.get()))
}

/// `raw` with one of its own slices replaced.
fn replaced(raw: &str, slice: &str, by: &str) -> String {
    let start = slice.as_ptr() as usize - raw.as_ptr() as usize;
    format!("{}{by}{}", &raw[..start], &raw[start + slice.len()..])
}

#[cfg(test)]
mod tests {
    use super::{unmarked_form, without_cache_marks};
    use serde_json::{Value, json};

    #[test]
    fn marks_are_members_of_messages_and_blocks() {
        let mark = json!({ "type": "ephemeral", "ttl": "1h" });
        let message = |marked: bool| {
            let mut nested = json!({ "type": "text", "text": "\"cache_control\": {}" });
            let mut data =
                json!({ "type": "tool_use", "input": { "cache_control": mark, "content": [{ "cache_control": 1 }] } });
            let mut own = json!({ "role": "user", "prompt_cache": 1 });
            if marked {
                nested["cache_control"] = mark.clone();
                data["cache_control"] = Value::Null;
                own["cache_control"] = mark.clone();
                own["prompt_cache_breakpoint"] = json!(true);
            }
            let result = json!({ "type": "tool_result", "content": [nested, "cache_control"] });
            own["content"] = json!([data, result, 7]);
            own
        };
        for raw in [message(true).to_string(), format!("{:#}", message(true))] {
            let bare: Value = serde_json::from_str(&without_cache_marks(&raw)).unwrap();
            assert_eq!(bare, message(false), "{raw}");
        }
    }

    #[test]
    fn what_is_no_message_stays() {
        for raw in [
            "",
            "\"cache_control\"",
            "[\"cache_control\"",
            r#"{"cache_control":1"#,
            r#"{"content":[{"cache_control"}]}"#,
        ] {
            assert_eq!((&*without_cache_marks(raw), &*unmarked_form(raw)), (raw, raw));
        }
        assert_eq!(without_cache_marks(r#"{ "cache_control" : {} }"#), "{  }");
    }
}
