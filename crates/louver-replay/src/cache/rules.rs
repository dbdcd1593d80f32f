//! A provider's cache rules and prices.

use louver::catalog::{CacheKind, Cost, Model, Prices, Tier};
use louver::economy::Economy;
use louver::tokens::{Factor, Millitokens};

const HOUR_MILLIS: i64 = 3_600_000;

/// When a prefix is cached, and in which steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheRules {
    /// Entries where the client sets marks, or the longest known prefix.
    pub kind: CacheKind,
    /// How long an entry lives after its last use, in milliseconds.
    pub ttl_millis: i64,
    /// What is read is a multiple of so many tokens.
    pub step_tokens: u64,
    /// Nothing smaller is cached.
    pub min_tokens: u64,
}

/// Cache rules with the prices that go with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tariff {
    /// The cache rules.
    pub cache: CacheRules,
    /// The prices of requests below every tier.
    pub prices: Prices,
    /// The prices of larger requests, smallest first.
    pub tiers: Vec<Tier>,
}

/// How the input tokens of one request are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Neither read from the cache nor written to it.
    pub uncached: u64,
    /// Written to the cache.
    pub written: u64,
    /// Read from the cache.
    pub read: u64,
}

impl Settled {
    /// All input tokens.
    pub fn total(self) -> u64 {
        self.uncached + self.written + self.read
    }
}

impl CacheRules {
    /// How a request is billed whose first `known` tokens the cache has.
    pub fn settle(&self, total: Millitokens, known: Millitokens) -> Settled {
        let total = total.ceil_tokens();
        if total < self.min_tokens {
            return Settled { uncached: total, ..Settled::default() };
        }
        let step = self.step_tokens.max(1);
        let known = known.ceil_tokens().min(total) / step * step;
        let read = if known < self.min_tokens { 0 } else { known };
        Settled { uncached: 0, written: total - read, read }
    }
}

impl Tariff {
    /// The rules and list prices of a model.
    pub fn of_model(model: &Model) -> Self {
        let traits = &model.traits;
        let ttl_millis = i64::try_from(traits.cache_ttl_seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        let cache = CacheRules {
            kind: traits.cache_kind,
            ttl_millis,
            step_tokens: traits.cache_step_tokens,
            min_tokens: model.cache_min_tokens,
        };
        Self { cache, prices: model.prices, tiers: model.tiers.clone() }
    }

    /// The same with cache prices that are multiples of the input price, in every tier.
    #[must_use]
    pub fn with_multiples(mut self, write: Factor, read: Factor) -> Self {
        let priced = |prices: &Prices| Prices {
            cache_write: prices.input.times(write),
            cache_read: prices.input.times(read),
            ..*prices
        };
        self.prices = priced(&self.prices);
        for tier in &mut self.tiers {
            tier.prices = priced(&tier.prices);
        }
        self
    }

    /// The same where what is written lives for an hour, at the price of that.
    #[must_use]
    pub fn long_lived(mut self) -> Self {
        self.cache.ttl_millis = HOUR_MILLIS;
        self.prices.cache_write = self.prices.cache_write_1h;
        for tier in &mut self.tiers {
            tier.prices.cache_write = tier.prices.cache_write_1h;
        }
        self
    }

    /// The same as policies see it: multiples of the input price, and where it rises.
    pub fn economy(&self) -> Economy {
        Economy::of_prices(&self.prices, self.tiers.iter().map(|tier| tier.above_input_tokens))
    }

    /// The prices of a request with so much input: a tier applies to the whole request.
    pub fn prices_at(&self, input_tokens: u64) -> &Prices {
        let tier = self.tiers.iter().rev().find(|tier| input_tokens > tier.above_input_tokens);
        tier.map_or(&self.prices, |tier| &tier.prices)
    }

    /// What the input of one request costs.
    pub fn input_cost(&self, settled: Settled) -> Cost {
        let prices = self.prices_at(settled.total());
        prices.input.of(settled.uncached) + prices.cache_write.of(settled.written) + prices.cache_read.of(settled.read)
    }

    /// What the answer to a request costs.
    pub fn output_cost(&self, input_tokens: u64, output_tokens: u64) -> Cost {
        self.prices_at(input_tokens).output.of(output_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CacheRules =
        CacheRules { kind: CacheKind::Automatic, ttl_millis: 300_000, step_tokens: 128, min_tokens: 1024 };

    fn tokens(count: u64) -> Millitokens {
        Millitokens::from_tokens(count)
    }

    #[test]
    fn what_is_known_is_read_in_steps_and_the_rest_written() {
        let settled = RULES.settle(tokens(2000), tokens(1500));
        assert_eq!(settled, Settled { uncached: 0, written: 592, read: 1408 });
    }

    #[test]
    fn nothing_is_cached_below_the_minimum() {
        assert_eq!(RULES.settle(tokens(1023), tokens(1023)), Settled { uncached: 1023, ..Settled::default() });
        assert_eq!(RULES.settle(tokens(3000), tokens(1023)), Settled { written: 3000, ..Settled::default() });
        assert_eq!(RULES.settle(tokens(1024), tokens(1024)), Settled { read: 1024, ..Settled::default() });
    }
}
