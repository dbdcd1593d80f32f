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

pub mod address;
pub mod budget;
pub mod cache_mark;
pub mod catalog;
pub mod condense;
pub mod count;
pub mod economy;
pub mod edit;
mod error;
pub mod json;
mod landmarks;
pub mod legality;
pub mod plain_text;
pub mod plan;
pub mod policy;
pub mod refusal;
pub mod report;
pub mod search;
pub mod seeds;
pub mod sse;
pub mod tokens;
pub mod trim;
pub mod unit;
mod unsummarized;
mod view;
pub mod window;
pub mod wire;

pub use error::Error;
pub use policy::PolicyKind;
pub use window::{Fit, Window};
pub use wire::{Format, Message};

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeDoctests;
