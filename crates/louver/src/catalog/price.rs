//! Prices and costs as exact integers.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::Deserialize;

use crate::tokens::Factor;

/// A price per token in picodollars: a dollar per million tokens is a million of them.
///
/// List prices have at most six decimals per million tokens, so they are exact here, and a
/// sum over many requests does not depend on the order of addition as it would with floats.
///
/// ```
/// use louver::catalog::Price;
///
/// let price = Price::from_usd_per_million(1.25).expect("a price");
/// assert_eq!(price.picodollars_per_token(), 1_250_000);
/// assert_eq!(price.of(2_000_000).usd(), 2.5);
/// assert_eq!(Price::from_usd_per_million(-1.0), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(u64);

impl Price {
    /// The price of so many dollars per million tokens, to the picodollar per token; `None`
    /// when it is negative, not a number, or above a million dollars.
    pub fn from_usd_per_million(usd: f64) -> Option<Self> {
        let sane = (0.0..=1e6).contains(&usd);
        sane.then(|| Self((usd * 1e6).round() as u64))
    }

    /// Picodollars per token.
    pub const fn picodollars_per_token(self) -> u64 {
        self.0
    }

    /// Dollars per million tokens, for people.
    pub fn usd_per_million(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// What so many tokens cost.
    pub const fn of(self, tokens: u64) -> Cost {
        Cost(self.0 as u128 * tokens as u128)
    }

    /// A multiple of this price, to the nearest picodollar per token.
    ///
    /// ```
    /// use louver::catalog::Price;
    /// use louver::tokens::Factor;
    ///
    /// let input = Price::from_usd_per_million(3.0).expect("a price");
    /// assert_eq!(input.times(Factor::from_thousandths(1250)).usd_per_million(), 3.75);
    /// ```
    #[must_use]
    pub fn times(self, factor: Factor) -> Self {
        let product = u128::from(self.0) * u128::from(factor.millionths());
        let rounded = (product + 500_000) / 1_000_000;
        Self(u64::try_from(rounded).unwrap_or(u64::MAX))
    }
}

/// An amount of money in picodollars.
///
/// ```
/// use louver::catalog::{Cost, Price};
///
/// let price = Price::from_usd_per_million(0.1).expect("a price");
/// let total: Cost = [1, 2, 7].into_iter().map(|tokens| price.of(tokens)).sum();
/// assert_eq!(total, price.of(10));
/// assert_eq!(total.picodollars(), 1_000_000);
/// ```
///
/// ```
/// use louver::catalog::{Cost, Price};
///
/// let price = Price::from_usd_per_million(3.0).unwrap();
/// assert_eq!((Cost::ZERO + price.of(1_000)).usd(), 0.003);
/// assert_eq!(price.usd_per_million(), 3.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(u128);

impl Cost {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many dollars; `None` when it is negative, not a number, or above a million of them.
    ///
    /// ```
    /// use louver::catalog::Cost;
    ///
    /// assert_eq!(Cost::from_usd(0.25).map(Cost::usd), Some(0.25));
    /// assert_eq!(Cost::from_usd(-1.0), None);
    /// ```
    pub fn from_usd(usd: f64) -> Option<Self> {
        Price::from_usd_per_million(usd).map(|price| price.of(1_000_000))
    }

    /// What is left of this when the other is spent.
    ///
    /// ```
    /// use louver::catalog::Cost;
    ///
    /// let [one, three] = [1.0, 3.0].map(|usd| Cost::from_usd(usd).expect("an amount"));
    /// assert_eq!((three.less(one).usd(), one.less(three)), (2.0, Cost::ZERO));
    /// ```
    #[must_use]
    pub const fn less(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Picodollars.
    pub const fn picodollars(self) -> u128 {
        self.0
    }

    /// Dollars, for people.
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::ZERO, Add::add)
    }
}

/// What a token costs, by what happens to it. Every price is there: where a provider has
/// none of its own for something, it is the one that it bills instead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Prices {
    /// A token read for the first time, and not cached.
    pub input: Price,
    /// A token written by the model.
    pub output: Price,
    /// A token read from the cache; the input price where reads have no discount.
    pub cache_read: Price,
    /// A token read and written to the cache; the input price where writes cost nothing extra.
    pub cache_write: Price,
    /// The same with the longer lifetime, where there is one.
    pub cache_write_1h: Price,
}

