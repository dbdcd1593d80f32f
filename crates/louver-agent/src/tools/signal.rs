/// The model's own word that a task has come to an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// `task_complete` was called, with this summary.
    Complete(String),
    /// `task_blocked` was called, for this reason.
    Blocked(String),
}
