use serde::Deserialize;
use serde_json::{Value, json};

use super::{Signal, Tool, ToolDefinition, ToolOutput, arguments};

/// `task_complete`: the model's word that the task is done.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskComplete;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    summary: String,
}

#[async_trait::async_trait]
impl Tool for TaskComplete {
    fn definition(&self) -> ToolDefinition {
        let description =
            "Says that the task is done and ends it. Call it only when everything asked for is done and checked.";
        let properties = json!({
            "summary": {"type": "string", "description": "What was done, in a few sentences."},
        });
        ToolDefinition::new("task_complete", description, &properties, &["summary"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        match arguments::parse::<Request>(&self.definition(), arguments) {
            Ok(Request { summary }) => {
                ToolOutput { signal: Some(Signal::Complete(summary)), ..ToolOutput::text("noted") }
            }
            Err(output) => output,
        }
    }
}
