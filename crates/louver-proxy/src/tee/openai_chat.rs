//! Where the facts stand in answers of Chat Completions.

use super::usage::number;
use super::{Meaning, Reading};
use crate::ending::AnswerUsage;
use serde_json::Value;

pub(super) const READING: Reading = Reading {
    paths: &[&["id"], &["model"], &["choices", "*", "finish_reason"], &["usage"], &["error"]],
    meanings: &[Meaning::Id, Meaning::Model, Meaning::Stop, Meaning::Usage, Meaning::Error],
    // Its events have no kinds; what comes before the first is comments.
    leading: &[],
    failing: &[],
    usage,
};

fn usage(value: &Value, figures: &mut AnswerUsage) {
    *figures = of_totals(&value["prompt_tokens"], &value["prompt_tokens_details"]);
    figures.output_tokens = number(&value["completion_tokens"]);
    figures.reasoning_tokens = number(&value["completion_tokens_details"]["reasoning_tokens"]);
}

/// Both of OpenAI's APIs give the whole prompt, and what of it was cached beside it.
pub(super) fn of_totals(total: &Value, details: &Value) -> AnswerUsage {
    let cache_read_tokens = number(&details["cached_tokens"]);
    let writes = number(&details["cache_write_tokens"]);
    let long = number(&details["cache_write_tokens_details"]["ttl_12h_tokens"]).min(writes);
    AnswerUsage {
        input_tokens: number(total).saturating_sub(cache_read_tokens).saturating_sub(writes),
        cache_read_tokens,
        cache_write_tokens: writes - long,
        cache_write_long_tokens: long,
        ..AnswerUsage::default()
    }
}
