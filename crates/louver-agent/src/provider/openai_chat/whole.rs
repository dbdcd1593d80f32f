//! Answers of the Chat Completions API in one piece.

use super::{CacheDetails, stop_reason};
use crate::provider::answer::Answer;
use crate::provider::dialect::Unreadable;
use crate::usage::Usage;
use louver::Format;
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Whole<'a> {
    #[serde(borrow)]
    choices: Vec<Choice<'a>>,
    usage: Option<RawUsage>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    finish_reason: Option<String>,
}

/// The `usage` object.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct RawUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<CacheDetails>,
}

impl RawUsage {
    pub(super) fn usage(self) -> Usage {
        self.prompt_tokens_details.unwrap_or_default().usage(self.prompt_tokens, self.completion_tokens)
    }
}

pub(super) fn whole(text: &str) -> Result<Answer, Unreadable> {
    let whole: Whole<'_> = serde_json::from_str(text)?;
    let first = whole.choices.first().ok_or_else(|| Unreadable::Broken("the answer has no choice".to_owned()))?;
    let stop = stop_reason(first.finish_reason.as_deref().unwrap_or_default());
    let usage = whole.usage.unwrap_or_default().usage();
    Ok(worth_keeping(Answer::read(Format::OpenAiChat, &[first.message.get().to_owned()], stop, usage)?))
}

/// A message without text and calls says nothing and would be refused when it comes back.
pub(super) fn worth_keeping(mut answer: Answer) -> Answer {
    if answer.text.is_empty() && answer.calls.is_empty() {
        answer.messages.clear();
    }
    answer
}
