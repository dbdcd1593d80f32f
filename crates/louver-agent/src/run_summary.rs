//! What a whole run gave.

use crate::conversation::{CondensingMetrics, ConversationMetrics};
use crate::execution_result::{ExecutionError, ExecutionResult};
use crate::observer::conversation_line;
use crate::usage::Usage;
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
    /// Somebody asked to stop.
    Cancelled,
    /// Something failed.
    Failed(ExecutionError),
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
    /// What the conversation is like at the end.
    pub conversation_metrics: ConversationMetrics,
    /// What condensing did and cost.
    pub condensing: CondensingMetrics,
    /// How long it took.
    pub duration: Duration,
    /// The log at the end.
    pub log: Log,
}

impl RunSummary {
    pub(crate) fn add(&mut self, iteration: usize, result: &ExecutionResult) {
        self.iterations = iteration;
        self.turns += result.turns;
        self.tool_calls += result.tool_calls;
        let new = result.files_changed.iter().filter(|path| !self.files_changed.contains(path));
        let new: Vec<PathBuf> = new.cloned().collect();
        self.files_changed.extend(new);
        self.output.clone_from(&result.output);
        self.usage += result.usage;
        self.cost += result.cost;
        self.conversation_metrics = result.conversation_metrics;
        self.condensing = result.condensing;
    }

    /// The rows of the box: what, and how much.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let metrics = &self.conversation_metrics;
        let usage = self.usage;
        let mut rows = vec![
            ("Outcome", self.outcome_line()),
            ("Iterations", self.iterations.to_string()),
            ("Turns", format!("{} ({} tool calls)", self.turns, self.tool_calls)),
            ("Files changed", self.files_changed.len().to_string()),
            ("Conversation", conversation_line(metrics).trim_start_matches("Conversation: ").to_owned()),
            ("Left out", format!("{} of {} messages", metrics.evicted_messages, metrics.total_messages)),
            ("Tokens in", format!("{} ({} from cache)", usage.prompt_tokens(), usage.cache_read_tokens)),
            ("Tokens out", usage.output_tokens.to_string()),
            ("Cost", format!("${:.4}", self.cost.usd())),
        ];
        let condensing = &self.condensing;
        if condensing.asked > 0 {
            let tokens = condensing.usage.prompt_tokens() + condensing.usage.output_tokens;
            let accepted = format!("{} of {}", condensing.accepted, condensing.asked);
            rows.push(("Summaries", format!("{accepted}, {tokens} tokens, ${:.4}", condensing.cost.usd())));
        }
        rows.push(("Time", format!("{:.1} s", self.duration.as_secs_f64())));
        rows
    }

    fn outcome_line(&self) -> String {
        match &self.outcome {
            RunOutcome::Completed(_) => "completed".to_owned(),
            RunOutcome::Blocked(reason) => format!("blocked: {reason}"),
            RunOutcome::OutOfIterations => "out of iterations".to_owned(),
            RunOutcome::Cancelled => "cancelled".to_owned(),
            RunOutcome::Failed(error) => format!("failed ({}): {error}", error.category),
        }
    }
}
