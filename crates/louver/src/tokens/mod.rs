//! Counting tokens: text and images in, thousandths of tokens out.
//!
//! A [`Counter`] is chosen per model: exact where the tokenizer is public, an estimate with
//! a stated error where it is not, four characters per token where nobody named a model.
//!
//! | counter | text | stated error |
//! |---|---|---|
//! | [`Chars4`] | characters / 4 | 50 % |
//! | `Bpe` | o200k, cl100k | exact |
//! | [`Estimate`] | o200k times a factor by kind of text | by family, see there |
//!
//! Exact counts take vocabularies, which the feature `exact-counts` compiles in. Without it [`CounterChoice::Auto`]
//! estimates where it would have counted, and says so in [`Counter::name`] and [`Counter::stated_error`].
//!
//! [`Calibration`] then corrects a counter by the usage that the provider reports.
//!
//! ```
//! # #[cfg(all(feature = "catalog", feature = "exact-counts"))] {
//! use louver::catalog::Catalog;
//! use louver::tokens::{CounterChoice, Millitokens};
//!
//! let model = Catalog::builtin().find("gpt-4o").expect("a known model").model;
//! let counter = CounterChoice::Auto.resolve(Some(&model));
//! let list: Millitokens = ["hello world", "hello"].iter().map(|text| counter.text(text)).sum();
//! assert_eq!((counter.name(), list.ceil_tokens()), ("o200k", 3));
//! # }
//! ```

mod amount;
mod at_most;
#[cfg(feature = "exact-counts")]
mod bpe;
mod calibration;
mod chars4;
mod counter;
mod estimate;
mod image;
mod kind;
mod last_count;
mod tokenizer;

pub use amount::{Factor, Millitokens};
pub(crate) use at_most::AtMost;
#[cfg(feature = "exact-counts")]
pub use bpe::{Bpe, Encoding};
pub use calibration::{Calibration, Verdict};
pub use chars4::Chars4;
pub use counter::{Counter, CounterChoice, UnknownCounter};
pub use estimate::Estimate;
pub use image::{Detail, Image, ImageFormula};
pub use kind::{Mixture, TextKind};
pub use last_count::CounterId;
pub(crate) use last_count::LastCount;
pub use tokenizer::Tokenizer;
