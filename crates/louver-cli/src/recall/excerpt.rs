//! A passage that was found, to be shown.

use louver::Body;
use louver::search::{Found, passages};
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

/// An excerpt for each hit, in their order.
pub(crate) fn excerpts(body: &Body, found: &Found) -> Vec<Excerpt> {
    let excerpt = |message: usize, passage: usize| {
        let text = passages(body.messages().get(message)?).into_iter().nth(passage)?;
        Some(Excerpt { message, marks: found.marks(&text), text })
    };
    found.hits.iter().filter_map(|hit| excerpt(hit.message, hit.passage)).collect()
}
