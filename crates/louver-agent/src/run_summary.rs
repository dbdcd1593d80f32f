//! What a whole run gave.

use crate::tools::Signal;
use crate::totals::{Totals, add_new};
use crate::{CondensingMetrics, ConversationMetrics, ExecutionError, ExecutionResult, Usage};
use louver::catalog::Cost;
use louver::window::Log;
use std::path::PathBuf;
use std::time::Duration;

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunOutcome {
    /// The task is done; the model's own summary.
    Completed(String),
    /// The task cannot go on; the reason.
    Blocked(String),
    /// The iterations are used up.
    #[default]
    OutOfIterations,
    /// The next call might have cost more than there is to spend.
    OutOfBudget,
    /// Somebody asked to stop.
    Cancelled,
    /// Something failed.
    Failed(ExecutionError),
}

impl From<Signal> for RunOutcome {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Complete(text) => Self::Completed(text),
            Signal::Blocked(reason) => Self::Blocked(reason),
        }
    }
}

/// What a whole run gave, for the box at its end.
#[derive(Clone, Debug, Default)]
pub struct RunSummary {
    /// How it ended.
    pub outcome: RunOutcome,
    /// The last iteration's number.
    pub iterations: usize,
    /// Answers of the model.
    pub turns: usize,
    /// Tool calls that were answered.
    pub tool_calls: usize,
    /// Files that tools wrote, each once.
    pub files_changed: Vec<PathBuf>,
    /// What the model said last.
    pub output: String,
    /// Tokens of the conversation.
    pub usage: Usage,
    /// Their cost, as far as prices are known.
    pub cost: Cost,
    /// The figures of the view that was sent last.
    pub conversation_metrics: ConversationMetrics,
    /// What condensing did and cost.
    pub condensing: CondensingMetrics,
    /// How long it took.
    pub duration: Duration,
    /// The log at the end.
    pub log: Log,
}

impl RunSummary {
    /// A run that goes on from what its earlier processes did and paid.
    pub(crate) fn after(totals: Totals) -> Self {
        let Totals { turns, tool_calls, files_changed, usage, cost, condensing, duration, .. } = totals;
        Self { turns, tool_calls, files_changed, usage, cost, condensing, duration, ..Self::default() }
    }

    pub(crate) fn add(&mut self, iteration: usize, result: &ExecutionResult) {
        self.iterations = iteration;
        self.turns += result.turns;
        self.tool_calls += result.tool_calls;
        add_new(&mut self.files_changed, &result.files_changed);
        self.output.clone_from(&result.output);
        self.usage += result.usage;
        self.cost += result.cost;
        self.conversation_metrics = result.conversation_metrics;
        self.condensing = result.condensing;
    }
}
