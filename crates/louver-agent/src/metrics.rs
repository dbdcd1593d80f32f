//! What is said about a conversation.

use crate::usage::Usage;
use louver::catalog::Cost;
use louver::window::Metrics;
use serde::{Deserialize, Serialize};

/// The seeds' four figures, and how many messages are sent: all of the view that was sent last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationMetrics {
    /// Messages in the log at that time.
    pub total_messages: usize,
    /// Messages of the log that are sent.
    pub preserved_messages: usize,
    /// Messages of the log that are left out.
    pub evicted_messages: usize,
    /// Characters of what is sent divided by four; good to about 20 %.
    pub estimated_tokens: u64,
    /// Messages in the view: those of the log, a summary and markers.
    pub message_count: usize,
}

impl ConversationMetrics {
    pub(crate) fn new(metrics: Metrics, message_count: usize) -> Self {
        Self {
            total_messages: metrics.total_messages,
            preserved_messages: metrics.preserved_messages,
            evicted_messages: metrics.evicted_messages,
            estimated_tokens: metrics.estimated_tokens,
            message_count,
        }
    }
}

/// What condensing did and cost, apart from the conversation itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CondensingMetrics {
    /// Summaries that were asked for.
    pub asked: usize,
    /// Summaries that stand or stood in the view.
    pub accepted: usize,
    /// Those that failed, came too late, or were refused.
    pub failed: usize,
    /// The tokens of all of them.
    pub usage: Usage,
    /// Their cost, as far as the model's prices are known.
    pub cost: Cost,
}
