//! Finds again what was left out of a conversation.
//!
//! A message is cut into [passages](passages()), a passage is known by its terms (an identifier whole and by its
//! pieces, in any case), and the passages that say most of a query's rarest terms, or stand right behind one that does,
//! are best ([`Ranking`]). The index grows as the conversation does and holds no text; what was left out is asked anew
//! with every search.
//!
//! ```
//! use louver::search::{SearchIndex, passages};
//! use louver::wire::{Format, Message};
//!
//! let messages = ["The tests are in tests/laws_hold.rs.", "All tests pass.", "Then look at laws_hold again."].map(|text| {
//!     let raw = format!(r#"{{"role":"user","content":"{text}"}}"#);
//!     Message::parse(Format::OpenAiChat, &raw).unwrap()
//! });
//! let index: SearchIndex = messages.iter().collect();
//! let found = index.among(|message| message < 2).search("where is LAWS_HOLD?", 5);
//! let [hit] = found.hits[..] else { panic!("one passage has the name and was left out") };
//! let text = &passages(&messages[hit.message])[hit.passage];
//! let marked: Vec<&str> = found.marks(text).into_iter().map(|mark| &text[mark]).collect();
//! assert_eq!((hit.message, &marked[..]), (0, &["laws_hold"][..]));
//! ```

mod among;
mod beyond;
mod excerpts;
mod found;
mod index;
mod names;
mod novelty;
mod passages;
mod ranking;
mod read;
mod sight;
mod terms;

pub use among::{Among, QUERY_POSTINGS};
pub use found::{Excerpt, Found, Hit};
pub use index::{Posting, SearchIndex};
pub use novelty::Novelty;
pub use passages::{PASSAGE_CHARS, passages};
pub use ranking::Ranking;
pub use read::ReadPassages;
pub use sight::Sight;
pub use terms::terms;
