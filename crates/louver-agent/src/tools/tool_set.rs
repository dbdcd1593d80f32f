use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use super::refusal::quote;
use super::{
    Limits, ListFiles, ReadFile, Root, SearchFiles, TaskBlocked, TaskComplete, Tool, ToolDefinition, ToolOutput,
    WriteFile,
};
use crate::secrets::redact;

/// The tools of a run, by name.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

/// Two tools go by the same name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("there is a tool named `{name}` already")]
pub struct DuplicateTool {
    /// The name.
    pub name: String,
}

impl ToolSet {
    /// Tools under the names they define; of two with the same name the later one stays.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self { tools: tools.into_iter().map(|tool| (tool.definition().name, tool)).collect() }
    }

    /// The tools for files below `root`, `task_complete` and `task_blocked`; no commands.
    pub fn for_root(root: &Root, limits: Limits) -> Self {
        let tools: [Arc<dyn Tool>; 6] = [
            Arc::new(ReadFile::new(root.clone(), limits.clone())),
            Arc::new(WriteFile::new(root.clone(), limits.clone())),
            Arc::new(ListFiles::new(root.clone(), limits.clone())),
            Arc::new(SearchFiles::new(root.clone(), limits)),
            Arc::new(TaskComplete),
            Arc::new(TaskBlocked),
        ];
        Self::new(tools)
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// If there is one of that name; the set stays as it was.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), DuplicateTool> {
        let name = tool.definition().name;
        if self.tools.contains_key(&name) {
            return Err(DuplicateTool { name });
        }
        self.tools.insert(name, tool);
        Ok(())
    }

    /// What the model is told, in the order of the names: requests that offer the same tools start with the same bytes.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.tools.values().map(|tool| tool.definition()).collect()
    }

    /// Calls a tool. An unknown one is an error that lists the names there are. Whatever it says, it says without a
    /// [key](crate::redact).
    pub async fn call(&self, name: &str, arguments: Value) -> ToolOutput {
        match self.tools.get(name) {
            Some(tool) => {
                let output = tool.call(arguments).await;
                ToolOutput { text: redact(&output.text).into_owned(), ..output }
            }
            None => {
                let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
                ToolOutput::error(format!("there is no tool {}; use one of: {}", quote(name), names.join(", ")))
            }
        }
    }
}
