//! One model.

use super::price::{Prices, Tier};
use super::traits::Traits;

/// What is known about a model.
///
/// ```
/// # #[cfg(feature = "catalog")] {
/// let found = louver::catalog::Catalog::builtin().find("claude-sonnet-5-5").unwrap();
/// let model = &found.model;
/// assert!(model.prices_at(1_000).input.of(1_000_000).usd() > 0.0 && model.max_output.is_some());
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// Its name in the catalogue, with the provider's prefix where it has one there.
    pub name: String,
    /// The provider whose prices these are: `anthropic`, `openai`, `gemini`, ...
    pub provider: String,
    /// The most tokens that input and output can have together.
    pub context_window: u64,
    /// The most tokens of an answer, where the provider states it.
    pub max_output: Option<u64>,
    /// The prices of requests below every tier.
    pub prices: Prices,
    /// The prices of larger requests, smallest first.
    pub tiers: Vec<Tier>,
    /// The smallest prefix that the provider caches.
    pub cache_min_tokens: u64,
    /// The day from which the provider refuses it, as `2026-11-30`.
    pub retires: Option<String>,
    /// What it is like otherwise.
    pub traits: Traits,
}

impl Model {
    /// The prices of a request with so many input tokens, cached ones included.
    ///
    /// A tier applies to the whole request once its input is above the tier's size.
    ///
    /// ```
    /// # #[cfg(feature = "catalog")] {
    /// use louver::catalog::Catalog;
    ///
    /// let model = Catalog::builtin().find("claude-haiku-5-5").expect("a known model").model;
    /// assert_eq!(model.prices_at(100_000).input.usd_per_million(), 0.1);
    /// assert_eq!(model.prices_at(100_001).input.usd_per_million(), 0.5);
    /// # }
    /// ```
    pub fn prices_at(&self, input_tokens: u64) -> &Prices {
        let tier = self.tiers.iter().rev().find(|tier| input_tokens > tier.above_input_tokens);
        tier.map_or(&self.prices, |tier| &tier.prices)
    }
}
