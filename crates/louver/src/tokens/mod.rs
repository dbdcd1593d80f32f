//! Counting tokens: text and images in, thousandths of tokens out.

mod amount;
mod image;
mod kind;
mod tokenizer;

pub use amount::{Factor, Millitokens};
pub use image::{Detail, Image, ImageFormula};
pub use kind::{Mixture, TextKind};
pub use tokenizer::Tokenizer;
