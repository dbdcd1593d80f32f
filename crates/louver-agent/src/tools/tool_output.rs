use std::path::PathBuf;

/// What a call of a tool came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// Whether the call failed, or never took place.
    pub is_error: bool,
    /// Files that were written, relative to the root.
    pub files_changed: Vec<PathBuf>,
    /// Whether the task is over.
    pub signal: Option<Signal>,
}

impl ToolOutput {
    /// A call that went well.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A call that failed; the text says why and what to do instead.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// The model's own word that a task has come to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// `task_complete` was called, with this summary.
    Complete(String),
    /// `task_blocked` was called, for this reason.
    Blocked(String),
}
