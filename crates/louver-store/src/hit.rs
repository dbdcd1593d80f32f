//! What a search found.

use crate::terms::terms;
use std::collections::HashSet;
use std::ops::Range;

/// A passage that holds words of the query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The message, as an index into its log.
    pub message: usize,
    /// The passage: lines of the message, at most [`PASSAGE_CHARS`](louver::passage::PASSAGE_CHARS) of its characters.
    pub text: String,
    /// Where the words of the query stand in the passage: byte ranges, ascending and apart.
    pub marks: Vec<Range<usize>>,
}

impl Hit {
    pub(crate) fn new(message: usize, text: String, wanted: &HashSet<&str>) -> Self {
        let mut marks: Vec<Range<usize>> = Vec::new();
        terms(&text, |term, range| {
            // A whole comes before its pieces, so what overlaps lies inside the last mark.
            let is_inside = marks.last().is_some_and(|last| range.start < last.end);
            if !is_inside && wanted.contains(term) {
                marks.push(range);
            }
        });
        Self { message, text, marks }
    }
}
