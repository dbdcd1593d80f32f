//! A passage that was found, to be shown.

use louver::search::{self, Found};
use std::ops::Range;

/// The text of a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The message, as an index into the input.
    pub(crate) message: usize,
    pub(crate) text: String,
    /// Where the words that were looked for stand in the text: byte ranges, ascending and apart.
    pub(crate) marks: Vec<Range<usize>>,
}

/// What was found, with the words that were looked for.
pub(crate) fn excerpts(found: Found<search::Excerpt>) -> Vec<Excerpt> {
    let marks: Vec<_> = found.hits.iter().map(|hit| found.marks(&hit.text)).collect();
    let marked = found.hits.into_iter().zip(marks);
    marked.map(|(search::Excerpt { message, text }, marks)| Excerpt { message, text, marks }).collect()
}
