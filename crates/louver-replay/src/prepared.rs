//! Everything about a conversation that no policy changes.

use crate::assumptions::{Assumptions, AssumptionsError};
use crate::cache::{Piece, Settled};
use crate::contents::Contents;
use crate::conversation::{Conversation, Turn};
use crate::fitted::{Fitted, ScaledCounter, find};
use crate::law::Law;
use crate::optimum::{OwnCut, Problem};
use crate::options::Options;
use crate::retention::{Reference, Retrieval, Retrieved, references};
use crate::terms::{Books, Cache, Clock};
use louver::Role;
use louver::budget::{Budget, NothingLeft};
use louver::catalog::Cost;
use louver::search::Sight;
use louver::tokens::{Factor, Millitokens};
use std::sync::Arc;

/// A conversation ready to be replayed under any number of policies: counted, read and judged once.
#[derive(Debug)]
pub(crate) struct Prepared<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) assumptions: Assumptions,
    pub(crate) turns: Vec<Turn>,
    pub(crate) contents: Contents,
    /// Each message's number among the contents.
    pub(crate) log: Vec<u32>,
    pub(crate) amounts: Vec<Millitokens>,
    pub(crate) overhead: Millitokens,
    /// What the provider's counts come to, where they are recorded.
    pub(crate) fitted: Option<Fitted>,
    pub(crate) leading_system: usize,
    pub(crate) references: Vec<Vec<Reference>>,
    pub(crate) law: Law,
    pub(crate) clock: Clock,
    retrieval: Retrieval<'a>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(conversation: &'a Conversation, options: &Options) -> Result<Self, AssumptionsError> {
        let turns = conversation.turns();
        let mut assumptions = Assumptions::of(conversation, &turns, options)?;
        let mut contents = Contents::new(Arc::clone(assumptions.counter()));
        let log: Vec<u32> = conversation.messages.iter().map(|message| contents.number(message)).collect();
        let leading_system = conversation.leading_system();
        let known_from_start = known_from_start(conversation, &mut contents, &log, leading_system);
        let messages: Vec<_> = log.iter().map(|number| contents.names_and_lines(*number)).collect();
        let references = references(&messages, &turns, &known_from_start);
        let counted: Vec<_> = log.iter().map(|number| contents.amount(*number)).collect();
        let fitted = Fitted::of(&conversation.billed, &turns, &counted);
        let overhead = conversation.overhead(&**assumptions.counter(), options.overhead);
        let overhead = fitted.map_or(overhead, |fitted| fitted.overhead);
        let factor = fitted.map_or(Factor::ONE, |fitted| fitted.factor);
        contents.scale(factor);
        assumptions.window.counter = ScaledCounter::of(Arc::clone(assumptions.counter()), factor);
        Ok(Self {
            overhead,
            fitted,
            amounts: log.iter().map(|number| contents.amount(*number)).collect(),
            law: Law::of(conversation),
            clock: Clock::of(conversation, options, &turns, overhead),
            conversation,
            assumptions,
            turns,
            contents,
            log,
            leading_system,
            references,
            retrieval: Retrieval::of(&conversation.messages),
        })
    }

    /// Whether a turn is this conversation's own, and not counted in another.
    pub(crate) fn counts(&self, turn: usize) -> bool {
        turn >= self.conversation.counted_elsewhere
    }

    /// Whether each of its own requests has a recorded bill.
    pub(crate) fn is_all_billed(&self) -> bool {
        let mut own = self.turns.iter().skip(self.conversation.counted_elsewhere);
        own.all(|turn| find(&self.conversation.billed, turn).is_some())
    }

    /// The output of a turn in tokens: what was billed, or else what the recorded answer counts.
    pub(crate) fn output_tokens(&self, turn: &Turn) -> u64 {
        let billed = find(&self.conversation.billed, turn).map(|billed| billed.output).filter(|output| *output > 0);
        let counted = || self.amounts[turn.at..turn.answer_end].iter().sum::<Millitokens>().ceil_tokens();
        billed.unwrap_or_else(counted)
    }

    /// Whether a request of so many tokens leaves too little for the reply.
    pub(crate) fn overflows(&self, turn: usize, tokens: u64) -> bool {
        let budget = self.assumptions.at(turn).budget;
        tokens.saturating_add(budget.reserve()) > budget.context_window()
    }

    /// Empty caches.
    pub(crate) fn books(&self) -> Books {
        Books::new(&self.assumptions.terms, self.overhead)
    }

    /// Bills the request of a turn.
    pub(crate) fn settle(&self, books: &mut Books, turn: usize, pieces: &[Piece], leading: usize) -> Settled {
        books.settle(self.assumptions.at(turn), self.clock.at(turn), pieces, leading)
    }

    /// Whether the cache was cold when a turn's request was made.
    pub(crate) fn is_cold(&self, turn: usize) -> bool {
        let is_said = matches!(self.clock.caches[turn], Cache::Cold(_));
        let Some(before) = turn.checked_sub(1) else {
            return is_said;
        };
        let (now, then) = (self.assumptions.at(turn), self.assumptions.at(before));
        let pause = self.clock.times[turn].saturating_sub(self.clock.times[before]);
        let has_expired = now.cache != then.cache || pause >= then.tariff.cache.ttl_millis;
        is_said || has_expired
    }

    /// Whether the cache had all of the request before when a turn's request was made.
    pub(crate) fn is_warm(&self, turn: usize) -> bool {
        !self.is_cold(turn) && self.clock.caches[turn] == Cache::ByTime
    }

    /// The input cost of the best times to cut in hindsight, for a policy that made these cuts.
    pub(crate) fn optimum(&self, cuts: &[OwnCut], reach: &[Option<Millitokens>]) -> Option<Cost> {
        let tariffs: Vec<_> = (0..self.turns.len()).map(|turn| &self.assumptions.at(turn).tariff).collect();
        let budget = self.assumptions.budget;
        let problem = Problem {
            tariffs: &tariffs,
            turns: &self.turns,
            counted_elsewhere: self.conversation.counted_elsewhere,
            amounts: &self.amounts,
            overhead: self.overhead,
            reach,
            limit_tokens: budget.context_window().saturating_sub(budget.reserve()),
        };
        problem.best(cuts)
    }

    /// What a search brings back from what was left out, for whoever sees the rest.
    pub(crate) fn retrieve(&mut self, query: &str, sight: &Sight, is_left_out: impl Fn(usize) -> bool) -> Retrieved {
        self.retrieval.search(query, sight, is_left_out, &mut self.contents.numbering)
    }
}

