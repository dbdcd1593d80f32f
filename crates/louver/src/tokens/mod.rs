//! Counting tokens: text and images in, thousandths of tokens out.

mod amount;
mod bpe;
mod chars4;
mod counter;
mod estimate;
mod image;
mod kind;
mod tokenizer;

pub use amount::{Factor, Millitokens};
pub use bpe::{Bpe, Encoding};
pub use chars4::Chars4;
pub use counter::{Counter, CounterChoice, UnknownCounter};
pub use estimate::Estimate;
pub use image::{Detail, Image, ImageFormula};
pub use kind::{Mixture, TextKind};
pub use tokenizer::Tokenizer;
