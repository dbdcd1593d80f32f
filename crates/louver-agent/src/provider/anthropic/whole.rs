//! Answers of the Messages API in one piece.

use crate::provider::answer::{Answer, StopReason};
use crate::provider::dialect::Unreadable;
use crate::usage::Usage;
use louver::Format;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize, Default)]
struct BlockText {
    text: Option<String>,
}

pub(super) fn whole(text: &str) -> Result<Answer, Unreadable> {
    let whole: Whole<'_> = serde_json::from_str(text)?;
    let blocks: Vec<&str> = whole.content.iter().map(|block| block.get()).collect();
    let stop = StopReason::of(whole.stop_reason.as_deref().unwrap_or_default());
    Ok(Answer::read(Format::Anthropic, &message(&blocks), stop, Usage::read(Format::Anthropic, &whole.usage))?)
}

/// The answer as a message, byte for byte but for text blocks without text, which would be refused when they come back.
pub(super) fn message(blocks: &[&str]) -> Vec<String> {
    let says_something = |block: &&&str| {
        let text = serde_json::from_str::<BlockText>(block).unwrap_or_default().text;
        text.is_none_or(|text| !text.trim().is_empty())
    };
    let blocks: Vec<&str> = blocks.iter().filter(says_something).copied().collect();
    if blocks.is_empty() {
        return Vec::new();
    }
    vec![format!("{{\"role\":\"assistant\",\"content\":[{}]}}", blocks.join(","))]
}
