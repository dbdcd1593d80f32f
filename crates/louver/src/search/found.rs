//! What a search found.

use super::terms::terms;
use std::collections::BTreeSet;
use std::ops::Range;

/// A passage that holds terms of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hit {
    /// The message, as an index into its log.
    pub message: usize,
    /// Which of the message's [passages](super::passages()) it is.
    pub passage: usize,
}

/// What of a message is worth having back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The message, as an index into its log.
    pub message: usize,
    /// At most [`PASSAGE_CHARS`](super::PASSAGE_CHARS) of it in whole lines, `…` where some between them are left out.
    pub text: String,
}

/// The answer to a query: passages, or excerpts of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found<H = Hit> {
    /// The best, best first; of equal ones the newest.
    pub hits: Vec<H>,
    /// The terms that decided.
    pub(super) terms: BTreeSet<String>,
}

impl<H> Found<H> {
    /// The terms of the query that decided.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(String::as_str)
    }

    /// Where the terms that decided stand in the text of a hit: byte ranges, ascending and apart. Terms of the query that
    /// are too common to have been looked up are not among them. O(text).
    #[must_use]
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        terms(text, |term, range| {
            // A whole comes before its pieces, so what overlaps lies inside the last mark.
            let is_inside = marks.last().is_some_and(|last| range.start < last.end);
            if !is_inside && self.terms.contains(term) {
                marks.push(range);
            }
        });
        marks
    }
}
