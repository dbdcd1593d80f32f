//! Correcting a counter by the usage that providers report.

use super::amount::{Factor, Millitokens};

/// Corrects a counter by what the provider says the same request had.
///
/// Every answer reports the true size of its request. Its ratio to our count is the error of
/// the counter on this conversation, and it is much the same from turn to turn. The
/// correction follows the median of the last nine ratios, so that single wild reports do not
/// move it, and by at most a twentieth per report, so that no single request changes the
/// plan by more than that.
///
/// Pure fixed point: the same reports give the same factor on every machine.
///
/// ```
/// use louver::tokens::{Calibration, Millitokens};
///
/// let mut calibration = Calibration::default();
/// let counted = Millitokens::from_tokens(10_000);
/// for _ in 0..10 {
///     calibration.report(counted, 13_000);
/// }
/// assert_eq!(calibration.apply(counted).ceil_tokens(), 13_000);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calibration {
    factor: Factor,
    /// The last believable ratios, oldest first.
    recent: Vec<Factor>,
}

/// What became of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The factor followed it, or already agreed with it.
    Used,
    /// Too small to tell an error from overhead.
    TooSmall,
    /// No counter is that wrong: the two figures are of different requests.
    Unbelievable,
    /// Far from the median of its predecessors. It is remembered, so that the factor follows
    /// if such reports become the rule.
    Outlier,
}

/// Reports remembered.
const MEMORY: usize = 9;
/// Below so many counted tokens, fixed overhead outweighs the counter's error.
const SMALLEST: Millitokens = Millitokens::from_tokens(200);
/// Ratios outside of this band are not believed.
const BAND: (Factor, Factor) = (Factor::from_thousandths(250), Factor::from_thousandths(4000));
/// A ratio further from the median than by this factor is an outlier.
const NEAR_THOUSANDTHS: u64 = 1300;
/// Reports before the median can judge.
const EXPERIENCE: usize = 4;
/// The factor moves by at most this part of itself per report.
const STEP_PART: u64 = 20;

impl Calibration {
    /// Takes in that a request which the counter (uncorrected) held for `counted` had
    /// `reported_tokens` by the provider's account, cached ones included.
    ///
    /// The factor moves towards the median of the last nine ratios, by at most a twentieth
    /// of itself; `verdict` says whether this report took part.
    ///
    /// ```
    /// use louver::tokens::{Calibration, Factor, Millitokens, Verdict};
    ///
    /// let mut calibration = Calibration::default();
    /// let counted = Millitokens::from_tokens(1000);
    /// assert_eq!(calibration.report(counted, 2000), Verdict::Used);
    /// assert_eq!(calibration.factor(), Factor::from_thousandths(1050));
    /// assert_eq!(calibration.report(counted, 50_000), Verdict::Unbelievable);
    /// assert_eq!(calibration.factor(), Factor::from_thousandths(1050));
    /// ```
    pub fn report(&mut self, counted: Millitokens, reported_tokens: u64) -> Verdict {
        if counted < SMALLEST {
            return Verdict::TooSmall;
        }
        let reported = Millitokens::from_tokens(reported_tokens).thousandths();
        let Some(ratio) = Factor::ratio(reported, counted.thousandths()) else {
            return Verdict::TooSmall;
        };
        if ratio < BAND.0 || ratio > BAND.1 {
            return Verdict::Unbelievable;
        }
        let outlier = self.recent.len() >= EXPERIENCE && !near(ratio, median(&self.recent));
        self.remember(ratio);
        if outlier {
            return Verdict::Outlier;
        }
        self.step_towards(median(&self.recent));
        Verdict::Used
    }

    /// The correction so far; one before the first report.
    #[must_use]
    pub const fn factor(&self) -> Factor {
        self.factor
    }

    /// A count, corrected.
    #[must_use]
    pub fn apply(&self, counted: Millitokens) -> Millitokens {
        counted.scaled(self.factor)
    }

    fn remember(&mut self, ratio: Factor) {
        if self.recent.len() == MEMORY {
            self.recent.remove(0);
        }
        self.recent.push(ratio);
    }

    fn step_towards(&mut self, target: Factor) {
        let (now, target) = (self.factor.millionths(), target.millionths());
        let step = now / STEP_PART;
        self.factor = Factor::from_millionths(target.clamp(now - step, now + step));
    }
}

/// The lower median, so that it is always one of the reports. One for none.
fn median(ratios: &[Factor]) -> Factor {
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

fn near(ratio: Factor, median: Factor) -> bool {
    let (low, high) = if ratio < median { (ratio, median) } else { (median, ratio) };
    high.millionths() * 1000 <= low.millionths() * NEAR_THOUSANDTHS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COUNTED: Millitokens = Millitokens::from_tokens(10_000);

    #[test]
    fn it_converges_through_outliers() {
        // True ratio 1.56 with a few per cent of noise; every fourth report is wild.
        let noise = [0, 180, -240, 90, -60, 300, -150];
        let wild = [3_900, 39_000, 120_000, 2_000, 31_000];
        let mut calibration = Calibration::default();
        for turn in 0..40 {
            let honest = 15_600_i64 + noise[turn % noise.len()];
            let reported = if turn % 4 == 3 { wild[turn / 4 % wild.len()] } else { honest };
            let before = calibration.factor();
            let verdict = calibration.report(COUNTED, reported as u64);
            if turn >= 8 && turn % 4 == 3 {
                assert_ne!(verdict, Verdict::Used, "turn {turn}");
                assert_eq!(calibration.factor(), before, "turn {turn}");
            }
        }
        let corrected = calibration.apply(COUNTED).ceil_tokens();
        assert!(corrected.abs_diff(15_600) < 160, "{corrected}");
    }

    #[test]
    fn one_report_moves_it_by_a_twentieth_at_most() {
        let mut calibration = Calibration::default();
        calibration.report(COUNTED, 39_999);
        assert_eq!(calibration.factor(), Factor::from_thousandths(1050));
        let mut calibration = Calibration::default();
        calibration.report(COUNTED, 2_500);
        assert_eq!(calibration.factor(), Factor::from_thousandths(950));
    }

    #[test]
    fn a_lasting_change_is_followed_after_the_median_turns() {
        let mut calibration = Calibration::default();
        for _ in 0..20 {
            calibration.report(COUNTED, 10_000);
        }
        let verdicts: Vec<_> = (0..30).map(|_| calibration.report(COUNTED, 20_000)).collect();
        assert_eq!(verdicts.iter().filter(|verdict| **verdict == Verdict::Outlier).count(), 5);
        assert_eq!(calibration.factor(), Factor::from_thousandths(2000));
    }

    #[test]
    fn small_and_impossible_reports_change_nothing() {
        let mut calibration = Calibration::default();
        assert_eq!(calibration.report(Millitokens::ZERO, 500), Verdict::TooSmall);
        assert_eq!(calibration.report(Millitokens::from_tokens(199), 500), Verdict::TooSmall);
        assert_eq!(calibration.report(COUNTED, 0), Verdict::Unbelievable);
        assert_eq!(calibration.report(COUNTED, u64::MAX), Verdict::Unbelievable);
        assert_eq!(calibration, Calibration::default());
    }

    proptest! {
        #[test]
        fn the_factor_stays_in_the_believable_band(
            reports in prop::collection::vec((any::<u64>(), any::<u64>()), 0..80)
        ) {
            let mut calibration = Calibration::default();
            for (counted, reported) in reports {
                calibration.report(Millitokens::new(counted), reported);
                prop_assert!(calibration.factor() >= BAND.0 && calibration.factor() <= BAND.1);
            }
        }
    }
}
