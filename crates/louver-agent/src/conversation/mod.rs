//! A conversation: the engine's window, and the file that remembers it.

mod sealed_line;
mod state_error;
mod state_file;
mod state_path;

pub use state_error::StateError;
pub use state_file::{Existing, StateFile};

pub(crate) use state_file::{OpenTurn, Recorded};

use crate::condensing::Pending;
use crate::metrics::{CondensingMetrics, ConversationMetrics};
use crate::provider::call_ids;
use crate::telemetry::milliseconds;
use crate::tools::ToolOutput;
use crate::usage::Usage;
use louver::catalog::Cost;
use louver::condense::{Outcome, Summary};
use louver::plan::Overflow;
use louver::window::{Event, Fit, Log, Window, WindowConfig};
use louver::{Budget, Message};
use state_file::{Record, raw};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// What is carried from one call of [`execute`](crate::execute) to the next: the log, and the window over it. Its view
/// is the trimmed list.
#[derive(Debug)]
pub struct Conversation {
    window: Window,
    /// How many of the window's events the file has.
    events_written: usize,
    file: Option<StateFile>,
    /// The first thing that could not be written; a run that cannot be remembered stops.
    file_error: Option<StateError>,
    open: Option<OpenTurn>,
    pub(crate) last_sent: LastSent,
    /// The figures of the view that was sent last, by whatever process.
    sent: Option<ConversationMetrics>,
    pub(crate) pending: Option<Pending>,
    pub(crate) condensing: CondensingMetrics,
    /// What all calls of the run cost, in whatever process, summaries included, as far as prices are known.
    pub(crate) spent: Cost,
    /// The ids of all calls so far.
    pub(crate) call_ids: HashSet<String>,
    /// The longest reply that the provider has room for, where it said that there is less than was asked for.
    pub(crate) reply_limit: Option<u64>,
}

/// The request before.
#[derive(Debug, Default)]
pub(crate) struct LastSent {
    /// How many messages it had that the next one begins with, too.
    pub(crate) stable_messages: usize,
    /// Its messages and their places in the log, kept only where a summary may want to ride on them.
    pub(crate) messages: Vec<String>,
    pub(crate) indices: Vec<usize>,
    /// What the provider counted.
    pub(crate) prompt_tokens: u64,
    /// When its answer had arrived; nothing once the cache is known to have expired since.
    pub(crate) at: Option<Instant>,
}

impl Conversation {
    /// An empty conversation.
    ///
    /// # Errors
    ///
    /// Settings that the policy cannot work with.
    pub fn new(config: WindowConfig) -> Result<Self, louver::Error> {
        Self::restore(config, Log::default())
    }

    /// The conversation of a log, whose recorded decisions hold.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), and a recorded decision that cannot be.
    pub fn restore(config: WindowConfig, log: Log) -> Result<Self, louver::Error> {
        Ok(Self {
            call_ids: call_ids(log.messages.iter().map(|message| &**message)).collect(),
            events_written: log.events.len(),
            window: Window::restore(config, log)?,
            file: None,
            file_error: None,
            open: None,
            last_sent: LastSent::default(),
            sent: None,
            pending: None,
            condensing: CondensingMetrics::default(),
            spent: Cost::ZERO,
            reply_limit: None,
        })
    }

    /// The conversation of a state file, which it goes on writing.
    pub(crate) fn resume(config: WindowConfig, file: StateFile, recorded: Recorded) -> Result<Self, louver::Error> {
        let mut conversation = Self::restore(config, recorded.log)?;
        conversation.call_ids.extend(recorded.open.iter().flat_map(|open| call_ids(&open.answer)));
        let condensing = recorded.totals.condensing;
        let spent = recorded.totals.cost + condensing.cost;
        let sent = recorded.totals.sent;
        Ok(Self { file: Some(file), open: recorded.open, condensing, spent, sent, ..conversation })
    }

    /// Writes everything from here on to a file. To be called before the first message.
    pub fn record_to(&mut self, file: StateFile) {
        self.file = Some(file);
    }

    /// The engine's window.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The figures of the view that was sent last; before anything was sent, of the view as it is.
    pub fn metrics(&self) -> ConversationMetrics {
        self.sent.unwrap_or_else(|| self.view_metrics())
    }

    fn view_metrics(&self) -> ConversationMetrics {
        ConversationMetrics::new(self.window.metrics(), self.window.view().iter().count())
    }

    /// Takes note that the view as it is now is being sent.
    pub(crate) fn note_sent(&mut self) {
        self.sent = Some(self.view_metrics());
    }

    /// What condensing did so far.
    pub fn condensing(&self) -> CondensingMetrics {
        self.condensing
    }

