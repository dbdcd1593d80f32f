//! The best times to cut, in hindsight.

use crate::cache::Tariff;
use crate::conversation::Turn;
use louver::catalog::Cost;
use louver::tokens::Millitokens;

/// What the best times are looked for in.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    /// The prices and cache rules of each turn.
    pub(crate) tariffs: &'a [&'a Tariff],
    pub(crate) turns: &'a [Turn],
    /// Turns at the start that somebody else pays for; everything was sent there.
    pub(crate) counted_elsewhere: usize,
    /// What each message costs.
    pub(crate) amounts: &'a [Millitokens],
    /// System and tools.
    pub(crate) overhead: Millitokens,
    /// What the cache had of a turn's request at most, where it had not all of the request before.
    pub(crate) reach: &'a [Option<Millitokens>],
    /// The most tokens of a request.
    pub(crate) limit_tokens: u64,
}

/// A cut that the policy made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnCut {
    pub(crate) turn: usize,
    /// The request right behind it.
    pub(crate) tokens: u64,
    /// What of that the cache still had.
    pub(crate) read: u64,
}

/// What a cut would leave at a turn.
#[derive(Clone, Copy, Debug)]
struct Left {
    size: Millitokens,
    read: Millitokens,
}

/// A plan so far: what its request holds, and what it has cost.
#[derive(Clone, Copy, Debug)]
struct Plan {
    size: Millitokens,
    cost: Cost,
}

impl Problem<'_> {
    /// The input cost of the cheapest plan that cuts when it likes, and is never over the limit where that can be helped.
    /// A cut leaves what the policy's own cut at that turn left; between two of its cuts, what lies between what
    /// they left; before its first and behind its last, what these left. What arrives with a request comes on top.
    /// Nothing where no plan is within the limit because the policy never cut.
    ///
    /// Requests grow alike whatever was cut before, so that a plan which is both larger and dearer than another stays so
    /// and is dropped. O(turns * plans that are left).
    pub(crate) fn best(&self, cuts: &[OwnCut]) -> Option<Cost> {
        let sizes = self.sizes();
        let mut plans = vec![Plan { size: Millitokens::ZERO, cost: Cost::ZERO }];
        for number in 0..self.turns.len() {
            plans = match number < self.counted_elsewhere {
                true => vec![Plan { size: sizes[number], cost: Cost::ZERO }],
                false => self.carry(&plans, number, grown(&sizes, number), left(cuts, &sizes, number)),
            };
        }
        plans.iter().map(|plan| plan.cost).min()
    }

    /// What sending everything takes at each turn.
    fn sizes(&self) -> Vec<Millitokens> {
        let (mut sum, mut read) = (self.overhead, 0);
        let size = |turn: &Turn| {
            sum += self.amounts[read..turn.at].iter().sum();
            read = turn.at;
            sum
        };
        self.turns.iter().map(size).collect()
    }

    /// One turn: every plan goes on, or the cheapest cuts.
    fn carry(&self, plans: &[Plan], number: usize, grown: Millitokens, left: Option<Left>) -> Vec<Plan> {
        let fits = |plan: &Plan| plan.size.ceil_tokens() <= self.limit_tokens;
        let goes_on = |plan: &Plan| {
            let size = plan.size + grown;
            Plan { size, cost: plan.cost + self.price(number, size, plan.size) }
        };
        let mut next: Vec<Plan> = plans.iter().map(goes_on).filter(fits).collect();
        let cheapest = plans.iter().map(|plan| plan.cost).min();
        if let (Some(cost), Some(left), true) = (cheapest, left, number > 0) {
            let cut = Plan { size: left.size, cost: cost + self.price(number, left.size, left.read) };
            let is_beaten = next.iter().any(|plan| plan.size <= cut.size && plan.cost <= cut.cost);
            if !is_beaten && (fits(&cut) || next.is_empty()) {
                next.retain(|plan| plan.size < cut.size || plan.cost < cut.cost);
                next.push(cut);
            }
        }
        next
    }

    fn price(&self, number: usize, size: Millitokens, known: Millitokens) -> Cost {
        let known = match self.reach[number] {
            // What others kept warm; nothing was sent before.
            Some(reach) if number == 0 => reach,
            Some(reach) => known.min(reach),
            None => known,
        };
        let tariff = self.tariffs[number];
        tariff.input_cost(tariff.cache.settle(size, known))
    }
}

/// What a turn adds.
fn grown(sizes: &[Millitokens], number: usize) -> Millitokens {
    let before = number.checked_sub(1).map_or(Millitokens::ZERO, |before| sizes[before]);
    sizes[number].saturating_sub(before)
}

/// What a cut at a turn leaves, by the policy's own cuts; nothing if it made none.
fn left(cuts: &[OwnCut], sizes: &[Millitokens], number: usize) -> Option<Left> {
    let behind = cuts.partition_point(|cut| cut.turn <= number);
    let (before, after) = (behind.checked_sub(1).map(|at| cuts[at]), cuts.get(behind).copied());
    let (before, after) = (before.or(after)?, after.or(before)?);
    // What it kept of what had been sent.
    let kept = |cut: OwnCut| Millitokens::from_tokens(cut.tokens).saturating_sub(grown(sizes, cut.turn)).thousandths();
    let (from, to) = (before.turn, after.turn.max(before.turn + 1));
    let share = number.clamp(from, to) - from;
    let between = |a: u64, b: u64| {
        let (a, b, share, whole) = (u128::from(a), u128::from(b), share as u128, (to - from) as u128);
        u64::try_from((a * (whole - share) + b * share) / whole).unwrap_or(u64::MAX)
    };
    let size = Millitokens::new(between(kept(before), kept(after))) + grown(sizes, number);
    Some(Left { size, read: Millitokens::from_tokens(before.read).min(size) })
}

#[cfg(test)]
#[path = "optimum_tests.rs"]
mod tests;
