//! Tools by name.

use super::{Tool, ToolDefinition, ToolOutput};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tools of a run, by name.
#[derive(Clone, Debug, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl ToolSet {
    /// Tools under the names they define; of two with the same name the later one stays.
    #[must_use]
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.definition().name, tool)).collect() }
    }

    /// What the model is told, in the order of the names, so that it is the same in every request.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.values().map(|tool| tool.definition()).collect()
    }

    /// Runs a tool. A name that no tool has is an error output with the names there are.
    pub async fn call(&self, name: &str, arguments: Value) -> ToolOutput {
        match self.tools.get(name) {
            Some(tool) => tool.call(arguments).await,
            None => ToolOutput { text: self.unknown(name), is_error: true, ..ToolOutput::default() },
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        format!("there is no tool `{name}`; the tools are: {}", names.join(", "))
    }
}