    pub(crate) fn push(&mut self, messages: Vec<Message>) {
        self.write(|| Record::Push(raw(&messages)));
        for message in messages {
            self.window.push(message);
        }
        self.write_events();
    }

    pub(crate) fn fit(&mut self) -> Result<Fit, Overflow> {
        let fit = self.window.fit()?;
        self.write_events();
        if fit.is_cut() {
            self.last_sent.stable_messages = self.window.breakpoints().head;
        }
        Ok(fit)
    }

    /// Takes note that the provider has forgotten the last request if it was longer ago than its cache lives.
    pub(crate) fn note_time(&mut self, cache_lifetime: Duration) {
        if self.last_sent.at.is_some_and(|at| at.elapsed() >= cache_lifetime) {
            self.last_sent.at = None;
            self.window.cache_expired();
            self.write_events();
        }
    }

    pub(crate) fn report_usage(&mut self, usage: louver::Usage) {
        self.window.report_usage(usage);
        self.write_events();
    }

    pub(crate) fn answer(&mut self, job: u64, answer: Result<Summary, String>) -> Fit {
        let fit = self.window.answer(job, answer);
        self.write_events();
        if fit.outcome == Some(Outcome::Accepted) {
            self.last_sent.stable_messages = self.window.breakpoints().head;
        }
        fit
    }

    /// Cuts the view to a smaller context window, which the rest of the run keeps. Where that cannot be, nothing changes.
    pub(crate) fn tighten(&mut self, context_window: u64) -> Option<Fit> {
        // Nothing is reserved: the window was chosen with room for the reply.
        let budget = Budget::new(context_window, Some(1)).ok()?;
        let mut window = self.window.clone();
        window.limit_to(budget);
        let fit = window.fit().ok()?;
        self.window = window;
        self.last_sent = LastSent::default();
        self.write_events();
        Some(fit)
    }

    /// A turn begins: its answer has calls that are not answered yet.
    pub(crate) fn begin_turn(&mut self, answer: Vec<Message>) {
        self.write(|| Record::Answer(raw(&answer)));
        self.call_ids.extend(call_ids(&answer));
        self.open = Some(OpenTurn { answer, ..OpenTurn::default() });
    }

    /// The turn that waits for results, if one does.
    pub(crate) fn open_turn(&self) -> Option<&OpenTurn> {
        self.open.as_ref()
    }

    /// A call of the open turn is answered.
    pub(crate) fn record_result(&mut self, call: usize, output: ToolOutput) {
        self.write(|| Record::result(call, &output));
        if let Some(open) = &mut self.open {
            open.outputs.insert(call, output);
        }
    }

    /// All calls are answered: the answer and its results become part of the log, together.
    pub(crate) fn end_turn(&mut self, results: Vec<Message>) {
        self.write(|| Record::EndOfTurn(raw(&results)));
        let answer = self.open.take().unwrap_or_default().answer;
        for message in answer.into_iter().chain(results) {
            self.window.push(message);
        }
        self.write_events();
    }

    /// Takes note of what an answer was billed for, so that a run that goes on in another process knows its whole bill.
    pub(crate) fn bill(&mut self, model: &str, usage: Usage, cost: Cost) {
        self.spent += cost;
        let sent = self.sent;
        self.write(|| Record::Billed { model: model.to_owned(), usage, is_summary: false, sent });
    }

    /// The same for a summary, which has books of its own.
    pub(crate) fn bill_summary(&mut self, model: &str, usage: Usage, cost: Cost) {
        self.spent += cost;
        self.condensing.usage += usage;
        self.condensing.cost += cost;
        if usage != Usage::default() {
            self.write(|| Record::Billed { model: model.to_owned(), usage, is_summary: true, sent: None });
        }
    }

    /// Takes note of how long the run has lasted, all its processes together.
    pub(crate) fn note_elapsed(&mut self, elapsed: Duration) {
        self.write(|| Record::Elapsed { milliseconds: milliseconds(elapsed) });
    }

    pub(crate) fn begin_iteration(&mut self, number: usize) {
        self.write(|| Record::Iteration(number));
    }

    /// The run has come to its end.
    pub(crate) fn finish(&mut self, said: &str) {
        self.write(|| Record::Finished(said.to_owned()));
    }

    /// What could not be written, if anything.
    pub(crate) fn take_file_error(&mut self) -> Option<StateError> {
        self.file_error.take()
    }

    fn write_events(&mut self) {
        let new: Vec<Event> =
            self.window.events()[self.events_written..].iter().map(|(_, event)| event.clone()).collect();
        self.events_written += new.len();
        for event in new {
            self.write(|| Record::Event(event));
        }
    }

    fn write(&mut self, record: impl FnOnce() -> Record) {
        if self.file_error.is_none()
            && let Some(file) = &mut self.file
        {
            self.file_error = file.append(&record()).err();
        }
    }
}
