//! What a window can be rebuilt or restored from.

use super::{Decision, Fit, Usage, Window, WindowConfig};
use crate::budget::Budget;
use crate::condense::Summary;
use crate::error::{Error, RecordError};
use crate::plan::Overflow;
use crate::policy::SettingsError;
use crate::wire::{Format, Message};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The version of the records.
const VERSION: u32 = 1;

/// Something besides a message that decisions follow from, with the decision that was made.
///
/// ```
/// use louver::window::Event;
/// use louver::{Format, Window};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.cache_expired();
/// assert!(matches!(window.events(), [(0, Event::Configured(_)), (0, Event::CacheExpired)]));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// From here on decisions are made with this.
    Configured(Box<Configured>),
    /// A request was made ready here; nothing where the view stayed as it was.
    Fitted(Option<Box<Decision>>),
    /// A message came that could not stand as it was pushed: it left at once, because the call that it answers had left
    /// before, or something of our own stands before it.
    Arrived(Box<Decision>),
    /// The provider said how many tokens the last request had.
    UsageReported {
        /// Its figure.
        input_tokens: u64,
    },
    /// The caller said how many tokens all but the last message have.
    TotalReported {
        /// Their figure.
        total_tokens: u64,
    },
    /// The provider's cache had expired before the next request.
    CacheExpired,
    /// The provider takes less than was known.
    Limited {
        /// The context window.
        context_window: u64,
        /// What is kept free for the reply.
        reserve: u64,
    },
    /// A summary arrived, or failed to.
    Answered(Box<Answered>),
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answered {
    /// The job it answers.
    pub job: u64,
    /// The summary, or what went wrong.
    pub answer: Result<Summary, String>,
    /// What became of the view; nothing where the summary was rejected.
    pub decisions: Vec<Decision>,
}

/// With what decisions are made. They hold under any other; the next ones are the same under the same alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Configured {
    /// The version of the engine.
    pub engine: String,
    /// The window's configuration.
    pub config: serde_json::Value,
}

impl Event {
    /// What became of the view.
    pub(super) fn decisions_mut(&mut self) -> &mut [Decision] {
        match self {
            Self::Fitted(Some(decision)) | Self::Arrived(decision) => std::slice::from_mut(decision),
            Self::Answered(answered) => &mut answered.decisions,
            _ => &mut [],
        }
    }

    /// Whether it says what became of the view.
    fn is_decision(&self) -> bool {
        match self {
            Self::Fitted(_) | Self::Arrived(_) => true,
            Self::Answered(answered) => !answered.decisions.is_empty(),
            _ => false,
        }
    }
}

/// Messages and events in order: the same log and config give the same view on any machine.
///
/// ```
/// use louver::window::{Log, WindowConfig};
/// use louver::{Format, Message, PolicyKind, Record, Window};
/// use std::sync::Arc;
///
/// let said = |raw: &str| Message::parse(Format::OpenAiChat, raw).map(Arc::new);
/// let messages = vec![said(r#"{"role":"user","content":"Hi"}"#)?, said(r#"{"role":"assistant","content":"Hello"}"#)?];
/// assert_eq!(Log::of_transcript(messages.clone()).events.len(), 2); // a request before the answer, and one behind it
/// assert_eq!(Log::decided_once(messages.clone()).events.len(), 1);
/// let log = Log::of_records(Format::OpenAiChat, [Record::Message(messages[0].raw().to_owned())])?;
/// let config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything);
/// assert_eq!(Window::restore(config, log)?.len(), 1);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// The messages.
    pub messages: Vec<Arc<Message>>,
    /// The events, each with the number of messages that stood before it.
    pub events: Vec<(usize, Event)>,
}

