//! What a provider's prompt cache makes of a row of requests.

mod book;
mod rules;

pub use book::{Book, Left, Piece};
pub use rules::{CacheRules, Settled, Tariff};
