//! What the model may call.

mod set;

pub use set::ToolSet;

use std::path::PathBuf;

/// A tool the model may call.
#[async_trait::async_trait]
pub trait Tool: std::fmt::Debug + Send + Sync {
    /// Name, description and JSON schema of the arguments.
    fn definition(&self) -> ToolDefinition;

    /// Runs it. Problems the model can act on are outputs with `is_error`; nothing here ends the run.
    async fn call(&self, arguments: serde_json::Value) -> ToolOutput;
}

/// What the model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// The name it is called by.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: serde_json::Value,
}

/// What a tool gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Files it wrote.
    pub files_changed: Vec<PathBuf>,
    /// What it says about the whole task, if anything.
    pub signal: Option<Signal>,
}

/// What a tool call says about the whole task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// It is done; a summary.
    Complete(String),
    /// It cannot go on; the reason.
    Blocked(String),
}
