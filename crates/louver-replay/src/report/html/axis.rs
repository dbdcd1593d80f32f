//! Scales and their ticks.

/// Maps values to places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Axis {
    pub(super) fn new(low: f64, high: f64, start: f64, end: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { low, high, start, end }
    }

    /// Where a value lies.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        self.start + share * (self.end - self.start)
    }

    /// Round values, about as many as asked for.
    pub(super) fn ticks(&self, about: u32) -> Vec<f64> {
        let rough = (self.high - self.low) / f64::from(about.max(1));
        let power = 10_f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(rough);
        let first = (self.low / step).ceil();
        let ticks = (0..100_u32).map(|number| (first + f64::from(number)) * step);
        ticks.take_while(|tick| *tick <= self.high + step * 1e-9).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Axis;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(Axis::new(0.0, 1.0, 0.0, 1.0).ticks(5), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert_eq!(Axis::new(0.0, 190_000.0, 0.0, 1.0).ticks(4), [0.0, 50_000.0, 100_000.0, 150_000.0]);
    }

    #[test]
    fn a_value_is_mapped_in_proportion() {
        let axis = Axis::new(0.0, 10.0, 100.0, 0.0);
        assert_eq!((axis.at(0.0), axis.at(2.5), axis.at(10.0)), (100.0, 75.0, 0.0));
    }
}
