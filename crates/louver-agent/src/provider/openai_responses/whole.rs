//! Answers of the Responses API in one piece.

use crate::provider::answer::{Answer, StopReason};
use crate::provider::dialect::Unreadable;
use crate::provider::error::ProviderError;
use crate::usage::Usage;
use louver::Format;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The items are read apart from the rest: flattening would copy them.
#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow, default)]
    output: Vec<&'a RawValue>,
}

/// How an answer ended.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Ending {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Incomplete>,
    #[serde(default)]
    usage: Value,
}

#[derive(Debug, Deserialize)]
struct Incomplete {
    reason: Option<String>,
}

pub(super) fn whole(text: &str) -> Result<Answer, Unreadable> {
    let output: Output<'_> = serde_json::from_str(text)?;
    let ending: Ending = serde_json::from_str(text)?;
    let items: Vec<String> = output.output.iter().map(|item| item.get().to_owned()).collect();
    answer(&items, ending)
}

/// Items and ending as an answer.
pub(super) fn answer(items: &[String], ending: Ending) -> Result<Answer, Unreadable> {
    if let Some(error) = ending.error.filter(|error| !error.is_null()) {
        return Err(Unreadable::Failed(ProviderError::in_stream(&error)));
    }
    let usage = Usage::read(Format::OpenAiResponses, &ending.usage);
    let reason = ending.incomplete_details.and_then(|details| details.reason);
    let mut answer = Answer::read(Format::OpenAiResponses, items, StopReason::EndOfTurn, usage)?;
    answer.stop = match (ending.status.as_deref(), reason.as_deref()) {
        (Some("incomplete"), Some("content_filter")) => StopReason::Refusal,
        (Some("incomplete"), _) => StopReason::MaxTokens,
        _ if !answer.calls.is_empty() => StopReason::ToolUse,
        _ => StopReason::EndOfTurn,
    };
    Ok(answer)
}
