//! Runs tasks with a model inside a bounded context window: provider clients, the tool loop and the tools.

pub mod tools;