impl Prices {
    /// The higher of two prices for each kind of token.
    #[must_use]
    pub(super) fn dearer(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
            cache_write_1h: self.cache_write_1h.max(other.cache_write_1h),
        }
    }
}

/// Prices for requests above a size. They apply to the whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tier {
    /// The tier applies to requests with more input than this.
    pub above_input_tokens: u64,
    /// The prices of every token of such a request.
    pub prices: Prices,
}

/// Prices as the table lists them, in dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl Listed {
    /// Every price, missing ones filled in; `None` when one is no price.
    ///
    /// A written token is also read, so a write price below the input price is none: the
    /// table has zeros for providers that write for free, and once a read price in its place.
    pub(super) fn prices(&self) -> Option<Prices> {
        let input = Price::from_usd_per_million(self.input?)?;
        let output = Price::from_usd_per_million(self.output?)?;
        let cache_read = or(self.cache_read, input)?;
        let cache_write = or(self.cache_write, input)?.max(input);
        let cache_write_1h = or(self.cache_write_1h, cache_write)?.max(cache_write);
        Some(Prices { input, output, cache_read, cache_write, cache_write_1h })
    }

    /// The prices of a tier: what it leaves out rises in step with its input price.
    pub(super) fn tier(&self, base: &Prices) -> Option<Prices> {
        let input = or(self.input, base.input)?;
        let step = Factor::ratio(input.0, base.input.0).unwrap_or(Factor::ONE);
        let cache_write = or(self.cache_write, base.cache_write.times(step))?.max(input);
        Some(Prices {
            input,
            output: or(self.output, base.output)?,
            cache_read: or(self.cache_read, base.cache_read.times(step))?,
            cache_write,
            cache_write_1h: or(self.cache_write_1h, base.cache_write_1h.times(step))?.max(cache_write),
        })
    }
}

/// The listed price, or the other where none is listed; `None` when the listed is no price.
fn or(listed: Option<f64>, other: Price) -> Option<Price> {
    listed.map_or(Some(other), Price::from_usd_per_million)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usd(price: f64) -> Price {
        Price::from_usd_per_million(price).unwrap()
    }

    #[test]
    fn missing_prices_are_the_ones_billed_instead() {
        let listed = Listed { input: Some(2.0), output: Some(8.0), cache_read: Some(0.5), ..Listed::default() };
        let prices = listed.prices().unwrap();
        assert_eq!((prices.cache_write, prices.cache_write_1h), (usd(2.0), usd(2.0)));
        let listed = Listed { input: Some(2.0), output: Some(8.0), ..Listed::default() };
        assert_eq!(listed.prices().unwrap().cache_read, usd(2.0));
    }

    #[test]
    fn a_write_never_costs_less_than_reading_the_token() {
        let free = Listed { input: Some(0.3), output: Some(1.2), cache_write: Some(0.0), ..Listed::default() };
        assert_eq!(free.prices().unwrap().cache_write, usd(0.3));
    }

    #[test]
    fn a_tier_raises_what_it_leaves_out_with_its_input() {
        let listed = Listed {
            input: Some(0.1),
            output: Some(0.5),
            cache_read: Some(0.01),
            cache_write: Some(0.125),
            cache_write_1h: Some(0.2),
        };
        let above = Listed { input: Some(0.5), output: Some(2.5), ..Listed::default() };
        let tier = above.tier(&listed.prices().unwrap()).unwrap();
        let expected = Prices {
            input: usd(0.5),
            output: usd(2.5),
            cache_read: usd(0.05),
            cache_write: usd(0.625),
            cache_write_1h: usd(1.0),
        };
        assert_eq!(tier, expected);
    }

    #[test]
    fn what_is_no_price_is_refused() {
        for bad in [-0.1, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(Price::from_usd_per_million(bad), None);
            assert_eq!(Listed { input: Some(bad), output: Some(1.0), ..Listed::default() }.prices(), None);
        }
    }
}
