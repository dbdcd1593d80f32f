//! What it would cost to have back what is missing.

use crate::cache::{Settled, Tariff};
use louver::catalog::Cost;
use std::collections::{BTreeMap, HashSet};

/// What a recall brings back of one message at most.
const PASSAGE_TOKENS: u64 = 500;
/// What asking for it takes, as output and then as input.
const CALL_TOKENS: u64 = 60;

/// Something that an answer refers to and the request lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The line or the passage.
    pub what: u64,
    /// The message in which it last stood.
    pub message: usize,
    /// What that message takes.
    pub message_tokens: u64,
    /// Whether a search would find the line.
    pub is_found: bool,
}

/// Recalls of one run: where an answer needs what its request lacks, one more request is made that brings it back, and it
/// stays until the next cut.
///
/// It overstates, because not every name in an answer was needed, and understates, because a model that does not know
/// what it lost will not ask.
#[derive(Clone, Debug, Default)]
pub struct Recalls {
    /// Requests that were needed besides.
    pub requests: u64,
    /// What they cost, and what carrying along what they brought back cost.
    pub cost: Cost,
    recalled: HashSet<u64>,
    /// Messages that were read again as a whole.
    read_again: HashSet<usize>,
    tokens: u64,
}

impl Recalls {
    /// A cut takes away what was brought back.
    pub fn cut(&mut self) {
        self.recalled.clear();
        self.read_again.clear();
        self.tokens = 0;
    }

    /// Takes note of a request and of what it lacks.
    pub fn request(&mut self, tariff: &Tariff, settled: Settled, lost: impl IntoIterator<Item = Lost>) {
        self.cost += self.carried(tariff, settled);
        let is_missing = |one: &Lost| !self.recalled.contains(&one.what) && !self.read_again.contains(&one.message);
        let missing: Vec<Lost> = lost.into_iter().filter(is_missing).collect();
        if missing.is_empty() {
            return;
        }
        let mut messages: BTreeMap<usize, (u64, bool)> = BTreeMap::new();
        for one in &missing {
            let (_, is_found) = messages.entry(one.message).or_insert((one.message_tokens, true));
            *is_found &= one.is_found;
        }
        let brought =
            |(tokens, is_found): &(u64, bool)| if *is_found { (*tokens).min(PASSAGE_TOKENS) } else { *tokens };
        let written = messages.values().map(brought).sum::<u64>() + CALL_TOKENS;
        let read = settled.total() + self.tokens;
        let prices = tariff.prices_at(read + written);
        self.cost += prices.cache_read.of(read) + prices.cache_write.of(written) + prices.output.of(CALL_TOKENS);
        self.tokens += written;
        self.requests += 1;
        self.recalled.extend(missing.iter().map(|one| one.what));
        let whole = messages.iter().filter(|(_, (_, is_found))| !is_found).map(|(message, _)| *message);
        self.read_again.extend(whole);
    }

    /// What was brought back is read with the request, and may bring it above a price step.
    fn carried(&self, tariff: &Tariff, settled: Settled) -> Cost {
        if self.tokens == 0 {
            return Cost::ZERO;
        }
        let with = Settled { read: settled.read + self.tokens, ..settled };
        tariff.input_cost(with).less(tariff.input_cost(settled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use louver::catalog::Catalog;

    fn tariff() -> Tariff {
        let prices: crate::CachePrices = "1.25/0.1".parse().unwrap();
        let model = Catalog::builtin().find("claude-sonnet-4-5").unwrap().model;
        Tariff { tiers: Vec::new(), ..Tariff::of_model(&model).with_multiples(prices.write, prices.read) }
    }

    const SENT: Settled = Settled { uncached: 0, written: 1_000, read: 9_000 };

    fn lost(what: u64, message: usize, is_found: bool) -> Lost {
        Lost { what, message, message_tokens: 3_000, is_found }
    }

    /// A cost as input tokens, output being priced like `output` of them.
    fn input_tokens(cost: Cost) -> f64 {
        let tariff = tariff();
        cost.usd() / tariff.prices.input.of(1_000_000).usd() * 1e6
    }

    #[test]
    fn a_recall_reads_the_view_and_writes_a_passage_for_each_message() {
        let mut recalls = Recalls::default();
        recalls.request(&tariff(), SENT, [lost(1, 4, true), lost(2, 4, true), lost(3, 5, true)]);
        let output = 60.0 * 5.0;
        let expected = 10_000.0 * 0.1 + (2.0 * 500.0 + 60.0) * 1.25 + output;
        assert!((input_tokens(recalls.cost) - expected).abs() < 0.01, "{}", input_tokens(recalls.cost));
        recalls.request(&tariff(), SENT, [lost(2, 4, true)]);
        let carried = 1_060.0 * 0.1;
        assert_eq!(recalls.requests, 1, "what was recalled stays");
        assert!((input_tokens(recalls.cost) - expected - carried).abs() < 0.01);
        recalls.cut();
        recalls.request(&tariff(), SENT, [lost(2, 4, true)]);
        assert_eq!(recalls.requests, 2, "until the next cut");
    }

    #[test]
    fn what_no_search_finds_is_read_again_as_a_whole() {
        let mut recalls = Recalls::default();
        recalls.request(&tariff(), SENT, [lost(1, 4, false), lost(2, 4, true)]);
        let expected = 10_000.0 * 0.1 + 3_060.0 * 1.25 + 300.0;
        assert!((input_tokens(recalls.cost) - expected).abs() < 0.01, "{}", input_tokens(recalls.cost));
        recalls.request(&tariff(), SENT, [lost(9, 4, false)]);
        assert_eq!(recalls.requests, 1, "all of its lines are there");
    }
}
