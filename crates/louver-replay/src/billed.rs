//! What a provider really billed, request by request.

use louver::catalog::{Cost, Prices};

/// One request as its provider billed it, and as the client recorded it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Billed {
    /// Where its answer starts in the conversation.
    pub at: usize,
    /// The provider's or client's own name for it; the same request in two files has the same.
    pub id: Option<String>,
    /// The model that answered, if the record says.
    pub model: Option<String>,
    /// Input that was neither read from the cache nor written to it.
    pub uncached: u64,
    /// Input read from the cache.
    pub read: u64,
    /// Input written to the cache for the usual life.
    pub written: u64,
    /// Input written to the cache for an hour.
    pub written_1h: u64,
    /// Output, thinking included.
    pub output: u64,
}

impl Billed {
    /// All input tokens.
    pub fn input(&self) -> u64 {
        self.uncached + self.read + self.written + self.written_1h
    }

    /// Whether most of what was written was to live for an hour; `None` where nothing was written.
    pub fn is_long_lived(&self) -> Option<bool> {
        (self.written + self.written_1h > 0).then_some(self.written_1h > self.written)
    }

    /// What it cost at these prices.
    pub fn cost(&self, prices: &Prices) -> Cost {
        prices.input.of(self.uncached)
            + prices.cache_read.of(self.read)
            + prices.cache_write.of(self.written)
            + prices.cache_write_1h.of(self.written_1h)
            + prices.output.of(self.output)
    }
}

/// One bill over another; nothing where that is nothing.
pub(crate) fn ratio(cost: Cost, other: Cost) -> Option<f64> {
    (other > Cost::ZERO).then(|| cost.picodollars() as f64 / other.picodollars() as f64)
}
