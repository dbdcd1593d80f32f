use serde::Deserialize;
use serde_json::{Value, json};

use super::{Signal, Tool, ToolDefinition, ToolOutput, arguments};

/// `task_blocked`: the model's word that the task cannot go on.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskBlocked;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    reason: String,
}

#[async_trait::async_trait]
impl Tool for TaskBlocked {
    fn definition(&self) -> ToolDefinition {
        let description =
            "Says that the task cannot go on without a person and ends it. Call it only after trying other ways.";
        let properties = json!({
            "reason": {"type": "string", "description": "What is missing, and what was tried."},
        });
        ToolDefinition::new("task_blocked", description, &properties, &["reason"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        match arguments::parse::<Request>(&self.definition(), arguments) {
            Ok(Request { reason }) => ToolOutput { signal: Some(Signal::Blocked(reason)), ..ToolOutput::text("noted") },
            Err(output) => output,
        }
    }
}
