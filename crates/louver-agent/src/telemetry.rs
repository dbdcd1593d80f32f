//! Every decision as one structured event.

use crate::redact;
use louver::Fit;
use serde::Serialize;
use std::time::Duration;

/// What a window decided: a [`RunEvent::Decided`](crate::RunEvent::Decided) for whoever watches, and an event of the target `louver::decision` for
/// `tracing`. Its JSON is a line of `louver run --events`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Decision {
    /// Why: what the policy says of a cut, `SummaryArrived` or `ProviderOverflow`.
    pub trigger: String,
    /// The policy's name.
    pub policy: String,
    /// The task.
    pub task_id: String,
    /// Messages of the log in the view before.
    pub messages_before: usize,
    /// The same after.
    pub messages_after: usize,
    /// Tokens before, everything that is sent counted.
    pub tokens_before: u64,
    /// The same after.
    pub tokens_after: u64,
    /// Log indices of what left, as ranges: `3..7,9..12`.
    pub evicted: String,
    /// The summary that took the place of messages.
    pub summary: Option<String>,
    /// What that cost, in USD.
    pub cost_usd: f64,
    /// How long it took.
    pub duration_ms: u64,
    /// What went wrong.
    pub error: Option<String>,
}

impl Decision {
    pub(crate) fn log(&self) {
        tracing::info!(
            target: "louver::decision",
            trigger = %self.trigger,
            policy = self.policy,
            task_id = self.task_id,
            messages_before = self.messages_before,
            messages_after = self.messages_after,
            tokens_before = self.tokens_before,
            tokens_after = self.tokens_after,
            evicted = %self.evicted,
            summary = self.summary.as_deref().map(redact).as_deref(),
            cost_usd = self.cost_usd,
            duration_ms = self.duration_ms,
            error = self.error.as_deref().map(redact).as_deref(),
            "context decision"
        );
    }
}

/// A duration as a log has it.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The ranges of a fit as text, `3..7,9..12`.
pub(crate) fn evicted_ids(fit: &Fit) -> String {
    let ranges: Vec<String> = fit.evicted.iter().map(|range| format!("{}..{}", range.start, range.end)).collect();
    ranges.join(",")
}
