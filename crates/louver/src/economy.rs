//! What keeping and rewriting cost.

use crate::catalog::{Model, Price, Prices};
use crate::tokens::Factor;

/// A model's cache prices as multiples of its input price, and the sizes at which it gets dearer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Economy {
    /// Writing a token to the cache.
    pub write: Factor,
    /// Reading a token from it.
    pub read: Factor,
    /// Input sizes above which every token of a request costs more, ascending.
    pub price_steps: Vec<u64>,
}

impl Default for Economy {
    /// Write 1.25, read 0.1, no price steps.
    fn default() -> Self {
        Self { write: Factor::from_thousandths(1_250), read: Factor::from_thousandths(100), price_steps: Vec::new() }
    }
}

impl Economy {
    /// A model's own.
    ///
    /// ```
    /// # #[cfg(feature = "catalog")] {
    /// use louver::catalog::Catalog;
    /// use louver::economy::Economy;
    ///
    /// let model = Catalog::builtin().find("claude-haiku-5-5").expect("a known model").model;
    /// assert_eq!(Economy::of_model(&model).price_steps, [100_000]);
    /// # }
    /// ```
    pub fn of_model(model: &Model) -> Self {
        Self::of_prices(&model.prices, model.tiers.iter().map(|tier| tier.above_input_tokens))
    }

    /// The same from prices and the sizes at which they rise; the default where input is free.
    pub fn of_prices(prices: &Prices, price_steps: impl IntoIterator<Item = u64>) -> Self {
        let input = prices.input.picodollars_per_token();
        let multiple = |price: Price| Factor::ratio(price.picodollars_per_token(), input);
        match (multiple(prices.cache_write), multiple(prices.cache_read)) {
            (Some(write), Some(read)) => Self { write, read, price_steps: price_steps.into_iter().collect() },
            _ => Self::default(),
        }
    }
}
