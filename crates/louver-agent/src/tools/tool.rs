use serde_json::Value;

use super::ToolOutput;

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

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// What the model calls it by.
    pub name: String,
    /// When and how to use it, for the model.
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub schema: Value,
}

impl ToolDefinition {
    /// A definition of an object with these properties, of which the `required` ones must be there.
    pub(crate) fn new(name: &str, description: &str, properties: &Value, required: &[&str]) -> Self {
        let schema = serde_json::json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        });
        Self { name: name.to_owned(), description: description.to_owned(), schema }
    }
}
