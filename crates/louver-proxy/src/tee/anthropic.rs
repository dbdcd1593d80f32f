//! Where the facts stand in answers of the Messages API.

use super::usage::{number, set};
use super::{Meaning, Reading};
use crate::ending::AnswerUsage;
use serde_json::Value;

pub(super) const READING: Reading = Reading {
    paths: &[
        &["type"],
        &["message", "id"],
        &["message", "model"],
        &["message", "usage"],
        &["delta", "stop_reason"],
        &["id"],
        &["model"],
        &["stop_reason"],
        &["usage"],
        &["error"],
    ],
    meanings: &[
        Meaning::Kind,
        Meaning::Id,
        Meaning::Model,
        Meaning::Usage,
        Meaning::Stop,
        Meaning::Id,
        Meaning::Model,
        Meaning::Stop,
        Meaning::Usage,
        Meaning::Error,
    ],
    leading: &["message_start", "ping"],
    failing: &["error"],
    usage,
};

fn usage(value: &Value, figures: &mut AnswerUsage) {
    set(&mut figures.input_tokens, &value["input_tokens"]);
    set(&mut figures.cache_read_tokens, &value["cache_read_input_tokens"]);
    set(&mut figures.output_tokens, &value["output_tokens"]);
    set(&mut figures.reasoning_tokens, &value["output_tokens_details"]["thinking_tokens"]);
    cache_writes(value, figures);
    besides(&value["iterations"], figures);
}

/// Writes are given as a sum, and by how long they last where the API says so.
fn cache_writes(value: &Value, figures: &mut AnswerUsage) {
    if let Some(sum) = value["cache_creation_input_tokens"].as_u64() {
        let long = number(&value["cache_creation"]["ephemeral_1h_input_tokens"]).min(sum);
        // A later, cumulative figure may leave out the parts.
        let long = if value["cache_creation"].is_object() { long } else { figures.cache_write_long_tokens.min(sum) };
        figures.cache_write_long_tokens = long;
        figures.cache_write_tokens = sum - long;
    }
}

/// The API's own compaction is billed beside the answer and in none of its figures.
fn besides(iterations: &Value, figures: &mut AnswerUsage) {
    let Some(iterations) = iterations.as_array() else { return };
    let compactions = || iterations.iter().filter(|iteration| iteration["type"] == "compaction");
    let input = |iteration: &Value| {
        ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
            .iter()
            .fold(0, |sum: u64, key| sum.saturating_add(number(&iteration[*key])))
    };
    figures.beside_input_tokens = compactions().map(input).fold(0, u64::saturating_add);
    figures.beside_output_tokens =
        compactions().map(|iteration| number(&iteration["output_tokens"])).fold(0, u64::saturating_add);
}
