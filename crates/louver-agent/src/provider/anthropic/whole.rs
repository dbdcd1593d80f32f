//! Answers of the Messages API in one piece.

use super::stop_reason;
use crate::provider::answer::Answer;
use crate::provider::dialect::Unreadable;
use crate::usage::Usage;
use louver::Format;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    stop_reason: Option<String>,
    #[serde(default)]
    usage: RawUsage,
}

#[derive(Deserialize, Default)]
struct BlockText {
    text: Option<String>,
}

/// The `usage` object; a stream gives it in parts.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct RawUsage {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl RawUsage {
    /// Later figures replace earlier ones.
    pub(super) fn update(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens = later.cache_creation_input_tokens.or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later.cache_read_input_tokens.or(self.cache_read_input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
    }

    pub(super) fn usage(self) -> Usage {
        Usage {
            input_tokens: self.input_tokens.unwrap_or_default(),
            output_tokens: self.output_tokens.unwrap_or_default(),
            cache_read_tokens: self.cache_read_input_tokens.unwrap_or_default(),
            cache_write_tokens: self.cache_creation_input_tokens.unwrap_or_default(),
        }
    }
}

pub(super) fn whole(text: &str) -> Result<Answer, Unreadable> {
    let whole: Whole<'_> = serde_json::from_str(text)?;
    let blocks: Vec<&str> = whole.content.iter().map(|block| block.get()).collect();
    let stop = stop_reason(whole.stop_reason.as_deref().unwrap_or_default());
    Ok(Answer::read(Format::Anthropic, &message(&blocks), stop, whole.usage.usage())?)
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
