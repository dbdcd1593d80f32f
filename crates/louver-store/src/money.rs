//! Amounts of money.

use std::iter::Sum;
use std::ops::Add;

/// Billionths of a US dollar. Sums do not depend on their order, and never overflow: they stop at nine billion dollars.
///
/// ```
/// use louver_store::NanoUsd;
///
/// let total: NanoUsd = [NanoUsd(1_500_000_000), NanoUsd(250_000_000)].into_iter().sum();
/// assert_eq!(total.usd(), 1.75);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NanoUsd(pub i64);

impl NanoUsd {
    /// In dollars, to be shown.
    #[must_use]
    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for NanoUsd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for NanoUsd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::default(), Add::add)
    }
}
