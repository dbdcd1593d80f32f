//! Keeps an LLM conversation inside its context window: cheaply, legally, and without losing anything.
//!
//! The history is an append-only log that nobody ever edits. What goes to the model is a *view* of it, and the view
//! follows from *plans*: decisions that are plain values. Policies only make plans; one place applies them. All I/O
//! happens outside, through values going out and values coming back.
//!
//! ```text
//! bytes -> wire (shapes over raw text) -> units (what must stay together) -> tokens -> policy -> plan
//!       -> [condense jobs out, summaries in] -> view -> wire (same bytes for everything kept) -> bytes
//! ```

mod backlog;
pub mod budget;
pub mod catalog;
pub mod condense;
pub mod count;
pub mod edit;
pub mod json;
pub mod legality;
pub mod plain_text;
pub mod plan;
pub mod policy;
pub mod recall;
pub mod report;
pub mod search;
pub mod seeds;
pub mod sight;
pub mod tokens;
pub mod trim;
pub mod unit;
pub mod window;
pub mod wire;

/// The ledger's name for [`plain_text`].
mod speech {
    pub(crate) use crate::plain_text::{Speaker, edits_file, plain_texts as speeches};
}

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeDoctests;
