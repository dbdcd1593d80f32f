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
//!
//! # Features
//!
//! All are on by default. A stripped release binary that fits one conversation has 1.3 MB without any of them and takes
//! about 60 s of processor time to build from nothing; the engine then also builds for `wasm32-unknown-unknown`.
//!
//! | feature | what it brings | binary | build |
//! |---|---|--:|--:|
//! | `exact-counts` | the vocabularies of OpenAI's models; without them their tokens are estimated, and Claude's and Gemini's more coarsely | 4.0 MB | 4 s |
//! | `catalog` | the built-in table of models; without it [`Window::for_model`] knows none and wants a [`context_window`](Builder::context_window) | 0.25 MB | 5 s |
//! | `seeds` | the names of the original systems (module `seeds`) | 0 | 0 |

pub mod address;
pub mod budget;
pub mod cache_mark;
pub mod catalog;
pub mod condense;
pub mod count;
pub mod display;
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
#[cfg(feature = "seeds")]
pub mod seeds;
pub mod sse;
pub mod tokens;
pub mod trim;
pub mod unit;
mod unsummarized;
mod view;
pub mod window;
pub mod wire;

pub use error::{Error, FrameError, RecordError};
pub use policy::PolicyKind;
pub use window::{Builder, Fit, Window};
pub use wire::{Format, Message};

/// Runs the READMEs' examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
