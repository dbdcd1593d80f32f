use serde_json::Value;

use super::{ToolDefinition, ToolOutput};

/// A tool the model may call.
#[async_trait::async_trait]
pub trait Tool: std::fmt::Debug + Send + Sync {
    /// Name, description and JSON schema of the arguments.
    fn definition(&self) -> ToolDefinition;

    /// Runs it.
    ///
    /// Problems the model can act on are outputs with `is_error`; nothing here ends the run. Dropping the future stops
    /// the work: a command is killed with everything it started.
    async fn call(&self, arguments: Value) -> ToolOutput;
}
