use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Signal, Tool, ToolDefinition, ToolOutput, arguments};

/// `task_complete`: the model's word that the task is done.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskComplete;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Completed {
    summary: String,
}

#[async_trait::async_trait]
impl Tool for TaskComplete {
    fn definition(&self) -> ToolDefinition {
        let description =
            "Says that the task is done and ends it. Call it only when everything asked for is done and checked.";
        let properties = json!({"summary": {"type": "string", "description": "What was done, in a few sentences."}});
        ToolDefinition::new("task_complete", description, &properties, &["summary"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        end(self, arguments, |said: Completed| Signal::Complete(said.summary))
    }
}

/// `task_blocked`: the model's word that the task cannot go on.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskBlocked;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocked {
    reason: String,
}

#[async_trait::async_trait]
impl Tool for TaskBlocked {
    fn definition(&self) -> ToolDefinition {
        let description =
            "Says that the task cannot go on without a person and ends it. Call it only after trying other ways.";
        let properties = json!({"reason": {"type": "string", "description": "What is missing, and what was tried."}});
        ToolDefinition::new("task_blocked", description, &properties, &["reason"])
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        end(self, arguments, |said: Blocked| Signal::Blocked(said.reason))
    }
}

fn end<R: DeserializeOwned>(tool: &dyn Tool, arguments: Value, signal: fn(R) -> Signal) -> ToolOutput {
    let definition = tool.definition();
    match arguments::parse(&definition, arguments) {
        Ok(said) => ToolOutput { signal: Some(signal(said)), ..ToolOutput::text("noted") },
        Err(refusal) => refusal.of(&definition.name),
    }
}
