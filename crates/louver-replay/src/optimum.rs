//! The best plan in hindsight.

use crate::cache::Tariff;
use crate::conversation::Turn;
use louver::catalog::Cost;
use louver::tokens::Millitokens;
use std::ops::Range;

/// What the best plan is looked for in.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) tariff: &'a Tariff,
    pub(crate) turns: &'a [Turn],
    /// What each message costs.
    pub(crate) amounts: &'a [Millitokens],
    /// System and tools.
    pub(crate) overhead: Millitokens,
    /// Messages at the start that are part of the static prefix and never leave.
    pub(crate) leading_system: usize,
    /// Where units start.
    pub(crate) units: &'a [Range<usize>],
    /// Whether the cache had expired at a turn.
    pub(crate) is_cold: &'a [bool],
    /// The most tokens of a request.
    pub(crate) limit_tokens: u64,
}

/// One turn of the table.
struct Step<'a> {
    previous: Option<Sizes<'a>>,
    sizes: Sizes<'a>,
    is_cold: bool,
    floor_tokens: u64,
}

/// The sizes of all suffixes of the history at one turn.
#[derive(Clone, Copy)]
struct Sizes<'a> {
    /// Sums over the messages before an index.
    before: &'a [Millitokens],
    fixed: Millitokens,
    at: usize,
}

impl Sizes<'_> {
    /// What a request costs that starts at this message.
    fn from(&self, start: usize) -> Millitokens {
        self.fixed + self.before[self.at].saturating_sub(self.before[start])
    }
}

impl Problem<'_> {
    /// The input cost of the cheapest plan that only drops whole oldest units, never leaves less than the floor behind
    /// a cut and never sends more than the limit. Where no cut satisfies both, the smallest cut that fits is taken,
    /// and where nothing fits, the newest unit alone.
    ///
    /// Exact: the state of the cache follows from where the request starts now and where the one before started, so a
    /// table over starts, carried from turn to turn, holds every plan. O(turns * units).
    pub(crate) fn best(&self, floor_tokens: u64) -> Cost {
        let before = sums(self.amounts);
        let fixed = self.overhead + before[self.leading_system];
        let starts = self.starts();
        let mut costs: Vec<Option<Cost>> = vec![None; starts.len()];
        let mut previous: Option<Sizes<'_>> = None;
        for (number, turn) in self.turns.iter().enumerate() {
            let sizes = Sizes { before: &before, fixed, at: turn.at };
            let open = starts.partition_point(|start| *start < turn.at).clamp(1, starts.len());
            let step = Step { previous, sizes, is_cold: self.is_cold[number], floor_tokens };
            costs = self.carry(&costs, &starts[..open], &step);
            previous = Some(sizes);
        }
        costs.into_iter().flatten().min().unwrap_or(Cost::ZERO)
    }

    /// Where a request can start: at each unit behind the static part.
    fn starts(&self) -> Vec<usize> {
        let later = self.units.iter().map(|unit| unit.start).filter(|start| *start > self.leading_system);
        std::iter::once(self.leading_system).chain(later).collect()
    }

    /// One turn: for each start the cheapest plan that has it now.
    fn carry(&self, before: &[Option<Cost>], starts: &[usize], step: &Step<'_>) -> Vec<Option<Cost>> {
        let fits = |start: &usize| step.sizes.from(*start).ceil_tokens() <= self.limit_tokens;
        let first_fit = starts.iter().position(fits).unwrap_or(starts.len().saturating_sub(1));
        let mut costs = vec![None; before.len()];
        // The cheapest plan that started anywhere before this start.
        let mut cheapest: Option<Cost> = None;
        for (number, start) in starts.iter().enumerate() {
            if number >= first_fit {
                let is_allowed = number == first_fit || step.sizes.from(*start).ceil_tokens() >= step.floor_tokens;
                let stay = self.stay(before[number], *start, step);
                let cut = if is_allowed { self.cut(cheapest, number, *start, step) } else { None };
                costs[number] = stay.into_iter().chain(cut).min();
            }
            cheapest = cheapest.into_iter().chain(before[number]).min();
        }
        costs
    }

    /// The request before started here too: the cache has all of it.
    fn stay(&self, before: Option<Cost>, start: usize, step: &Step<'_>) -> Option<Cost> {
        match &step.previous {
            Some(previous) => before.map(|cost| cost + self.price(start, previous.from(start), step)),
            None if start == self.leading_system => Some(self.price(start, Millitokens::ZERO, step)),
            None => None,
        }
    }

    /// The request before started earlier: the cache has the static part.
    fn cut(&self, cheapest: Option<Cost>, number: usize, start: usize, step: &Step<'_>) -> Option<Cost> {
        match &step.previous {
            Some(_) => cheapest.map(|cost| cost + self.price(start, step.sizes.fixed, step)),
            None if number > 0 => Some(self.price(start, Millitokens::ZERO, step)),
            None => None,
        }
    }

    fn price(&self, start: usize, known: Millitokens, step: &Step<'_>) -> Cost {
        let known = if step.is_cold { Millitokens::ZERO } else { known };
        self.tariff.input_cost(self.tariff.cache.settle(step.sizes.from(start), known))
    }
}

fn sums(amounts: &[Millitokens]) -> Vec<Millitokens> {
    let mut sum = Millitokens::ZERO;
    let running = amounts.iter().map(|amount| {
        sum += *amount;
        sum
    });
    std::iter::once(Millitokens::ZERO).chain(running).collect()
}

#[cfg(test)]
#[path = "optimum_tests.rs"]
mod tests;
