//! What happens during a run, for whoever watches.

use crate::metrics::ConversationMetrics;
use louver::catalog::Cost;
use louver::display::truncate;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Characters of a summary that a notice shows.
const NOTICE_CHARS: usize = 100;

/// The share of the cap, in percent, from which a conversation approaches it.
const APPROACHING_PERCENT: usize = 80;

/// Something that happened. [`message`](Self::message) is the line a person reads, where there is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunEvent {
    /// An iteration begins.
    IterationStarted {
        /// Its number, from 1.
        iteration: usize,
    },
    /// The model answered.
    Answered {
        /// What it said.
        text: String,
        /// How many tools it calls.
        calls: usize,
        /// Messages in the request.
        message_count: usize,
        /// Tokens in the request, as the provider counted.
        prompt_tokens: u64,
    },
    /// A call of a model was billed, for the conversation or for a summary.
    Billed {
        /// What it cost, cache reads and writes included; nothing where the model's prices are unknown.
        cost: Cost,
    },
    /// A call of a model failed and is tried again.
    Retrying {
        /// Why it failed.
        reason: String,
        /// How long it waits before that.
        wait: Duration,
    },
    /// A tool gave something back.
    ToolFinished {
        /// The tool's name.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// How long it took.
        duration: Duration,
    },
    /// Messages left the view.
    Truncated {
        /// How many.
        messages: usize,
    },
    /// A summary took the place of messages.
    Condensed {
        /// Its text.
        summary: String,
    },
    /// Something the user should know.
    Warning(String),
    /// An iteration ended.
    IterationFinished {
        /// What the conversation is like now.
        metrics: ConversationMetrics,
    },
    /// The view is close to the cap on messages.
    ApproachingLimit {
        /// Messages in the view.
        message_count: usize,
        /// The cap.
        max_messages: usize,
    },
}

impl RunEvent {
    /// The approach to a cap, if it is one.
    pub(crate) fn approaching(message_count: usize, max_messages: usize) -> Option<Self> {
        let is_near = message_count * 100 >= max_messages * APPROACHING_PERCENT;
        is_near.then_some(Self::ApproachingLimit { message_count, max_messages })
    }

    /// The line that a person reads.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::IterationFinished { metrics } => {
                Some(format!("Conversation: {} messages (~{} tokens)", metrics.message_count, metrics.estimated_tokens))
            }
            Self::ApproachingLimit { message_count, max_messages } => {
                Some(format!("Conversation approaching limit ({message_count}/{max_messages} messages)"))
            }
            Self::Condensed { summary } => Some(format!("Context condensed: {}...", truncate(summary, NOTICE_CHARS))),
            Self::Truncated { messages } => Some(format!("Context truncated: {messages} messages removed")),
            Self::Retrying { reason, wait } => Some(format!("{reason}; trying again in {:.1} s", wait.as_secs_f64())),
            Self::Warning(warning) => Some(warning.clone()),
            Self::IterationStarted { .. } | Self::Answered { .. } | Self::Billed { .. } | Self::ToolFinished { .. } => {
                None
            }
        }
    }
}

/// Where events go. A callback: it should be quick, and may send on to a channel.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<OnEvent>>);

type OnEvent = dyn Fn(&RunEvent) + Send + Sync;

impl Observer {
    /// Calls a function at every event.
    pub fn new(on_event: impl Fn(&RunEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(on_event)))
    }

    pub(crate) fn emit(&self, event: &RunEvent) {
        if let Some(on_event) = &self.0 {
            on_event(event);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
