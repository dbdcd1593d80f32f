//! How a model request ended.

pub use louver_store::Outcome;
