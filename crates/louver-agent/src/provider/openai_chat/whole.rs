//! Answers of the Chat Completions API in one piece.

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
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(borrow)]
    message: &'a RawValue,
    finish_reason: Option<String>,
}

pub(super) fn whole(text: &str) -> Result<Answer, Unreadable> {
    let whole: Whole<'_> = serde_json::from_str(text)?;
    let first = whole.choices.first().ok_or_else(|| Unreadable::Broken("the answer has no choice".to_owned()))?;
    let stop = StopReason::of(first.finish_reason.as_deref().unwrap_or_default());
    let usage = Usage::read(Format::OpenAiChat, &whole.usage);
    Ok(worth_keeping(Answer::read(Format::OpenAiChat, &[first.message.get().to_owned()], stop, usage)?))
}

/// A message without text and calls says nothing and would be refused when it comes back.
pub(super) fn worth_keeping(mut answer: Answer) -> Answer {
    if answer.text.is_empty() && answer.calls.is_empty() {
        answer.messages.clear();
    }
    answer
}
