//! Keeps an LLM conversation inside its context window: cheaply, legally, and without losing anything.

pub mod catalog;
pub mod json;
pub mod tokens;
pub mod wire;
