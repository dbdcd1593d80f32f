//! What requests cost, and what they would have cost without us.

use crate::ending::AnswerUsage;
use louver::catalog::{Cost, Model};
use louver_store::{NanoUsd, Usage};

/// What an answer cost at the catalogue's prices.
pub(super) fn cost(model: &Model, usage: AnswerUsage) -> NanoUsd {
    let prices = model.prices_at(usage.prompt_tokens());
    let parts = [
        prices.input.of(usage.input_tokens.saturating_add(usage.beside_input_tokens)),
        prices.cache_read.of(usage.cache_read_tokens),
        prices.cache_write.of(usage.cache_write_tokens),
        prices.cache_write_1h.of(usage.cache_write_long_tokens),
        prices.output.of(usage.output_tokens.saturating_add(usage.beside_output_tokens)),
    ];
    nanodollars(parts.into_iter().sum())
}

fn nanodollars(cost: Cost) -> NanoUsd {
    NanoUsd(i64::try_from(cost.picodollars() / 1_000).unwrap_or(i64::MAX))
}

/// The usage as the account has it.
pub(super) fn usage(usage: AnswerUsage) -> Usage {
    Usage {
        input: usage.input_tokens,
        cache_read: usage.cache_read_tokens,
        cache_write_5m: usage.cache_write_tokens,
        cache_write_1h: usage.cache_write_long_tokens,
        output: usage.output_tokens,
        reasoning: usage.reasoning_tokens,
    }
}

/// The practical baseline: everything is sent until it does not fit; then everything but the frame and the last request
/// goes, as clients that start over do.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Baseline {
    /// What has been let go, in the provider's tokens.
    dropped: u64,
    /// What the last request had, if one is known.
    sent: Option<u64>,
}

impl Baseline {
    /// The history became another one: what was let go of it says nothing any more.
    pub(super) fn rewind(&mut self) {
        self.dropped = 0;
    }

    /// What a request would have cost that holds so many of the provider's tokens.
    pub(super) fn request(
        &mut self,
        model: &Model,
        held: u64,
        limit: u64,
        is_cold: bool,
        usage: AnswerUsage,
    ) -> NanoUsd {
        let mut tokens = held.saturating_sub(self.dropped);
        // Of a conversation that is new in memory the provider says what it knew.
        let sent = self.sent.unwrap_or(usage.cache_read_tokens);
        let mut known = sent.min(tokens);
        if tokens > limit {
            // What is left is about what is new since the request before.
            let left = tokens.saturating_sub(sent).min(limit);
            self.dropped = held - left;
            (tokens, known) = (left, 0);
        }
        let read = if is_cold { 0 } else { known };
        self.sent = Some(tokens);
        let prices = model.prices_at(tokens);
        let caches = usage.cache_read_tokens + usage.cache_write_tokens + usage.cache_write_long_tokens > 0;
        let written = match (caches, usage.cache_write_long_tokens > usage.cache_write_tokens) {
            (false, _) => prices.input,
            (true, true) => prices.cache_write_1h,
            (true, false) => prices.cache_write,
        };
        let read_price = if caches { prices.cache_read } else { prices.input };
        let answer = prices.output.of(usage.output_tokens);
        nanodollars(read_price.of(read) + written.of(tokens - read) + answer)
    }
}
