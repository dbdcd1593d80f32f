use std::sync::Arc;

use louver::display::truncate;
use serde_json::{Value, json};

use super::connection::Connection;
use crate::tools::{Tool, ToolDefinition, ToolOutput};

/// A tool of a server.
#[derive(Debug)]
pub(super) struct McpTool {
    connection: Arc<Connection>,
    /// What the server calls it.
    name: String,
    definition: ToolDefinition,
}

/// What every provider takes as the name of a tool.
const MAX_NAME_BYTES: usize = 64;
const MAX_DESCRIPTION_CHARACTERS: usize = 4_000;
const MAX_SCHEMA_BYTES: usize = 64 << 10;

impl McpTool {
    pub(super) fn new(connection: Arc<Connection>, tool: &rmcp::model::Tool) -> Self {
        let name = name(&connection.config().name, &tool.name);
        let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
        let description = truncate(description, MAX_DESCRIPTION_CHARACTERS).to_owned();
        let schema = schema(Value::Object(tool.input_schema.as_ref().clone()));
        Self { connection, name: tool.name.to_string(), definition: ToolDefinition { name, description, schema } }
    }
}

/// `SERVER__tool`, with anything that a provider would refuse written as `_`.
fn name(server: &str, tool: &str) -> String {
    let is_allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let name = format!("{server}__{}", tool.replace(|character| !is_allowed(character), "_"));
    truncate(&name, MAX_NAME_BYTES).to_owned()
}

/// The schema, or one of any object if it is no schema of an object or a burden on every request.
fn schema(mut schema: Value) -> Value {
    if schema.get("type").is_none() {
        schema["type"] = json!("object");
    }
    match schema["type"] == "object" && schema.to_string().len() <= MAX_SCHEMA_BYTES {
        true => schema,
        false => json!({"type": "object"}),
    }
}

#[async_trait::async_trait]
impl Tool for McpTool {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        self.connection.call(&self.name, arguments).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_and_made_to_suit_every_provider() {
        assert_eq!(name("git", "log"), "git__log");
        assert_eq!(name("git", "repo.log/é all"), "git__repo_log___all");
        assert_eq!(name("git", &"x".repeat(100)).len(), 64);
    }

    #[test]
    fn a_schema_is_that_of_an_object_and_bounded() {
        assert_eq!(schema(json!({"type": "object", "a": 1})), json!({"type": "object", "a": 1}));
        assert_eq!(schema(json!({"a": 1})), json!({"a": 1, "type": "object"}));
        assert_eq!(schema(json!({"type": "string"})), json!({"type": "object"}));
        assert_eq!(schema(json!({"type": "object", "a": "x".repeat(100_000)})), json!({"type": "object"}));
    }
}
