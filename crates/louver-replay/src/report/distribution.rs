//! How a number is spread over conversations.

/// Sorted values without the missing ones.
#[derive(Clone, Debug, Default)]
pub struct Distribution(Vec<f64>);

impl Distribution {
    /// Leaves the missing values out.
    pub fn of(values: impl Iterator<Item = Option<f64>>) -> Self {
        let mut values: Vec<f64> = values.flatten().collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The value below which a share of the values lie, between two neighbours where it has to be.
    ///
    /// ```
    /// use louver_replay::report::Distribution;
    ///
    /// let values = Distribution::of([Some(4.0), None, Some(1.0), Some(2.0)].into_iter());
    /// assert_eq!(values.quantile(0.5), Some(2.0));
    /// assert_eq!(values.quantile(0.75), Some(3.0));
    /// ```
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a position in a list"
    )]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let last = self.0.len().checked_sub(1)?;
        let position = share.clamp(0.0, 1.0) * last as f64;
        let below = position.floor() as usize;
        let (low, high) = (self.0[below], self.0[(below + 1).min(last)]);
        Some(low + (high - low) * (position - below as f64))
    }

    /// The average.
    #[expect(clippy::cast_precision_loss, reason = "a number of conversations")]
    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    /// The sum.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }
}
