//! Tokens that calls were billed for.

use louver::Format;
use louver::catalog::{Cost, Model};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::ops::AddAssign;

/// The tokens of one call, or the sum of several. No token is in two of the figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt that were neither read from the cache nor written to it.
    pub input_tokens: u64,
    /// Tokens of the answer.
    pub output_tokens: u64,
    /// Tokens of the prompt that the provider had cached.
    pub cache_read_tokens: u64,
    /// Tokens of the prompt that the provider cached now.
    pub cache_write_tokens: u64,
}

impl Usage {
    /// What a provider's own `usage` object says; nothing where there is none.
    pub(crate) fn read(format: Format, usage: &Value) -> Self {
        let prompt = louver::Usage::from_response(format, &json!({ "usage": usage }).to_string()).unwrap_or_default();
        let output = ["output_tokens", "completion_tokens"].iter().find_map(|key| louver::Usage::figure(&usage[*key]));
        Self {
            input_tokens: prompt.input,
            output_tokens: output.unwrap_or_default(),
            cache_read_tokens: prompt.cache_read,
            cache_write_tokens: prompt.cache_write,
        }
    }

    /// The whole prompt.
    pub fn prompt_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.cache_read_tokens).saturating_add(self.cache_write_tokens)
    }

    /// What one call with this usage costs.
    pub fn cost(self, model: &Model) -> Cost {
        let prices = model.prices_at(self.prompt_tokens());
        prices.input.of(self.input_tokens)
            + prices.output.of(self.output_tokens)
            + prices.cache_read.of(self.cache_read_tokens)
            + prices.cache_write.of(self.cache_write_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
    }
}
