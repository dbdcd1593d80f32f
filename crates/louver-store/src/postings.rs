//! What a database keeps of the engine's search index, and how it becomes one again.
//!
//! A database has a list of passages for each *token* and nothing else. That a passage holds a term is one token; how
//! often it does is told by further ones, which only repeated terms have, so that a list stays a list of numbers.

use louver::search::{Posting, QUERY_POSTINGS, SearchIndex, terms};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::RangeInclusive;

/// Bits of how often a term is repeated in a passage. No passage has room for more.
const BITS: u32 = 12;

/// The tokens of a passage, with spaces between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PassageTokens {
    pub(crate) tokens: String,
    /// How many terms it has, repeated ones included.
    pub(crate) length: u32,
}

impl PassageTokens {
    pub(crate) fn of(reader: i64, text: &str) -> Self {
        let mut times: BTreeMap<String, u32> = BTreeMap::new();
        let mut length = 0;
        terms(text, |term, _| {
            length += 1;
            match times.get_mut(term) {
                Some(times) => *times += 1,
                None => drop(times.insert(term.to_owned(), 1)),
            }
        });
        let mut tokens = String::with_capacity(text.len() * 2);
        for (term, times) in &times {
            // Writing to a string never fails.
            let _ = write!(tokens, "{reader}:{term} ");
            for bit in (0..BITS).filter(|bit| (times - 1) >> bit & 1 == 1) {
                let _ = write!(tokens, "{reader}:{term}!{bit} ");
            }
        }
        Self { tokens, length }
    }
}

/// The token that says that a passage holds a term.
pub(crate) fn token(reader: i64, term: &str) -> String {
    format!("{reader}:{term}")
}

/// The tokens that say how often it is repeated, each with what it adds.
pub(crate) fn repetitions(reader: i64, term: &str) -> impl Iterator<Item = (String, u32)> {
    (0..BITS).map(move |bit| (format!("{reader}:{term}!{bit}"), 1 << bit))
}

/// The terms of a query, each once, those that are likely to be rare first.
pub(crate) fn query_terms(query: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    terms(query, |term, _| {
        found.insert(term.to_owned());
    });
    let mut found: Vec<String> = found.into_iter().collect();
    found.sort_by_key(|term| std::cmp::Reverse(term.len()));
    found
}

/// Which passages hold a term, and how often: by number, ascending.
pub(crate) type PassageList = Vec<(i64, u32)>;

/// A message of a log that is searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogMessage {
    /// The number of the message and of its first passage; the next ones follow.
    pub(crate) id: i64,
    /// How many terms each of its passages has.
    pub(crate) lengths: Vec<u32>,
}

/// A log to be searched. A message may stand in it several times.
#[derive(Debug)]
pub(crate) struct Log {
    messages: Vec<LogMessage>,
    /// The number of each message's first passage in the log.
    starts: Vec<u32>,
    /// The messages by their ids.
    by_id: Vec<u32>,
}

impl Log {
    pub(crate) fn new(messages: Vec<LogMessage>) -> Self {
        let mut starts = Vec::with_capacity(messages.len());
        let mut passages = 0;
        for message in &messages {
            starts.push(passages);
            passages += message.lengths.len() as u32;
        }
        let mut by_id: Vec<u32> = (0..messages.len() as u32).collect();
        by_id.sort_by_key(|index| messages[*index as usize].id);
        Self { messages, starts, by_id }
    }

    /// The numbers of the passages that can be of this log; others are, too.
    pub(crate) fn passages(&self) -> RangeInclusive<i64> {
        let message = |index: &u32| &self.messages[*index as usize];
        let first = self.by_id.first().map_or(1, |index| message(index).id);
        let last = self.by_id.last().map_or(0, |index| message(index).id + message(index).lengths.len() as i64);
        first..=last
    }

    /// Where a passage stands in the log, if it does.
    fn places(&self, passage: i64) -> impl Iterator<Item = u32> {
        let end = self.by_id.partition_point(|index| self.messages[*index as usize].id <= passage);
        let id = end.checked_sub(1).map(|last| self.messages[self.by_id[last] as usize].id);
        let same =
            self.by_id[..end].iter().rev().take_while(move |index| Some(self.messages[**index as usize].id) == id);
        same.filter_map(move |index| {
            let offset = usize::try_from(passage - id?).ok()?;
            let message = &self.messages[*index as usize];
            (offset < message.lengths.len()).then(|| self.starts[*index as usize] + offset as u32)
        })
    }

    /// How many places of the log a passage has.
    pub(crate) fn count(&self, passage: i64) -> usize {
        self.places(passage).count()
    }

    /// The engine's index of this log, with the terms at hand.
    pub(crate) fn index<'t>(&self, terms: impl IntoIterator<Item = (&'t String, &'t PassageList)>) -> SearchIndex {
        let postings = terms.into_iter().map(|(term, passages)| (term.clone(), self.postings(passages)));
        let known = postings.filter(|(_, postings)| !postings.is_empty());
        SearchIndex::from_parts(self.messages.iter().map(|message| &message.lengths[..]), known)
    }

    fn postings(&self, passages: &PassageList) -> Vec<Posting> {
        let places = passages
            .iter()
            .flat_map(|(passage, times)| self.places(*passage).map(|passage| Posting { passage, times: *times }));
        let mut postings: Vec<Posting> = places.collect();
        postings.sort_unstable_by_key(|posting| posting.passage);
        postings
    }
}

/// How long the list of a term may be for the term to matter, beside those that are known already: the engine reads the
/// shortest lists first, and only so much of them.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    lengths: BTreeMap<usize, usize>,
}

impl Reading {
    pub(crate) fn add(&mut self, length: usize) {
        *self.lengths.entry(length).or_default() += 1;
    }

    pub(crate) fn limit(&self) -> usize {
        let mut left = QUERY_POSTINGS;
        for (length, lists) in &self.lengths {
            if left <= *length {
                break;
            }
            match left.checked_sub(length * lists) {
                Some(rest) if rest > *length => left = rest,
                // A longer one would have to wait for these, and then there is no room.
                _ => return *length,
            }
        }
        left
    }
}

#[cfg(test)]
#[path = "postings_tests.rs"]
mod tests;
