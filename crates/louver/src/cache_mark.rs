//! Anthropic's cache marks on an outgoing copy. They are outside the law of bytes: the log never sees them.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The mark itself.
pub const CACHE_MARK: &str = r#"{"type":"ephemeral"}"#;

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

/// `raw` with one of its own slices replaced.
fn replaced(raw: &str, slice: &str, by: &str) -> String {
    let start = slice.as_ptr() as usize - raw.as_ptr() as usize;
    format!("{}{by}{}", &raw[..start], &raw[start + slice.len()..])
}
