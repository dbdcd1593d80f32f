//! What the processes of a run did and paid together.

use crate::condensing::cost;
use crate::metrics::{CondensingMetrics, ConversationMetrics};
use crate::tools::ToolOutput;
use crate::usage::Usage;
use louver::catalog::Cost;
use std::path::PathBuf;
use std::time::Duration;

/// What a run did and paid so far, as its state file tells it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) turns: usize,
    pub(crate) tool_calls: usize,
    pub(crate) files_changed: Vec<PathBuf>,
    pub(crate) usage: Usage,
    pub(crate) cost: Cost,
    pub(crate) condensing: CondensingMetrics,
    pub(crate) duration: Duration,
    /// The figures of the view that was sent last.
    pub(crate) sent: Option<ConversationMetrics>,
}

impl Totals {
    /// Adds a call of a model.
    pub(crate) fn bill(&mut self, model: &str, usage: Usage, is_summary: bool) {
        if is_summary {
            self.condensing.usage += usage;
            self.condensing.cost += cost(model, usage);
            return;
        }
        self.turns += 1;
        self.usage += usage;
        self.cost += cost(model, usage);
    }

    /// Adds the answer to a call for a summary.
    pub(crate) fn add_summary(&mut self, is_accepted: bool) {
        self.condensing.asked += 1;
        self.condensing.accepted += usize::from(is_accepted);
        self.condensing.failed += usize::from(!is_accepted);
    }

    /// Adds the tool calls of a turn.
    pub(crate) fn add_calls<'o>(&mut self, outputs: impl Iterator<Item = &'o ToolOutput>) {
        for output in outputs {
            self.tool_calls += 1;
            add_new(&mut self.files_changed, &output.files_changed);
        }
    }
}

/// Adds the files that are not there yet.
pub(crate) fn add_new(files: &mut Vec<PathBuf>, more: &[PathBuf]) {
    for path in more {
        if !files.contains(path) {
            files.push(path.clone());
        }
    }
}
