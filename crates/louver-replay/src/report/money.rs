//! Dollars with the same decimals all over a column.

use louver::display;

/// How a column of dollars is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dollars {
    decimals: usize,
}

impl Dollars {
    /// As many decimals as the largest amount leaves room for.
    pub(crate) fn of(amounts: impl IntoIterator<Item = f64>) -> Self {
        let most = amounts.into_iter().map(f64::abs).fold(0.0, f64::max);
        let decimals = match most {
            most if most >= 10_000.0 => 0,
            most if most >= 1.0 || most == 0.0 => 2,
            _ => 4,
        };
        Self { decimals }
    }

    pub(crate) fn show(self, usd: f64) -> String {
        display::dollars(usd, self.decimals)
    }
}

#[cfg(test)]
mod tests {
    use super::Dollars;

    #[test]
    fn the_largest_amount_decides_for_all() {
        let small = Dollars::of([0.5, 0.01]);
        assert_eq!([small.show(0.5), small.show(0.01)], ["$0.5000", "$0.0100"]);
        assert_eq!(Dollars::of([12.0, 0.01]).show(0.01), "$0.01");
    }
}