/// A budget that allows all of the window but the reply.
pub(crate) fn without_margin(budget: Budget) -> Result<Budget, NothingLeft> {
    // A budget keeps a tenth of its window free, so that a ninth more keeps nothing.
    Budget::new((budget.context_window() * 10).div_ceil(9), Some(budget.reserve()))
}

/// The identifiers of the system prompt and of the first user message, ascending.
fn known_from_start(
    conversation: &Conversation,
    contents: &mut Contents,
    log: &[u32],
    leading_system: usize,
) -> Vec<u32> {
    let mut known: Vec<u32> =
        conversation.system.iter().flat_map(|text| contents.numbering.identifiers_of(text)).collect();
    let first_user = conversation.messages.iter().position(|message| message.shape().role == Role::User);
    for index in (0..leading_system).chain(first_user) {
        known.extend(&contents.names_and_lines(log[index]).identifiers);
    }
    known.sort_unstable();
    known.dedup();
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_margin_all_but_the_reply_may_be_used() {
        for (window, reserve) in [(200_000, 8_192), (60_000, 8_192), (62_001, 1_000), (1_000_000, 64_000)] {
            let budget = without_margin(Budget::new(window, Some(reserve)).unwrap()).unwrap();
            assert_eq!(budget.allowed_tokens(), window - reserve);
        }
    }
}
