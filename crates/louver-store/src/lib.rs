//! Finds again what was left out of a conversation.
//!
//! ```
//! use louver::wire::{Format, Message};
//! use louver_store::SearchIndex;
//!
//! let say = |text: &str| {
//!     let raw = format!(r#"{{"role":"user","content":"{text}"}}"#);
//!     Message::parse(Format::OpenAiChat, &raw).unwrap()
//! };
//! let left_out = [(3, say("The tests are in tests/laws_hold.rs.")), (8, say("All tests pass."))];
//! let index = SearchIndex::of(left_out.iter().map(|(at, message)| (*at, message)))?;
//! let hits = index.search("where is LAWS_HOLD?", 5)?;
//! assert_eq!(hits.len(), 1);
//! assert_eq!((hits[0].message, &hits[0].text[hits[0].marks[0].clone()]), (3, "laws_hold"));
//! # Ok::<(), louver_store::SearchError>(())
//! ```

mod hit;
mod rank;
mod search;
mod terms;

pub use hit::Hit;
pub use search::{SearchError, SearchIndex};
