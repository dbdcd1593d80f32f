//! Where the facts stand in answers of `generateContent`.

use super::usage::number;
use super::{Meaning, Reading};
use crate::ending::AnswerUsage;
use serde_json::Value;

pub(super) const READING: Reading = Reading {
    paths: &[
        &["responseId"],
        &["modelVersion"],
        &["candidates", "*", "finishReason"],
        &["promptFeedback", "blockReason"],
        &["usageMetadata"],
        &["error"],
    ],
    meanings: &[Meaning::Id, Meaning::Model, Meaning::Stop, Meaning::Stop, Meaning::Usage, Meaning::Error],
    leading: &[],
    failing: &[],
    usage,
};

/// Every chunk has the figures so far.
fn usage(value: &Value, figures: &mut AnswerUsage) {
    let cached = number(&value["cachedContentTokenCount"]);
    let prompt = number(&value["promptTokenCount"]).saturating_add(number(&value["toolUsePromptTokenCount"]));
    let thoughts = number(&value["thoughtsTokenCount"]);
    *figures = AnswerUsage {
        input_tokens: prompt.saturating_sub(cached),
        cache_read_tokens: cached,
        output_tokens: number(&value["candidatesTokenCount"]).saturating_add(thoughts),
        reasoning_tokens: thoughts,
        ..AnswerUsage::default()
    };
}
