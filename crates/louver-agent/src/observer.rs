//! What happens during a run, for whoever watches.

use crate::metrics::ConversationMetrics;
use crate::telemetry::Decision;
use louver::catalog::Cost;
use louver::display::{shortened, truncate};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Characters of a summary that a notice shows.
const NOTICE_CHARS: usize = 100;

/// Characters of a call's arguments, or of its failure, that its line shows.
const ARGUMENTS_CHARS: usize = 100;

/// Characters of an answer that is not kept.
const DISCARDED_CHARS: usize = 100;

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
        /// Messages that it was sent without.
        evicted_messages: usize,
        /// Tokens in the request, as the provider counted.
        prompt_tokens: u64,
    },
    /// An answer came that counts for nothing: it is not kept, and asked for again.
    Discarded {
        /// What it said.
        text: String,
        /// Why it is not kept.
        reason: String,
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
    /// A tool is called.
    ToolStarted {
        /// The tool's name.
        name: String,
        /// Its arguments, as JSON; as the model wrote them where that is none.
        arguments: String,
    },
    /// A tool gave something back.
    ToolFinished {
        /// The tool's name.
        name: String,
        /// The last line of what it said, if it failed.
        error: Option<String>,
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
    /// The window decided something.
    Decided(Box<Decision>),
    /// Something the user should know.
    Warning(String),
    /// An iteration ended.
    IterationFinished {
        /// The figures of the view that was sent last.
        metrics: ConversationMetrics,
    },
    /// The view is close to the cap on messages.
    ApproachingLimit {
        /// Messages in the view that was sent last.
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

    /// Whether it is what the model says and does, which is as long as it likes.
    pub fn is_talk(&self) -> bool {
        matches!(
            self,
            Self::Answered { .. } | Self::Discarded { .. } | Self::ToolStarted { .. } | Self::ToolFinished { .. }
        )
    }

    /// What a person reads, where there is something: one line, but for what the model says.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::IterationFinished { metrics } => {
                let (messages, tokens) = (counted(metrics.message_count, "message"), metrics.estimated_tokens);
                Some(format!("Conversation: {messages} (~{tokens} tokens)"))
            }
            Self::ApproachingLimit { message_count, max_messages } => {
                Some(format!("Conversation approaching limit ({message_count}/{max_messages} messages)"))
            }
            Self::Condensed { summary } => Some(format!("Context condensed: {}...", truncate(summary, NOTICE_CHARS))),
            Self::Truncated { messages } => {
                Some(format!("Context truncated: {} removed", counted(*messages, "message")))
            }
            Self::Retrying { reason, wait } => Some(format!("{reason}; trying again in {:.1} s", wait.as_secs_f64())),
            Self::Warning(warning) => Some(warning.clone()),
            Self::Answered { text, .. } => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Self::Discarded { text, reason } => Some(
                format!("[discarded, because {reason}] {}", shortened(text, DISCARDED_CHARS)).trim_end().to_owned(),
            ),
            Self::ToolStarted { name, arguments } => {
                Some(format!("> {name} {}", shortened(arguments, ARGUMENTS_CHARS)))
            }
            Self::ToolFinished { name, error: Some(error), .. } => {
                Some(format!("> {name} failed: {}", shortened(error, ARGUMENTS_CHARS)))
            }
            Self::IterationStarted { .. } | Self::Billed { .. } | Self::ToolFinished { .. } | Self::Decided(_) => None,
        }
    }
}

/// `1 message`, `12 messages`.
fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
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