/// One line of an append-only file from which a window can be opened again, by this version or any later one.
///
/// ```
/// use louver::{Format, Window};
/// use louver::window::Record;
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5.5").build()?;
/// window.push_raw(r#"{"role":"user","content":"Hello"}"#)?;
/// window.fit()?;
/// let lines: Vec<String> = window.records_since(0).map(|record| serde_json::to_string(&record).unwrap()).collect();
/// assert_eq!(lines.len(), 4, "a header, the settings, a message, a decision");
///
/// let records = lines.iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
/// let opened = Window::open(window.config().clone(), records)?;
/// assert_eq!(opened.view().len(), 1);
/// # Ok::<(), louver::Error>(())
/// ```
///
/// ```
/// use louver::{Format, Record, Window};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// let written = window.records_since(0).count();
/// window.push_raw(r#"{"role":"user","content":"Hello"}"#)?;
/// let new: Vec<Record> = window.records_since(written).collect(); // only what came since
/// assert_eq!(new, [Record::Message(r#"{"role":"user","content":"Hello"}"#.to_owned())]);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Record {
    /// The first line: how the rest is to be read.
    Louver {
        /// The version of the records.
        #[serde(default)]
        version: u32,
        /// The wire format.
        format: Format,
    },
    /// A message was pushed. As text, because a line must hold no line breaks.
    Message(String),
    /// Something else happened.
    Event(Event),
}

impl Log {
    /// A transcript without events: requests are taken to stand before each run of the model's messages, and at the
    /// end.
    pub fn of_transcript(messages: Vec<Arc<Message>>) -> Self {
        let is_model = |index: usize| messages.get(index).is_some_and(|message| message.shape().is_from_model());
        let starts = (1..messages.len()).filter(|index| is_model(*index) && !is_model(index - 1));
        let events = starts.chain([messages.len()]).map(|at| (at, Event::Fitted(None))).collect();
        Self { messages, events }
    }

    /// A list about which one decision is made, at its end.
    pub fn decided_once(messages: Vec<Arc<Message>>) -> Self {
        let events = vec![(messages.len(), Event::Fitted(None))];
        Self { messages, events }
    }

    /// The log of some records; the header is not part of it.
    ///
    /// # Errors
    ///
    /// A message that cannot be read, or records of another format or a later version.
    pub fn of_records(format: Format, records: impl IntoIterator<Item = Record>) -> Result<Self, Error> {
        let mut log = Self::default();
        for record in records {
            match record {
                Record::Louver { format: written, .. } if written != format => {
                    return Err(RecordError::OtherFormat { recorded: written, expected: format }.into());
                }
                Record::Louver { version, .. } if version > VERSION => {
                    return Err(RecordError::LaterVersion { recorded: version, known: VERSION }.into());
                }
                Record::Louver { .. } => {}
                Record::Message(raw) => log.messages.push(Arc::new(Message::parse(format, &raw)?)),
                Record::Event(event) => log.events.push((log.messages.len(), event)),
            }
        }
        Ok(log)
    }
}

impl Window {
    /// What this window can be rebuilt from.
    pub fn log(&self) -> Log {
        let messages = self.entries.iter().map(|entry| Arc::clone(&entry.message)).collect();
        Log { messages, events: self.events.clone() }
    }

    /// Everything besides messages that happened so far, each with the number of messages that stood before it.
    pub fn events(&self) -> &[(usize, Event)] {
        &self.events
    }

    /// What was appended since there were so many records, in O(that): write each as a line, and [`open`](Self::open) gives the
    /// window back.
    pub fn records_since(&self, count: usize) -> impl Iterator<Item = Record> {
        let header = Record::Louver { version: VERSION, format: self.config.format };
        // Each event stands behind as many messages as it says: found, not walked to.
        let skipped = count.saturating_sub(1);
        let mut next_event = partition(self.events.len(), |event| self.events[event].0 + event < skipped);
        let mut next_message = skipped - next_event;
        let rest = std::iter::from_fn(move || {
            if let Some((_, event)) = self.events.get(next_event).filter(|(at, _)| *at <= next_message) {
                next_event += 1;
                return Some(Record::Event(event.clone()));
            }
            let entry = self.entries.get(next_message)?;
            next_message += 1;
            Some(Record::Message(entry.message.raw().to_owned()))
        });
        std::iter::once(header).filter(move |_| count == 0).chain(rest)
    }

