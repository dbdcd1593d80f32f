//! Louver in loops around plain HTTP, async-openai and rig: each leads a model that calls a tool through a conversation
//! that is far longer than its window.

pub mod plain_http;
pub mod with_async_openai;
pub mod with_rig;

use serde_json::{Value, json};

/// What is asked of the model.
pub const TASK: &str = "Read every file.";
/// What it may read, in tokens: a tenth of what is said.
pub const CONTEXT_WINDOW: u64 = 20_000;

/// How a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The last answer.
    pub text: String,
    /// How many messages were said; none of them is lost.
    pub messages: usize,
}

/// What an example may stumble over.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The tool: lines with names that come once.
pub fn read_file(path: &str) -> String {
    let line = |number| format!("{path} has a line that says something about it: {number}\n");
    (0..30).map(line).collect()
}

/// What the tool takes.
pub fn parameters() -> Value {
    json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
}
