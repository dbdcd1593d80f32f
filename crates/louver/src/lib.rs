//! Keeps an LLM conversation inside its context window: cheaply, legally, and without losing anything.
//!
//! From a model to a window in one line; everything the catalogue knows of the model is applied:
//!
//! ```
//! use louver::{Format, Window};
//! use serde_json::json;
//!
//! let mut window = Window::for_model(Format::Anthropic, "claude-sonnet-5-5").build()?;
//! window.push_json(&json!({ "role": "user", "content": "Fix the failing test." }))?;
//! let messages = window.request()?.json(); // what is to be sent: everything, until it would be too much
//! assert_eq!(messages, r#"[{"content":"Fix the failing test.","role":"user"}]"#);
//! # Ok::<(), louver::Error>(())
//! ```
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
//! # Where to find what
//!
//! What everybody needs stands here at the root. The rest, by topic:
//!
//! | to | see |
//! |---|---|
//! | push, fit, view, record and restore | [`window`] |
//! | decide once over a whole request body | [`trim`], and [`report`] for what was decided |
//! | know whether a provider would accept a history, and mend it | [`legality`] |
//! | read messages and request bodies | [`wire`] |
//! | choose a policy, or write one | [`policy`], and [`plan`] for what it returns |
//! | have what left summarised | [`condense`]; for a whole request body [`summary_job`] |
//! | have back what was left out | [`address`], [`search`] |
//! | count tokens, know prices and windows | [`tokens`], [`catalog`], [`budget`] |
//! | understand a provider's refusal | [`refusal`] |
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
#[doc(hidden)]
pub mod cache_mark;
pub mod catalog;
pub mod condense;
#[doc(hidden)]
pub mod count;
#[doc(hidden)]
pub mod display;
#[doc(hidden)]
pub mod economy;
#[doc(hidden)]
pub mod edit;
mod error;
mod error_text;
#[doc(hidden)]
pub mod inspect;
#[doc(hidden)]
pub mod json;
mod landmarks;
pub mod legality;
#[doc(hidden)]
pub mod plain_text;
pub mod plan;
pub mod policy;
pub mod refusal;
pub mod report;
pub mod search;
#[cfg(feature = "seeds")]
pub mod seeds;
#[doc(hidden)]
pub mod sse;
pub mod summary_job;
pub mod tokens;
pub mod trim;
#[doc(hidden)]
pub mod unit;
mod unsummarized;
mod view;
pub mod window;
pub mod wire;

pub use budget::Budget;
pub use condense::Summary;
pub use error::{Error, FrameError, RecordError};
pub use json::JsonError;
pub use policy::{Policy, PolicyKind};
pub use window::{Builder, Fit, Record, Request, Usage, View, Window};
pub use wire::{Body, Format, Message, Role};

/// Runs the READMEs' examples as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../README.md")]
struct ReadmeDoctests;
