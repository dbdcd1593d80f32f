//! Every decision as one structured event.

use louver::Fit;
use std::time::Duration;

/// What a window decided, as `tracing` gets it: target `louver::decision`, one event each.
#[derive(Debug)]
pub(crate) struct Decision<'a> {
    pub(crate) trigger: &'a str,
    pub(crate) policy: &'a str,
    pub(crate) task_id: &'a str,
    pub(crate) messages_before: usize,
    pub(crate) messages_after: usize,
    pub(crate) tokens_before: u64,
    pub(crate) tokens_after: u64,
    /// Log indices of what left, as ranges.
    pub(crate) evicted: String,
    pub(crate) summary: Option<&'a str>,
    pub(crate) cost_usd: f64,
    pub(crate) duration: Duration,
    pub(crate) error: Option<&'a str>,
}

impl Decision<'_> {
    pub(crate) fn emit(&self) {
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
            summary = self.summary,
            cost_usd = self.cost_usd,
            duration_ms = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX),
            error = self.error,
            "context decision"
        );
    }
}

/// The ranges of a fit as text, `3..7,9..12`.
pub(crate) fn evicted_ids(fit: &Fit) -> String {
    let ranges: Vec<String> = fit.evicted.iter().map(|range| format!("{}..{}", range.start, range.end)).collect();
    ranges.join(",")
}
