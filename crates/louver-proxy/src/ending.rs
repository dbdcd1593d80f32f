//! How a model request ended, with everything its answer said.

use crate::model_request::{Purpose, UpstreamName};
use crate::outcome::Outcome;
use http::StatusCode;
use louver::Format;
use std::time::Duration;

/// A model request that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Answered {
    /// Where it went or would have gone.
    pub upstream: UpstreamName,
    /// Its wire format.
    pub format: Format,
    /// What it was for.
    pub purpose: Purpose,
    /// How it ended.
    pub outcome: Outcome,
    /// The status that the client got; `None` if it was gone before there was one.
    pub status: Option<StatusCode>,
    /// How its answer ended.
    pub end: End,
    /// What the answer said about itself.
    pub said: Said,
    /// How many refusals were answered by sending again.
    pub rescues: u8,
    /// From the request's head to the answer's first byte.
    pub first_byte: Option<Duration>,
    /// From the request's head to the end.
    pub duration: Duration,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// It was passed on to its last byte.
    Whole,
    /// The upstream could not be reached, broke off or fell silent.
    UpstreamFailed,
    /// The client went away.
    ClientGone,
    /// The answer was ours: a refusal.
    Own,
}

/// What an answer said about itself, as far as it was read. A doubt ends the reading, never the passing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The provider's own figures.
    pub usage: Option<AnswerUsage>,
    /// Why the model stopped, in the provider's word.
    pub stop_reason: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The id that the provider gave the answer.
    pub response_id: Option<String>,
    /// The id under which the provider can be asked about the request.
    pub request_id: Option<String>,
    /// An error, of an error answer or inside a stream.
    pub error: Option<ErrorSaid>,
    /// Whether the answer could not be read to its end, so that figures may be missing.
    pub is_doubtful: bool,
}

/// An error as the provider words it. The message is not kept, because it can quote content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSaid {
    /// The provider's code or type.
    pub code: String,
}

/// The tokens of one answer. No prompt token is in two of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerUsage {
    /// Tokens of the prompt that were neither read from the cache nor written to it.
    pub input_tokens: u64,
    /// Tokens of the prompt that the provider had cached.
    pub cache_read_tokens: u64,
    /// Tokens of the prompt that the provider cached now, for its short time (five or thirty minutes).
    pub cache_write_tokens: u64,
    /// Tokens of the prompt that the provider cached now for longer (one or twelve hours).
    pub cache_write_long_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the answer that were reasoning, where the provider says so.
    pub reasoning_tokens: u64,
    /// Tokens that the provider read beside the answer, for a compaction of its own; in none of the other figures.
    pub beside_input_tokens: u64,
    /// Tokens that it wrote for that.
    pub beside_output_tokens: u64,
}

impl AnswerUsage {
    /// The whole prompt.
    #[must_use]
    pub fn prompt_tokens(self) -> u64 {
        self.input_tokens
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
            .saturating_add(self.cache_write_long_tokens)
    }
}
