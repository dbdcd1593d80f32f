//! The conversations that everything is derived from.

use louver::tokens::CounterChoice;
use louver_bench::Random;
use louver_replay::input::{find, read};
use louver_replay::{CachePrices, Contender, Conversation, Options, ReplayError, Report, replay};
use std::error::Error;
use std::path::Path;

/// In how many parts conversations are put: what is fitted to all but one is judged by that one.
pub(crate) const FOLDS: usize = 5;
/// From so many requests on a conversation is a long one; the others are hardly ever cut.
const LONG_REQUESTS: usize = 100;
/// Of so many long conversations a quick run takes one.
const QUICK_SHARE: usize = 6;
const SEED: u64 = 9;

/// Recorded conversations, each in one of [`FOLDS`] parts.
pub(crate) struct Corpus {
    pub(crate) conversations: Vec<Conversation>,
    /// The part of each conversation.
    pub(crate) folds: Vec<usize>,
    pub(crate) terms: Terms,
}

/// What everything is measured by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) counter: CounterChoice,
    pub(crate) prices: CachePrices,
    pub(crate) context_window: u64,
}

impl Corpus {
    /// Every conversation below a folder.
    pub(crate) fn read(folder: &Path, terms: Terms) -> Result<Self, Box<dyn Error>> {
        let mut conversations = Vec::new();
        for source in find(&[folder.to_owned()]) {
            conversations.extend(read(&source).map_err(|error| format!("{}: {error}", source.name()))?);
        }
        conversations.retain(|conversation| !conversation.turns().is_empty());
        Ok(Self::of(conversations, terms))
    }

    fn of(conversations: Vec<Conversation>, terms: Terms) -> Self {
        let mut order: Vec<usize> = (0..conversations.len()).collect();
        let mut random = Random::new(SEED);
        for left in (1..order.len()).rev() {
            order.swap(left, random.below(left + 1));
        }
        let mut folds = vec![0; order.len()];
        order.into_iter().enumerate().for_each(|(place, conversation)| folds[conversation] = place % FOLDS);
        Self { conversations, folds, terms }
    }

    /// The long ones alone, in parts of their own; a quick run takes a few of them.
    pub(crate) fn long(&self, is_quick: bool) -> Self {
        let is_long = |conversation: &&Conversation| conversation.turns().len() >= LONG_REQUESTS;
        let step = if is_quick { QUICK_SHARE } else { 1 };
        Self::of(self.conversations.iter().filter(is_long).step_by(step).cloned().collect(), self.terms)
    }

    /// Replays the conversations, by the same counter and prices as everything else here.
    pub(crate) fn replay(&self, contenders: Vec<Contender>) -> Result<Report, ReplayError> {
        let options = Options {
            context_window: Some(self.terms.context_window),
            counter: self.terms.counter,
            cache_prices: Some(self.terms.prices),
            ..Options::of(contenders)
        };
        replay(&self.conversations, &options, &|_| {})
    }

    pub(crate) fn requests(&self) -> usize {
        self.conversations.iter().map(|conversation| conversation.turns().len()).sum()
    }
}
