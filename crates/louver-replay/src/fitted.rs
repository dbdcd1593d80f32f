//! Overhead and counter as the recorded usage has them.

use crate::billed::Billed;
use crate::conversation::Turn;
use louver::tokens::{Counter, Factor, Image, Millitokens};
use std::sync::Arc;

/// Below this many tokens between the smallest and the largest request, the slope says nothing.
const LEAST_SPREAD: f64 = 500.0;
/// A counter that is further off than this is not off: something else was sent.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.25..=4.0;

/// What the provider counted, put as a fixed part of every request and a factor on the counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fitted {
    /// System, tools, and whatever else no message of the record holds.
    pub(crate) overhead: Millitokens,
    /// What the counter's figures are multiplied by.
    pub(crate) factor: Factor,
}

impl Fitted {
    /// The least-squares line through the requests: its residuals add up to nothing, so all requests together have as
    /// many tokens as were billed. `None` where nothing is recorded.
    pub(crate) fn of(billed: &[Billed], turns: &[Turn], amounts: &[Millitokens]) -> Option<Self> {
        let points = points(billed, turns, amounts);
        let mean = Means::of(&points)?;
        let spread = points.iter().map(|(counted, _)| counted - mean.counted);
        let widest = spread.clone().fold(0.0_f64, |widest, one| widest.max(one.abs()));
        let squares: f64 = spread.map(|one| one * one).sum();
        let products: f64 =
            points.iter().map(|(counted, billed)| (counted - mean.counted) * (billed - mean.billed)).sum();
        let slope = if points.len() >= 2 && widest >= LEAST_SPREAD { products / squares } else { 1.0 };
        let slope = slope.clamp(*PLAUSIBLE.start(), *PLAUSIBLE.end());
        let fixed = mean.billed - slope * mean.counted;
        // More was counted than billed: nothing is fixed, and the factor alone has to account for it.
        let slope = if fixed < 0.0 { mean.billed / mean.counted.max(1.0) } else { slope };
        Some(Self { overhead: millitokens(fixed.max(0.0)), factor: factor(slope) })
    }
}

/// Counted and billed tokens of each recorded request.
fn points(billed: &[Billed], turns: &[Turn], amounts: &[Millitokens]) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    let (mut sum, mut read) = (0_u64, 0);
    for turn in turns {
        sum += amounts[read..turn.at].iter().map(|amount| amount.thousandths()).sum::<u64>();
        read = turn.at;
        if let Some(one) = find(billed, turn).filter(|one| one.input() > 0) {
            points.push((sum as f64 / 1000.0, one.input() as f64));
        }
    }
    points
}

/// What was billed for the request of a turn.
pub(crate) fn find<'b>(billed: &'b [Billed], turn: &Turn) -> Option<&'b Billed> {
    billed.binary_search_by_key(&turn.at, |one| one.at).ok().map(|at| &billed[at])
}

struct Means {
    counted: f64,
    billed: f64,
}

impl Means {
    fn of(points: &[(f64, f64)]) -> Option<Self> {
        let number = points.len() as f64;
        let sums = points.iter().fold((0.0, 0.0), |sums, point| (sums.0 + point.0, sums.1 + point.1));
        (!points.is_empty()).then(|| Self { counted: sums.0 / number, billed: sums.1 / number })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "neither negative nor near 2^64")]
fn millitokens(tokens: f64) -> Millitokens {
    Millitokens::new((tokens * 1000.0).round() as u64)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn factor(value: f64) -> Factor {
    Factor::from_millionths((value.clamp(0.01, 100.0) * 1e6).round() as u64)
}

/// A counter whose figures are multiplied.
#[derive(Debug)]
pub(crate) struct ScaledCounter {
    counter: Arc<dyn Counter>,
    factor: Factor,
}

impl ScaledCounter {
    /// The counter itself where the factor changes nothing.
    pub(crate) fn of(counter: Arc<dyn Counter>, factor: Factor) -> Arc<dyn Counter> {
        if factor == Factor::ONE { counter } else { Arc::new(Self { counter, factor }) }
    }
}

impl Counter for ScaledCounter {
    fn name(&self) -> &str {
        self.counter.name()
    }

    fn stated_error(&self) -> f64 {
        self.counter.stated_error()
    }

    fn text(&self, text: &str) -> Millitokens {
        self.counter.text(text).scaled(self.factor)
    }

    fn by_length(&self, chars: u64) -> Option<Millitokens> {
        self.counter.by_length(chars).map(|amount| amount.scaled(self.factor))
    }

    fn image(&self, image: &Image<'_>) -> Millitokens {
        self.counter.image(image).scaled(self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests behind 1, 3, 5, ... messages of so many tokens each, billed as said.
    fn fitted(message_tokens: &[u64], billed: &[u64]) -> Fitted {
        let amounts: Vec<_> = message_tokens.iter().map(|tokens| Millitokens::from_tokens(*tokens)).collect();
        let turns: Vec<_> =
            (0..billed.len()).map(|number| Turn { at: 2 * number + 1, answer_end: 2 * number + 2 }).collect();
        let billed =
            turns.iter().zip(billed).map(|(turn, read)| Billed { at: turn.at, read: *read, ..Billed::default() });
        Fitted::of(&billed.collect::<Vec<_>>(), &turns, &amounts).unwrap()
    }

    #[test]
    fn what_is_fixed_is_told_from_what_grows() {
        let found = fitted(&[1_000, 0, 2_000, 0, 4_000], &[21_200, 23_600, 28_400]);
        assert_eq!((found.overhead.ceil_tokens(), found.factor), (20_000, Factor::from_thousandths(1_200)));
    }

    #[test]
    fn one_request_says_what_is_fixed_and_nothing_about_the_counter() {
        let found = fitted(&[1_000], &[21_200]);
        assert_eq!((found.overhead.ceil_tokens(), found.factor), (20_200, Factor::ONE));
    }

    #[test]
    fn a_counter_that_counts_too_much_leaves_nothing_fixed() {
        let found = fitted(&[10_000], &[8_000]);
        assert_eq!((found.overhead, found.factor), (Millitokens::ZERO, Factor::from_thousandths(800)));
    }
}
