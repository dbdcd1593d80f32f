//! Runs tasks with a model inside a bounded context window: provider clients, the tool loop and the tools.

mod api_key;
pub mod overhead;
pub mod provider;
pub mod sse;
pub mod tools;
mod usage;

pub use api_key::{ApiKey, KeyError};
pub use usage::Usage;
