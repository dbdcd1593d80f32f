//! Where the facts stand in answers of the Responses API.

use super::openai_chat::of_totals;
use super::usage::number;
use super::{Meaning, Reading};
use crate::ending::AnswerUsage;
use serde_json::Value;

pub(super) const READING: Reading = Reading {
    paths: &[
        &["type"],
        &["response", "id"],
        &["response", "model"],
        &["response", "status"],
        &["response", "incomplete_details", "reason"],
        &["response", "usage"],
        &["response", "error"],
        &["id"],
        &["model"],
        &["status"],
        &["incomplete_details", "reason"],
        &["usage"],
        &["error"],
        &["code"],
        &["message"],
    ],
    meanings: &[
        Meaning::Kind,
        Meaning::Id,
        Meaning::Model,
        Meaning::Stop,
        Meaning::Stop,
        Meaning::Usage,
        Meaning::Error,
        Meaning::Id,
        Meaning::Model,
        Meaning::Stop,
        Meaning::Stop,
        Meaning::Usage,
        Meaning::Error,
        Meaning::ErrorCode,
        Meaning::ErrorMessage,
    ],
    leading: &["response.created", "response.in_progress", "response.queued"],
    failing: &["error", "response.failed"],
    usage,
};

fn usage(value: &Value, figures: &mut AnswerUsage) {
    *figures = of_totals(&value["input_tokens"], &value["input_tokens_details"]);
    figures.output_tokens = number(&value["output_tokens"]);
    figures.reasoning_tokens = number(&value["output_tokens_details"]["reasoning_tokens"]);
}
