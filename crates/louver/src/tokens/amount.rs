//! Amounts of tokens in thousandths, and the fixed-point factors that scale them.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of tokens in thousandths.
///
/// A list is counted piece by piece, and the sum is rounded up once, over the list: four
/// messages of one character each are one token at four characters per token, not four.
/// So pieces carry thousandths and only [`ceil_tokens`](Self::ceil_tokens) rounds.
///
/// Integers make the sum independent of the order of addition and of the machine.
/// Arithmetic saturates: no input panics or wraps.
///
/// ```
/// use louver::tokens::Millitokens;
///
/// let one_character = Millitokens::new(250);
/// let list: Millitokens = std::iter::repeat_n(one_character, 5).sum();
/// assert_eq!(list, Millitokens::new(1250));
/// assert_eq!(list.ceil_tokens(), 2);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Millitokens(u64);

impl Millitokens {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// So many thousandths of a token.
    #[must_use]
    pub const fn new(thousandths: u64) -> Self {
        Self(thousandths)
    }

    /// So many whole tokens.
    ///
    /// ```
    /// use louver::tokens::Millitokens;
    ///
    /// assert_eq!(Millitokens::from_tokens(3), Millitokens::new(3000));
    /// ```
    #[must_use]
    pub const fn from_tokens(tokens: u64) -> Self {
        Self(tokens.saturating_mul(1000))
    }

    /// The thousandths themselves.
    #[must_use]
    pub const fn thousandths(self) -> u64 {
        self.0
    }

    /// Whole tokens, rounded up. Call it once, on the sum of a list.
    #[must_use]
    pub const fn ceil_tokens(self) -> u64 {
        self.0.div_ceil(1000)
    }

    /// What is left after `other`, or nothing when `other` is larger.
    ///
    /// ```
    /// use louver::tokens::Millitokens;
    ///
    /// let (one, two) = (Millitokens::from_tokens(1), Millitokens::from_tokens(2));
    /// assert_eq!(two.saturating_sub(one), one);
    /// assert_eq!(one.saturating_sub(two), Millitokens::ZERO);
    /// ```
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// What is left after `other`; `None` when `other` is larger.
    ///
    /// ```
    /// use louver::tokens::Millitokens;
    ///
    /// let (one, two) = (Millitokens::from_tokens(1), Millitokens::from_tokens(2));
    /// assert_eq!(two.checked_sub(one), Some(one));
    /// assert_eq!(one.checked_sub(two), None);
    /// ```
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The amount times `factor`, to the nearest thousandth (halves up).
    ///
    /// ```
    /// use louver::tokens::{Factor, Millitokens};
    ///
    /// let counted = Millitokens::from_tokens(1000);
    /// assert_eq!(counted.scaled(Factor::from_thousandths(1180)).ceil_tokens(), 1180);
    /// ```
    #[must_use]
    pub fn scaled(self, factor: Factor) -> Self {
        let product = u128::from(self.0) * u128::from(factor.0);
        Self(rounded_div(product, u128::from(Factor::ONE.0)))
    }
}

impl Millitokens {
    /// The amount times `factor`, rounded down: parts never sum to more than the whole does.
    ///
    /// ```
    /// use louver::tokens::{Factor, Millitokens};
    ///
    /// assert_eq!(Millitokens::new(999).scaled_down(Factor::from_thousandths(500)), Millitokens::new(499));
    /// ```
    #[must_use]
    pub fn scaled_down(self, factor: Factor) -> Self {
        let product = u128::from(self.0) * u128::from(factor.0) / u128::from(Factor::ONE.0);
        Self(u64::try_from(product).unwrap_or(u64::MAX))
    }
}

impl Add for Millitokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Millitokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Millitokens {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Self> for Millitokens {
    fn sum<I: Iterator<Item = &'a Self>>(amounts: I) -> Self {
        amounts.copied().sum()
    }
}

/// A non-negative factor in millionths.
///
/// Fixed point instead of a float, so that two machines with the same log reach the same
/// decision to the byte.
///
/// ```
/// use louver::tokens::Factor;
///
/// assert_eq!(Factor::ratio(3, 2), Some(Factor::from_thousandths(1500)));
/// assert_eq!(Factor::ratio(3, 0), None);
/// assert_eq!(Factor::from_thousandths(1500).to_string(), "1.500");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Factor(u64);

impl Factor {
    /// The factor that changes nothing.
    pub const ONE: Self = Self(1_000_000);

    /// So many millionths.
    #[must_use]
    pub const fn from_millionths(millionths: u64) -> Self {
        Self(millionths)
    }

    /// So many thousandths: `1180` is 1.18.
    #[must_use]
    pub const fn from_thousandths(thousandths: u32) -> Self {
        Self(thousandths as u64 * 1000)
    }

    /// `numerator / denominator`, to the nearest millionth; `None` when divided by nothing.
    #[must_use]
    pub fn ratio(numerator: u64, denominator: u64) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let scaled = u128::from(numerator) * u128::from(Self::ONE.0);
        Some(Self(rounded_div(scaled, u128::from(denominator))))
    }

    /// The millionths themselves.
    #[must_use]
    pub const fn millionths(self) -> u64 {
        self.0
    }
}

impl Default for Factor {
    fn default() -> Self {
        Self::ONE
    }
}

impl std::fmt::Display for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let thousandths = self.0.saturating_add(500) / 1000;
        write!(f, "{}.{:03}", thousandths / 1000, thousandths % 1000)
    }
}

/// `numerator / denominator` to the nearest integer, halves up; the largest `u64` when it
/// does not fit. The denominator is never zero here.
fn rounded_div(numerator: u128, denominator: u128) -> u64 {
    let rounded = numerator.saturating_add(denominator / 2) / denominator;
    u64::try_from(rounded).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_rounded_once() {
        let parts = [Millitokens::new(250); 4];
        let sum: Millitokens = parts.iter().sum();
        assert_eq!(sum.ceil_tokens(), 1);
        assert_eq!(parts.iter().map(|part| part.ceil_tokens()).sum::<u64>(), 4);
    }

    #[test]
    fn nothing_is_zero_tokens() {
        assert_eq!(Millitokens::default().ceil_tokens(), 0);
        assert_eq!(Vec::<Millitokens>::new().into_iter().sum::<Millitokens>(), Millitokens::ZERO);
    }

    #[test]
    fn extremes_saturate_instead_of_wrapping() {
        let most = Millitokens::new(u64::MAX);
        assert_eq!(most + most, most);
        assert_eq!(Millitokens::from_tokens(u64::MAX), most);
        assert_eq!(most.scaled(Factor::from_thousandths(2000)), most);
        assert_eq!(most.ceil_tokens(), u64::MAX / 1000 + 1);
    }

    #[test]
    fn scaling_rounds_to_the_nearest_thousandth() {
        let third = Factor::ratio(1, 3).unwrap();
        assert_eq!(Millitokens::new(10).scaled(third), Millitokens::new(3));
        assert_eq!(Millitokens::new(5).scaled(third), Millitokens::new(2));
        assert_eq!(Millitokens::new(7).scaled(Factor::ONE), Millitokens::new(7));
    }
}
