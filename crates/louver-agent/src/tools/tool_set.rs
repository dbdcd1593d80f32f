use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;

use super::refusal::quote;
use super::{
    Approver, Limits, ListFiles, ReadFile, Root, SearchFiles, TaskBlocked, TaskComplete, Tool, ToolDefinition,
    ToolOutput, WriteFile,
};
use crate::secrets::redact;

/// The tools of a run, by name.
#[derive(Debug, Clone, Default)]
pub struct ToolSet {
    tools: BTreeMap<String, Arc<dyn Tool>>,
    approver: Option<Arc<dyn Approver>>,
}

/// Tools that change nothing.
const HARMLESS: [&str; 5] = ["list_files", "read_file", "search_files", "task_blocked", "task_complete"];

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
        let tools = tools.into_iter().map(|tool| (tool.definition().name, tool)).collect();
        Self { tools, approver: None }
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

    /// Those of them that change nothing: the tools that read, `task_complete` and `task_blocked`.
    #[must_use]
    pub fn harmless(mut self) -> Self {
        self.tools.retain(|name, _| HARMLESS.contains(&name.as_str()));
        self
    }

    /// Takes a tool out.
    pub fn take(&mut self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.remove(name)
    }

    /// The same, which ask somebody before they change anything.
    #[must_use]
    pub fn asking(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    /// Asks whoever has to be asked; nothing if the call may be made.
    pub(crate) async fn refusal(&self, name: &str, arguments: &Value) -> Option<ToolOutput> {
        let approver = self.approver.as_ref().filter(|_| !HARMLESS.contains(&name))?;
        let is_allowed = !self.tools.contains_key(name) || approver.allows(name, arguments).await;
        let refused = "the user does not allow this; do it another way, go on without it, or call task_blocked";
        (!is_allowed).then(|| ToolOutput::error(refused))
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
