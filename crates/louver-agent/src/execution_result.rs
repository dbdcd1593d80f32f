//! What a call of the tool loop gave.

use crate::provider::{Category, ProviderError};
use crate::tools::Signal;
use crate::{CondensingMetrics, Conversation, ConversationMetrics, Usage};
use louver::catalog::Cost;
use louver::plan::Overflow;
use std::path::PathBuf;

/// What a call of [`execute`](crate::execute) gave. State and metrics are there whether it succeeded or not.
#[derive(Debug, Default)]
pub struct ExecutionResult {
    /// Whether nothing failed. A blocked task is no failure.
    pub success: bool,
    /// What the model said last, or its summary of the completed task.
    pub output: String,
    /// What failed.
    pub error: Option<ExecutionError>,
    /// Files that tools wrote, each once, in the order of the first write.
    pub files_changed: Vec<PathBuf>,
    /// What the model said about the whole task.
    pub completion: Option<Signal>,
    /// Why the loop stopped.
    pub stop: Stop,
    /// Tokens of the conversation, without those of condensing.
    pub usage: Usage,
    /// Their cost, as far as the model's prices are known.
    pub cost: Cost,
    /// Answers of the model.
    pub turns: usize,
    /// Tool calls that were answered.
    pub tool_calls: usize,
    /// The conversation; its log is the state, its view the trimmed list. Absent only if no window could be made.
    pub conversation_state: Option<Conversation>,
    /// The figures of the view that was sent last.
    pub conversation_metrics: ConversationMetrics,
    /// What condensing did in the whole conversation.
    pub condensing: CondensingMetrics,
}

impl ExecutionResult {
    /// The same at the end: how it came, and the conversation it came to, if there is one.
    pub(crate) fn ended(self, how: Result<Stop, ExecutionError>, conversation: Option<Conversation>) -> Self {
        Self {
            success: how.as_ref().is_ok_and(|stop| *stop != Stop::Cancelled),
            stop: how.as_ref().copied().unwrap_or(Stop::Failed),
            error: how.err(),
            conversation_metrics: conversation.as_ref().map(Conversation::metrics).unwrap_or_default(),
            condensing: conversation.as_ref().map(Conversation::condensing).unwrap_or_default(),
            conversation_state: conversation,
            ..self
        }
    }
}

/// Why the loop stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// The model had nothing more to do.
    #[default]
    EndOfTurn,
    /// The reply was full before the model was done.
    MaxTokens,
    /// The task is complete.
    Completed,
    /// The task cannot go on.
    Blocked,
    /// So many calls of the model were enough.
    TurnLimit,
    /// The next call might have cost more than there is to spend.
    OutOfBudget,
    /// Somebody asked to stop.
    Cancelled,
    /// Something failed.
    Failed,
}

/// What failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExecutionError {
    /// What kind of failure.
    pub category: Category,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// One sentence.
    pub message: String,
}

impl ExecutionError {
    pub(crate) fn new(category: Category, message: String) -> Self {
        Self { category, status: None, message }
    }
}

impl From<&ProviderError> for ExecutionError {
    fn from(error: &ProviderError) -> Self {
        let cause = std::error::Error::source(error).map(|source| format!(" ({source})")).unwrap_or_default();
        Self { category: error.category(), status: error.status(), message: format!("{error}{cause}") }
    }
}

impl From<Overflow> for ExecutionError {
    fn from(overflow: Overflow) -> Self {
        Self::new(Category::Overflow, overflow.to_string())
    }
}
