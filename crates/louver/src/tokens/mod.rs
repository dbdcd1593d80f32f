//! Counting tokens: text and images in, thousandths of tokens out.

mod amount;
mod image;

pub use amount::{Factor, Millitokens};
pub use image::{Detail, Image, ImageFormula};
