//! What a window can be rebuilt from.

use super::{ConversationWindow, Fit, WindowConfig};
use crate::condense::Summary;
use crate::policy::SettingsError;
use crate::wire::Message;
use std::sync::Arc;

/// Something besides a message that decisions follow from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A request was made ready here.
    Fitted,
    /// The provider said how many tokens the last request had.
    UsageReported {
        /// Its figure.
        input_tokens: u64,
    },
    /// The provider's cache had expired before the next request.
    CacheExpired,
    /// A summary arrived, or failed to.
    Answered {
        /// The job it answers.
        job: u64,
        /// The summary, or what went wrong.
        answer: Result<Summary, String>,
    },
}

/// Messages and events in order: the same log and config give the same view on any machine.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The messages.
    pub messages: Vec<Arc<Message>>,
    /// The events, each with the number of messages that stood before it.
    pub events: Vec<(usize, Event)>,
}

impl Log {
    /// A transcript without events: requests are taken to stand before each run of the model's messages, and at the
    /// end.
    #[must_use]
    pub fn of_transcript(messages: Vec<Arc<Message>>) -> Self {
        let is_model = |index: usize| messages.get(index).is_some_and(|message| message.shape().is_from_model());
        let starts = (1..messages.len()).filter(|index| is_model(*index) && !is_model(index - 1));
        let events = starts.chain([messages.len()]).map(|at| (at, Event::Fitted)).collect();
        Self { messages, events }
    }

    /// A list about which one decision is made, at its end.
    #[must_use]
    pub fn decided_once(messages: Vec<Arc<Message>>) -> Self {
        let events = vec![(messages.len(), Event::Fitted)];
        Self { messages, events }
    }
}

impl ConversationWindow {
    /// What this window can be rebuilt from.
    #[must_use]
    pub fn log(&self) -> Log {
        let messages = self.entries.iter().map(|entry| Arc::clone(&entry.message)).collect();
        Log { messages, events: self.events.clone() }
    }

    /// Lives through a log again. Returns the last fit beside the window; a fit that failed on the way left the view
    /// as it was, exactly as it did then.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn rebuild(
        config: WindowConfig,
        log: Log,
    ) -> Result<(Self, Result<Fit, crate::plan::Overflow>), SettingsError> {
        let mut window = Self::new(config)?;
        let mut last = Ok(Fit::default());
        let mut events = log.events.into_iter().peekable();
        let mut messages = log.messages.into_iter();
        loop {
            while let Some((_, event)) = events.next_if(|(at, _)| *at <= window.len()) {
                if let Some(fit) = window.live_through(event) {
                    last = fit;
                }
            }
            let Some(message) = messages.next() else {
                return Ok((window, last));
            };
            window.push(message);
        }
    }

    fn live_through(&mut self, event: Event) -> Option<Result<Fit, crate::plan::Overflow>> {
        match event {
            Event::Fitted => return Some(self.fit()),
            Event::CacheExpired => self.cache_expired(),
            Event::UsageReported { input_tokens } => self.report_usage(input_tokens),
            // An overflow after a summary was reported when it happened; the view is the same now as then.
            Event::Answered { job, answer } => drop(self.answer(job, answer)),
        }
        None
    }
}
