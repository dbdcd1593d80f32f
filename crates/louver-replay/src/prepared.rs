//! Everything about a conversation that no policy changes.

use crate::assumptions::Assumptions;
use crate::cache::{Book, Settled};
use crate::contents::Contents;
use crate::conversation::{Conversation, Turn};
use crate::law::Law;
use crate::optimum::Problem;
use crate::options::Options;
use crate::retention::{Reference, Retrieval, references};
use louver::Role;
use louver::catalog::Cost;
use louver::tokens::Millitokens;
use louver::unit::units_of;
use std::ops::Range;

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
    pub(crate) leading_system: usize,
    pub(crate) references: Vec<Vec<Reference>>,
    pub(crate) law: Law,
    pub(crate) clock: Clock,
    units: Vec<Range<usize>>,
    retrieval: Retrieval<'a>,
}

/// When each request was made, and before which the cache turned cold in any case.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) times: Vec<i64>,
    pub(crate) turns_cold: Vec<bool>,
}

/// What sending everything costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) input: Cost,
    pub(crate) output: Cost,
    pub(crate) tokens: u64,
    pub(crate) overflows: u64,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(conversation: &'a Conversation, options: &Options, assumptions: Assumptions) -> Self {
        let turns = conversation.turns();
        let mut contents = Contents::new(std::sync::Arc::clone(assumptions.counter()));
        let log: Vec<u32> = conversation.messages.iter().map(|message| contents.number(message)).collect();
        let leading_system = conversation.leading_system();
        let known_from_start = known_from_start(conversation, &mut contents, &log, leading_system);
        let messages: Vec<_> = log.iter().map(|number| contents.names_and_lines(*number)).collect();
        let references = references(&messages, &turns, &known_from_start);
        let units = units_of(conversation.format, conversation.messages.iter().map(|message| &**message)).collect();
        Self {
            overhead: conversation.overhead(&**assumptions.counter(), options.overhead),
            amounts: log.iter().map(|number| contents.amount(*number)).collect(),
            law: Law::of(conversation),
            clock: Clock::of(conversation, options, turns.len()),
            conversation,
            assumptions,
            turns,
            contents,
            log,
            leading_system,
            references,
            units,
            retrieval: Retrieval::of(&conversation.messages),
        }
    }

    /// What the recorded answer of a turn costs, in tokens.
    pub(crate) fn output_tokens(&self, turn: &Turn) -> u64 {
        self.amounts[turn.at..turn.answer_end].iter().sum::<Millitokens>().ceil_tokens()
    }

    /// Whether a request of so many tokens leaves too little for the reply.
    pub(crate) fn overflows(&self, tokens: u64) -> bool {
        tokens.saturating_add(self.assumptions.budget.reserve()) > self.assumptions.budget.context_window()
    }

    /// What sending everything costs, whether the window would take it or not.
    pub(crate) fn baseline(&self) -> Baseline {
        let mut book = Book::new(self.assumptions.tariff.cache, self.overhead);
        let pieces: Vec<_> = self.log.iter().map(|number| self.contents.piece(*number)).collect();
        let mut baseline = Baseline::default();
        for (number, turn) in self.turns.iter().enumerate() {
            let settled = self.settle(&mut book, number, &pieces[..turn.at], self.leading_system);
            let tokens = settled.total();
            baseline.input += self.assumptions.tariff.input_cost(settled);
            baseline.output += self.assumptions.tariff.output_cost(tokens, self.output_tokens(turn));
            baseline.tokens += tokens;
            baseline.overflows += u64::from(self.overflows(tokens));
        }
        baseline
    }

    /// Bills the request of a turn.
    pub(crate) fn settle(
        &self,
        book: &mut Book,
        turn: usize,
        pieces: &[crate::cache::Piece],
        leading: usize,
    ) -> Settled {
        if self.clock.turns_cold[turn] {
            book.turn_cold();
        }
        book.settle(pieces, leading, self.clock.times[turn])
    }

    /// Whether the cache had expired when a turn's request was made.
    pub(crate) fn is_cold(&self, turn: usize) -> bool {
        let ttl = self.assumptions.tariff.cache.ttl_millis;
        let has_expired = turn > 0 && self.clock.times[turn].saturating_sub(self.clock.times[turn - 1]) >= ttl;
        self.clock.turns_cold[turn] || has_expired
    }

    /// The input cost of the best plan in hindsight.
    pub(crate) fn optimum(&self, floor_tokens: u64) -> Cost {
        let is_cold: Vec<bool> = (0..self.turns.len()).map(|turn| self.is_cold(turn)).collect();
        let budget = self.assumptions.budget;
        let problem = Problem {
            tariff: &self.assumptions.tariff,
            turns: &self.turns,
            amounts: &self.amounts,
            overhead: self.overhead,
            leading_system: self.leading_system,
            units: &self.units,
            is_cold: &is_cold,
            limit_tokens: budget.context_window().saturating_sub(budget.reserve()),
        };
        problem.best(floor_tokens)
    }

    /// The identifiers that a search brings back from what was left out.
    pub(crate) fn retrieve(&mut self, query: &str, is_left_out: impl Fn(usize) -> bool) -> Vec<u32> {
        self.retrieval.identifiers(query, is_left_out, &mut self.contents.numbering)
    }
}

impl Clock {
    fn of(conversation: &Conversation, options: &Options, turns: usize) -> Self {
        let times = match options.gap_seconds {
            Some(seconds) => (0..turns).map(|turn| gap_millis(seconds, turn)).collect(),
            None => conversation.request_times(),
        };
        let times = if times.is_empty() { vec![0; turns] } else { times };
        let is_cold =
            |turn: usize| options.cold_every.is_some_and(|every| every > 0 && (turn as u64 + 1).is_multiple_of(every));
        Self { times, turns_cold: (0..turns).map(is_cold).collect() }
    }
}

fn gap_millis(seconds: u64, turn: usize) -> i64 {
    let millis = seconds.saturating_mul(1000).saturating_mul(turn as u64);
    i64::try_from(millis).unwrap_or(i64::MAX)
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
