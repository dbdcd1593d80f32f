//! The terms of each request: whose prices, which window, how long the cache lives, and what was cold.

use crate::billed::Billed;
use crate::cache::{Book, Left, Piece, Settled, Tariff};
use crate::conversation::{Conversation, Turn};
use crate::fitted::find;
use crate::options::Options;
use louver::budget::Budget;
use louver::tokens::Millitokens;

/// The terms of some requests: a model's, with a life of what is written.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    /// The name that was asked for or recorded.
    pub(crate) model: String,
    /// Which cache it reads: each model has its own.
    pub(crate) cache: usize,
    pub(crate) tariff: Tariff,
    pub(crate) budget: Budget,
}

/// What becomes of the cache before a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cache {
    /// What the clock says.
    ByTime,
    /// Cold, whatever the clock says.
    Cold(Left),
    /// Warm up to here: what stood behind it had been changed, or had expired.
    Reaches(Millitokens),
}

/// How far a request may be from what was billed and still be the same one, as a share and in tokens: messages are
/// counted, and only all of them together agree.
const SLACK: (f64, f64) = (0.02, 300.0);

/// When each request was made, and what became of the cache before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) times: Vec<i64>,
    pub(crate) caches: Vec<Cache>,
}

/// The caches of all models of a conversation under one policy.
#[derive(Debug)]
pub(crate) struct Books(Vec<Book>);

impl Books {
    pub(crate) fn new(terms: &[Terms], overhead: Millitokens) -> Self {
        let caches = terms.iter().map(|terms| terms.cache + 1).max().unwrap_or(1);
        let of_cache = |cache: usize| terms.iter().find(|terms| terms.cache == cache);
        Self((0..caches).filter_map(of_cache).map(|terms| Book::new(terms.tariff.cache, overhead)).collect())
    }

    /// Bills a request on its terms.
    pub(crate) fn settle(&mut self, terms: &Terms, clock: (i64, Cache), pieces: &[Piece], leading: usize) -> Settled {
        let book = &mut self.0[terms.cache];
        book.set_life(terms.tariff.cache.ttl_millis);
        match clock.1 {
            Cache::ByTime => {}
            Cache::Cold(left) => book.turn_cold(left, clock.0),
            Cache::Reaches(amount) => book.reach(amount, clock.0),
        }
        book.settle(pieces, leading, clock.0)
    }
}

impl Clock {
    /// Where usage is recorded, it says what was cold, and no time passes that it does not know of.
    pub(crate) fn of(conversation: &Conversation, options: &Options, turns: &[Turn], overhead: Millitokens) -> Self {
        let is_assumed = options.gap_seconds.is_some() || options.cold_every.is_some();
        if is_assumed || conversation.billed.is_empty() {
            return Self::assumed(conversation, options, turns.len());
        }
        let recorded = conversation.request_times();
        let (mut now, mut times, mut caches) = (0, Vec::new(), Vec::new());
        for (number, turn) in turns.iter().enumerate() {
            let billed = find(&conversation.billed, turn);
            if billed.is_none() && number > 0 && !recorded.is_empty() {
                now += recorded[number].saturating_sub(recorded[number - 1]).max(0);
            }
            times.push(now);
            let earlier = &conversation.billed[..conversation.billed.partition_point(|one| one.at < turn.at)];
            caches.push(billed.map_or(Cache::ByTime, |billed| found(billed, earlier, overhead)));
        }
        Self { times, caches }
    }

    fn assumed(conversation: &Conversation, options: &Options, turns: usize) -> Self {
        let times = match options.gap_seconds {
            Some(seconds) => (0..turns).map(|turn| gap_millis(seconds, turn)).collect(),
            None => conversation.request_times(),
        };
        let times = if times.is_empty() { vec![0; turns] } else { times };
        let is_cold =
            |turn: usize| options.cold_every.is_some_and(|every| every > 0 && (turn as u64 + 1).is_multiple_of(every));
        let cache = |turn| if is_cold(turn) { Cache::Cold(Left::Nothing) } else { Cache::ByTime };
        Self { times, caches: (0..turns).map(cache).collect() }
    }

    /// What became of the cache before a turn, for whoever bills it.
    pub(crate) fn at(&self, turn: usize) -> (i64, Cache) {
        (self.times[turn], self.caches[turn])
    }
}

/// What a bill says of the cache: warm where all of the model's last request was read. What was read beyond system and
/// tools was there, billed before or not.
fn found(billed: &Billed, earlier: &[Billed], overhead: Millitokens) -> Cache {
    let fixed = overhead.ceil_tokens();
    let left = if billed.read.saturating_mul(2) > fixed { Left::Static } else { Left::Nothing };
    match earlier.iter().rev().find(|one| one.model == billed.model) {
        Some(before) if slack(billed.read) >= before.input() => Cache::ByTime,
        _ if billed.read > slack(fixed) => Cache::Reaches(Millitokens::from_tokens(slack(billed.read))),
        _ => Cache::Cold(left),
    }
}

/// A little more than so many tokens.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "far below 2^52, and not negative")]
fn slack(tokens: u64) -> u64 {
    tokens + (tokens as f64 * SLACK.0 + SLACK.1) as u64
}

fn gap_millis(seconds: u64, turn: usize) -> i64 {
    let millis = seconds.saturating_mul(1000).saturating_mul(turn as u64);
    i64::try_from(millis).unwrap_or(i64::MAX)
}
