//! Counting tokens: text and images in, thousandths of tokens out.

mod amount;

pub use amount::{Factor, Millitokens};