    /// The window of some records: its recorded decisions hold, whatever the configuration is now.
    ///
    /// # Errors
    ///
    /// A record that cannot be, a message that cannot be read, or settings that the policy cannot work with.
    pub fn open(config: WindowConfig, records: impl IntoIterator<Item = Record>) -> Result<Self, Error> {
        let log = Log::of_records(config.format, records)?;
        Self::restore(config, log)
    }

    /// Lives through a log with its recorded decisions: policy, templates and rules are not asked again, so the view has
    /// the same bytes under any configuration. Only what comes next follows the new one.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and a recorded decision that cannot be.
    pub fn restore(config: WindowConfig, log: Log) -> Result<Self, Error> {
        let mut window = Self::empty(config)?;
        // What came after the last decision is not decided yet.
        let decided = log.events.iter().rposition(|(_, event)| event.is_decision()).map_or(0, |last| last + 1);
        let mut messages = log.messages.into_iter();
        for (number, (at, event)) in log.events.into_iter().enumerate() {
            window.is_reliving = number < decided;
            window.push_up_to(at, &mut messages);
            window.relive_event(event)?;
        }
        window.is_reliving = false;
        window.push_up_to(usize::MAX, &mut messages);
        window.note_config();
        Ok(window)
    }

    /// Records with what decisions are made from here on, unless that was recorded already.
    pub(super) fn note_config(&mut self) {
        let engine = env!("CARGO_PKG_VERSION").to_owned();
        let configured = Configured { engine, config: serde_json::to_value(&self.config).unwrap_or_default() };
        let last = self.events.iter().rev().find_map(|(_, event)| match event {
            Event::Configured(last) => Some(&**last),
            _ => None,
        });
        if last != Some(&configured) {
            self.record(Event::Configured(Box::new(configured)));
        }
    }

    fn relive_event(&mut self, event: Event) -> Result<(), RecordError> {
        match &event {
            Event::Fitted(decision) => self.relive(decision.as_deref().unwrap_or(&Decision::default()))?,
            Event::Arrived(decision) => self.relive_arrival(decision)?,
            Event::Answered(answered) => self.relive_answer(answered)?,
            Event::Configured(_) => {}
            _ => {
                self.live_through(event);
                return Ok(());
            }
        }
        self.record(event);
        Ok(())
    }

    /// Lives through a log again and decides everything anew. Returns the last fit beside the window.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn rebuild(config: WindowConfig, log: Log) -> Result<(Self, Result<Fit, Overflow>), SettingsError> {
        let mut window = Self::new(config)?;
        let mut last = Ok(Fit::default());
        let mut messages = log.messages.into_iter();
        for (at, event) in log.events {
            window.push_up_to(at, &mut messages);
            if let Some(fit) = window.live_through(event) {
                last = fit;
            }
        }
        window.push_up_to(usize::MAX, &mut messages);
        Ok((window, last))
    }

    /// Pushes until the log has so many messages, or there are no more.
    fn push_up_to(&mut self, len: usize, messages: &mut impl Iterator<Item = Arc<Message>>) {
        while self.len() < len
            && let Some(message) = messages.next()
        {
            self.push(message);
        }
    }

    fn live_through(&mut self, event: Event) -> Option<Result<Fit, Overflow>> {
        match event {
            Event::Fitted(_) => return Some(self.fit()),
            // The messages themselves bring it about, and other settings may decide otherwise.
            Event::Arrived(_) | Event::Configured(_) => {}
            Event::CacheExpired => self.cache_expired(),
            Event::UsageReported { input_tokens } => {
                self.report_usage(Usage::of_input(input_tokens));
            }
            Event::TotalReported { total_tokens } => self.report_total(total_tokens),
            Event::Limited { context_window, reserve } => {
                if let Ok(budget) = Budget::new(context_window, Some(reserve)) {
                    self.limit_to(budget);
                }
            }
            Event::Answered(answered) => drop(self.answer(answered.job, answered.answer)),
        }
        None
    }
}

/// How many of the first so many numbers hold, where all that hold come first.
fn partition(len: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
