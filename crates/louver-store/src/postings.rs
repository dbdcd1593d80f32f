//! What a database keeps of the engine's search index, and how it becomes one again.
//!
//! A database has a list of passages for each *token* and nothing else. That a passage holds a term is one token; how
//! often it does is told by further ones, which only repeated terms have, so that a list stays a list of numbers.

use louver::search::{Posting, QUERY_POSTINGS, SearchIndex, terms};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::{Range, RangeInclusive};

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
    /// The id of each message.
    ids: Vec<i64>,
    /// The number of each message's first passage in the log, and how many there are.
    starts: Vec<u32>,
    /// How many terms each passage has.
    lengths: Vec<u32>,
    /// The messages by their ids.
    by_id: Vec<u32>,
    /// The engine's index of these passages, with no term at hand.
    index: SearchIndex,
}

impl Log {
    pub(crate) fn new(messages: &[LogMessage]) -> Self {
        Self::of(messages.iter().map(|message| (message.id, &message.lengths[..])))
    }

    fn of<'l>(messages: impl IntoIterator<Item = (i64, &'l [u32])>) -> Self {
        let (mut ids, mut starts, mut lengths) = (Vec::new(), vec![0], Vec::new());
        for (id, passages) in messages {
            ids.push(id);
            lengths.extend_from_slice(passages);
            starts.push(lengths.len() as u32);
        }
        let mut by_id: Vec<u32> = (0..ids.len() as u32).collect();
        by_id.sort_by_key(|index| ids[*index as usize]);
        let passages = |ends: &[u32]| &lengths[ends[0] as usize..ends[1] as usize];
        let index = SearchIndex::from_parts(starts.windows(2).map(passages), []);
        Self { ids, starts, lengths, by_id, index }
    }

    /// The messages of this log and further ones, each once, by their ids.
    pub(crate) fn with(&self, further: &[LogMessage]) -> Self {
        let known = self.ids.iter().zip(0..).map(|(id, index)| (*id, &self.lengths[self.span(index)]));
        let further = further.iter().map(|message| (message.id, &message.lengths[..]));
        let mut messages: Vec<(i64, &[u32])> = known.chain(further).collect();
        messages.sort_by_key(|(id, _)| *id);
        messages.dedup_by_key(|(id, _)| *id);
        Self::of(messages)
    }

    /// How many messages it has.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The ids of the messages.
    pub(crate) fn ids(&self) -> &[i64] {
        &self.ids
    }

    /// The highest id of a message.
    pub(crate) fn last_id(&self) -> Option<i64> {
        self.by_id.last().map(|index| self.ids[*index as usize])
    }

    /// The passages of a message in the log.
    fn span(&self, index: u32) -> Range<usize> {
        self.starts[index as usize] as usize..self.starts[index as usize + 1] as usize
    }

    /// The numbers of the passages that can be of this log; others are, too.
    pub(crate) fn passages(&self) -> RangeInclusive<i64> {
        let first = self.by_id.first().map_or(1, |index| self.ids[*index as usize]);
        let last = self.by_id.last().map_or(0, |index| self.ids[*index as usize] + self.span(*index).len() as i64);
        first..=last
    }

    /// Where a passage stands in the log, if it does.
    fn places(&self, passage: i64) -> impl Iterator<Item = u32> {
        let end = self.by_id.partition_point(|index| self.ids[*index as usize] <= passage);
        let id = end.checked_sub(1).map(|last| self.ids[self.by_id[last] as usize]);
        let same = self.by_id[..end].iter().rev().take_while(move |index| Some(self.ids[**index as usize]) == id);
        same.filter_map(move |index| {
            let offset = usize::try_from(passage - id?).ok()?;
            let span = self.span(*index);
            (offset < span.len()).then(|| (span.start + offset) as u32)
        })
    }

    /// How many places of the log a passage has.
    pub(crate) fn count(&self, passage: i64) -> usize {
        self.places(passage).count()
    }

    /// The engine's index of this log, with the terms at hand.
    pub(crate) fn index<'t>(&self, terms: impl IntoIterator<Item = (&'t String, &'t PassageList)>) -> SearchIndex {
        let postings = terms.into_iter().map(|(term, passages)| (term.clone(), self.postings(passages)));
        self.index.clone().with_postings(postings.filter(|(_, postings)| !postings.is_empty()))
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
