//! The counter for a model.

use super::model::Model;
#[cfg(feature = "exact-counts")]
use crate::tokens::{Bpe, Encoding};
use crate::tokens::{Chars4, Counter, CounterChoice, Estimate, ImageFormula, Tokenizer};
use std::sync::Arc;

impl CounterChoice {
    /// The counter for `model`.
    ///
    /// `Auto` takes tokenizer and image formula from the model, and is `chars4` without one.
    /// A counter chosen by name counts the same for every model; images then by the length
    /// of their data.
    ///
    /// ```
    /// # #[cfg(all(feature = "catalog", feature = "exact-counts"))] {
    /// use louver::catalog::Catalog;
    /// use louver::tokens::CounterChoice;
    ///
    /// let found = Catalog::builtin().find("claude-opus-5-5").expect("a known model");
    /// let counter = CounterChoice::Auto.resolve(Some(&found.model));
    /// assert_eq!(counter.name(), "claude-4.7 (estimate)");
    /// assert_eq!(CounterChoice::Auto.resolve(None).name(), "chars4");
    /// assert_eq!(CounterChoice::Cl100k.resolve(Some(&found.model)).name(), "cl100k");
    /// # }
    /// ```
    pub fn resolve(self, model: Option<&Model>) -> Arc<dyn Counter> {
        match (self, model) {
            (Self::Chars4, _) | (Self::Auto, None) => Arc::new(Chars4),
            #[cfg(feature = "exact-counts")]
            (Self::O200k, _) => counter(Tokenizer::O200k, ImageFormula::DataLength),
            #[cfg(feature = "exact-counts")]
            (Self::Cl100k, _) => counter(Tokenizer::Cl100k, ImageFormula::DataLength),
            (Self::Auto, Some(model)) => counter(model.traits.tokenizer, model.traits.image),
        }
    }
}

fn counter(tokenizer: Tokenizer, image: ImageFormula) -> Arc<dyn Counter> {
    match tokenizer {
        #[cfg(feature = "exact-counts")]
        Tokenizer::O200k => Arc::new(Bpe::new(Encoding::O200k, image)),
        #[cfg(feature = "exact-counts")]
        Tokenizer::Cl100k => Arc::new(Bpe::new(Encoding::Cl100k, image)),
        #[cfg(not(feature = "exact-counts"))]
        Tokenizer::O200k => Arc::new(Estimate::o200k(image)),
        #[cfg(not(feature = "exact-counts"))]
        Tokenizer::Cl100k => Arc::new(Estimate::cl100k(image)),
        Tokenizer::Claude3 => Arc::new(Estimate::claude_3(image)),
        Tokenizer::Claude47 => Arc::new(Estimate::claude_4_7(image)),
        Tokenizer::Gemini => Arc::new(Estimate::gemini(image)),
        Tokenizer::Other => Arc::new(Estimate::other(image)),
    }
}

#[cfg(all(test, feature = "catalog", feature = "exact-counts"))]
#[path = "counting_tests.rs"]
mod tests;
