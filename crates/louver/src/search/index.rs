//! The passages of a conversation by the terms in them.

use super::found::Hit;
use super::passages::passages;
use super::terms::terms;
use crate::wire::{Message, Role};
use std::collections::HashMap;

/// That a term stands in a passage, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The passage, counted from the first of the first message.
    pub passage: u32,
    /// How often the term stands there.
    pub times: u32,
}

/// Messages, searchable by the words in them.
///
/// Holds 8 bytes for each term of each passage and each term once, and no text. See the [module](super) for an example.
#[derive(Clone, Debug, Default)]
pub struct SearchIndex {
    /// The number of each term, in the order in which they first came.
    numbers: HashMap<Box<str>, u32>,
    /// For each term the passages that hold it, ascending.
    postings: Vec<Vec<Posting>>,
    /// For each passage its message, and how many terms it has.
    messages: Vec<u32>,
    lengths: Vec<u32>,
    /// For each message the end of its passages.
    ends: Vec<u32>,
    /// For each message whether it is the model's own; of messages that were kept elsewhere it is not known.
    own: Vec<bool>,
}

impl SearchIndex {
    /// Adds the next message of the conversation. O(its bytes).
    pub fn push(&mut self, message: &Message) {
        let index = number(self.ends.len());
        for text in passages(message) {
            let length = self.push_passage(&text);
            self.messages.push(index);
            self.lengths.push(length);
        }
        self.own.resize(self.ends.len(), false);
        self.own.push(message.shape().role == Role::Assistant);
        self.ends.push(number(self.lengths.len()));
    }

    /// An index that was kept elsewhere, and of which only some terms are at hand: for each message how many
    /// [`terms`](super::terms()) its passages have, and for each term the passages that hold it, ascending.
    ///
    /// A search for these terms finds what the whole index would find.
    ///
    /// ```
    /// use louver::search::{Hit, Posting, SearchIndex};
    ///
    /// let needle = ("needle".to_owned(), vec![Posting { passage: 1, times: 1 }]);
    /// let index = SearchIndex::from_parts([&[7, 3][..], &[5]], [needle]);
    /// assert_eq!(index.among(|_| true).search("the needle", 5).hits, [Hit { message: 0, passage: 1 }]);
    /// ```
    #[must_use]
    pub fn from_parts<'l>(
        lengths: impl IntoIterator<Item = &'l [u32]>,
        postings: impl IntoIterator<Item = (String, Vec<Posting>)>,
    ) -> Self {
        let mut index = Self::default();
        for lengths in lengths {
            let message = number(index.ends.len());
            index.lengths.extend_from_slice(lengths);
            index.messages.resize(index.lengths.len(), message);
            index.ends.push(number(index.lengths.len()));
        }
        index.with_postings(postings)
    }

    /// The same messages with these terms at hand in the place of others, as [`from_parts`](Self::from_parts) takes them: for
    /// whoever searches the same messages again. O(postings).
    ///
    /// ```
    /// use louver::search::{Posting, SearchIndex};
    ///
    /// let index = SearchIndex::from_parts([&[7, 3][..], &[5]], []);
    /// let needle = ("needle".to_owned(), vec![Posting { passage: 2, times: 1 }]);
    /// let hits = index.with_postings([needle]).among(|_| true).search("the needle", 5).hits;
    /// assert_eq!(hits.iter().map(|hit| hit.message).collect::<Vec<_>>(), [1]);
    /// ```
    #[must_use]
    pub fn with_postings(mut self, postings: impl IntoIterator<Item = (String, Vec<Posting>)>) -> Self {
        self.numbers.clear();
        self.postings.clear();
        for (term, postings) in postings {
            let term = self.number(&term);
            self.postings[term as usize] = postings;
        }
        self
    }

    /// How many messages it holds.
    #[must_use]
    pub fn messages(&self) -> usize {
        self.ends.len()
    }

    /// How many passages it holds.
    #[must_use]
    pub fn passages(&self) -> usize {
        self.lengths.len()
    }

    /// Notes the terms of the next passage and returns how many there are.
    fn push_passage(&mut self, text: &str) -> u32 {
        let passage = number(self.lengths.len());
        let mut length: u32 = 0;
        terms(text, |term, _| {
            length += 1;
            let term = self.number(term);
            let postings = &mut self.postings[term as usize];
            match postings.last_mut() {
                Some(last) if last.passage == passage => last.times += 1,
                _ => postings.push(Posting { passage, times: 1 }),
            }
        });
        length
    }

    /// The number of a term; a new one gets the next.
    fn number(&mut self, term: &str) -> u32 {
        if let Some(known) = self.numbers.get(term) {
            return *known;
        }
        let next = number(self.postings.len());
        self.numbers.insert(term.into(), next);
        // Most terms never come again.
        self.postings.push(Vec::with_capacity(1));
        next
    }

    /// The passages that hold a term.
    pub(super) fn postings(&self, term: &str) -> Option<&[Posting]> {
        let number = self.numbers.get(term)?;
        self.postings.get(*number as usize).map(Vec::as_slice)
    }

    /// For each message the lengths of its passages.
    pub(super) fn lengths(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let lengths = &self.lengths[start as usize..*end as usize];
            start = *end;
            lengths
        })
    }

    /// How many terms a passage has.
    pub(super) fn length(&self, passage: u32) -> u32 {
        self.lengths.get(passage as usize).copied().unwrap_or_default()
    }

    /// Whether a message is known to be the model's own.
    pub(super) fn is_own(&self, message: usize) -> bool {
        self.own.get(message).is_some_and(|is_own| *is_own)
    }

    /// A passage as its message knows it.
    pub(super) fn hit(&self, passage: u32) -> Option<Hit> {
        let message = *self.messages.get(passage as usize)? as usize;
        let first = message.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or_default();
        Some(Hit { message, passage: (passage - first) as usize })
    }
}

impl<'m> FromIterator<&'m Message> for SearchIndex {
    fn from_iter<I: IntoIterator<Item = &'m Message>>(messages: I) -> Self {
        let mut index = Self::default();
        index.extend(messages);
        index
    }
}

impl<'m> Extend<&'m Message> for SearchIndex {
    fn extend<I: IntoIterator<Item = &'m Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

/// A count as it is kept: there is no room for four billion of anything.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
