//! The window: a log that nobody edits, and the view that follows from the plans made so far.

mod apply;
mod log;
mod view;

pub use log::{Event, Log};
pub use view::{Breakpoints, Origin, Sent, SyntheticKind, View};

pub(crate) use apply::bridges;

use crate::budget::Budget;
use crate::catalog::ThinkingBinding;
use crate::condense::{CondenseJob, Condenser, Outcome, Summary};
use crate::count::count_message;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::policy::{Account, Policy, Row, Settings, SettingsError};
use crate::sight::Sight;
use crate::tokens::{Calibration, Counter, Millitokens};
use crate::unit::{Place, Unit, UnitTracker};
use crate::wire::{Format, Message, PartKind, Role};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use view::Synthetic;

/// One message of the log and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    message: Arc<Message>,
    edited: Option<Arc<Message>>,
    /// What it costs in the form it is sent in.
    pub(crate) amount: Millitokens,
    is_evicted: bool,
}

impl Entry {
    /// The form it is sent in.
    pub(crate) fn current(&self) -> &Message {
        self.edited.as_deref().unwrap_or(&self.message)
    }
}

/// How a window is made.
#[derive(Clone, Debug)]
pub struct WindowConfig {
    /// The wire format of its messages.
    pub format: Format,
    /// The policy's name.
    pub policy: String,
    /// What the policy is told.
    pub settings: Settings,
    /// Counts tokens.
    pub counter: Arc<dyn Counter>,
    /// What system and tools cost in every request.
    pub overhead: Millitokens,
    /// What the model does with thinking behind a changed prefix: where it refuses it, thinking behind a cut has to go.
    pub thinking: ThinkingBinding,
    /// Replaces the seeds' condensing prompt.
    pub custom_condensing_prompt: Option<String>,
}

impl WindowConfig {
    /// A window with the policy's defaults, counting four characters a token.
    ///
    /// ```
    /// use louver::wire::{Format, Message};
    /// use louver::window::{ConversationWindow, WindowConfig};
    ///
    /// let mut config = WindowConfig::new(Format::OpenAiChat, "messages");
    /// config.settings.messages.max_messages = 3;
    /// config.settings.messages.preserve_last_n = 1;
    /// let mut window = ConversationWindow::new(config).unwrap();
    /// for i in 0..5 {
    ///     let raw = format!(r#"{{"role":"user","content":"Message {i}"}}"#);
    ///     window.push(Message::parse(Format::OpenAiChat, &raw).unwrap());
    /// }
    /// window.fit().unwrap();
    /// let kept: Vec<_> = window.view().iter().filter_map(|sent| sent.origin.index()).collect();
    /// assert_eq!(kept, [0, 3, 4]);
    /// assert_eq!(window.evicted().count(), 2);
    /// ```
    #[must_use]
    pub fn new(format: Format, policy: &str) -> Self {
        Self {
            format,
            policy: policy.to_owned(),
            settings: Settings::default(),
            counter: Arc::new(crate::tokens::Chars4),
            overhead: Millitokens::ZERO,
            thinking: ThinkingBinding::None,
            custom_condensing_prompt: None,
        }
    }
}

/// A conversation that is pushed to, fitted and viewed, and that can give back everything it left out.
///
/// Costs: [`push`](Self::push) is O(the message), [`fit`](Self::fit) O(1) with nothing to do and amortised O(1) per
/// message that leaves, [`view`](Self::view) borrows. See [`WindowConfig::new`] for an example.
#[derive(Debug)]
pub struct ConversationWindow {
    config: WindowConfig,
    policy: Box<dyn Policy>,
    calibration: Calibration,
    entries: Vec<Entry>,
    /// The units in the view, in order.
    units: VecDeque<Unit>,
    tracker: UnitTracker,
    /// Messages of our own, by the log index they stand before.
    synthetics: Vec<Synthetic>,
    kept: Totals,
    /// What the whole log costs as it came in.
    logged: Millitokens,
    condenser: Condenser,
    events: Vec<(usize, Event)>,
    /// Thinking before this index is gone already.
    thinking_stripped: usize,
    /// The newest message that came with thinking.
    latest_thinking: Option<usize>,
    head_end: usize,
    /// What one marker costs.
    marker: Millitokens,
    /// Whether the provider's cache has expired since the last request.
    is_cold: bool,
    /// The length and the number of answers at the last fit, and how it failed if it did.
    fitted_at: Option<(usize, usize)>,
    overflow: Option<Overflow>,
}

/// Running sums over what is in the view.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    messages: usize,
    amount: Millitokens,
    estimate_chars: u64,
}

/// What a fit did.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// Why, if anything was done or asked for.
    pub trigger: Option<Trigger>,
    /// Tokens before and after, everything that is sent counted.
    pub tokens_before: u64,
    /// The same after.
    pub tokens_after: u64,
    /// Messages that left, as ranges of the log.
    pub evicted: Vec<Range<usize>>,
    /// Messages that were changed.
    pub edited: Vec<usize>,
    /// Whether the ledger of what has left was written anew.
    pub is_ledger_new: bool,
    /// A summary to be had, if one is wanted. The view is already legal and within its bound without it.
    pub job: Option<CondenseJob>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// What went wrong with condensing.
    pub error: Option<String>,
}

impl Fit {
    /// Whether the view changed.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        !self.evicted.is_empty() || !self.edited.is_empty() || self.is_ledger_new
    }
}

/// The seeds' four figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Metrics {
    /// Messages in the log.
    pub total_messages: usize,
    /// Messages in the view.
    pub preserved_messages: usize,
    /// Messages that left.
    pub evicted_messages: usize,
    /// Characters of what is sent divided by four, a summary included; good to about 20 %.
    pub estimated_tokens: u64,
}

impl ConversationWindow {
    /// An empty window.
    ///
    /// # Errors
    ///
    /// An unknown policy, or settings it cannot work with.
    pub fn new(config: WindowConfig) -> Result<Self, SettingsError> {
        let policy = Row::find(&config.policy)?.build(&config.settings)?;
        Ok(Self::with_policy(config, policy))
    }

    /// An empty window under a policy that stands in no table; the config's own name and settings for it are not read.
    #[must_use]
    pub fn with_policy(config: WindowConfig, policy: Box<dyn Policy>) -> Self {
        let marker = Message::synthetic(config.format, Role::User, apply::MARKER);
        let marker = marker.map_or(Millitokens::ZERO, |message| count_message(&*config.counter, &message));
        Self {
            marker,
            tracker: UnitTracker::new(config.format),
            condenser: Condenser::new(config.custom_condensing_prompt.clone()),
            config,
            policy,
            calibration: Calibration::default(),
            entries: Vec::new(),
            units: VecDeque::new(),
            synthetics: Vec::new(),
            kept: Totals::default(),
            logged: Millitokens::ZERO,
            events: Vec::new(),
            thinking_stripped: 0,
            latest_thinking: None,
            head_end: 0,
            is_cold: false,
            fitted_at: None,
            overflow: None,
        }
    }

    /// Appends a message and counts it. O(its bytes).
    pub fn push(&mut self, message: impl Into<Arc<Message>>) {
        let message = message.into();
        let amount = count_message(&*self.config.counter, &message);
        self.push_counted(message, amount);
    }

    /// Appends a message whose cost is known already, so that windows over the same messages share the count.
    pub fn push_counted(&mut self, message: Arc<Message>, amount: Millitokens) {
        let index = self.entries.len();
        let place = self.tracker.place(index, &message);
        self.kept.messages += 1;
        self.kept.amount += amount;
        self.logged += amount;
        self.kept.estimate_chars += message.shape().estimate_chars;
        if message.shape().parts_of(PartKind::Thinking).next().is_some() {
            self.latest_thinking = Some(index);
        }
        self.entries.push(Entry { message, edited: None, amount, is_evicted: false });
        match place {
            Place::Opens => self.units.push_back(Unit::single(index)),
            Place::Joins(earlier) => self.join(index, earlier),
        }
    }

    /// Makes the view keep the policy's promise. Call it before each request. Nothing appended, nothing changes.
    ///
    /// # Errors
    ///
    /// The promise cannot be kept; the view stays as it was.
    pub fn fit(&mut self) -> Result<Fit, Overflow> {
        let now = (self.entries.len(), self.condenser.answers());
        let tokens_before = self.tokens();
        if self.fitted_at == Some(now) {
            let unchanged = Fit { tokens_before, tokens_after: tokens_before, ..Fit::default() };
            return self.overflow.clone().map_or(Ok(unchanged), Err);
        }
        self.events.push((self.entries.len(), Event::Fitted));
        self.fitted_at = Some(now);
        let plan = self.plan();
        self.is_cold = false;
        self.overflow = plan.as_ref().err().cloned();
        Ok(self.carry_out(plan?, tokens_before))
    }

    /// Takes the answer to a [`CondenseJob`], however many cuts were made since it was asked for. A good one replaces
    /// what it covers; any other leaves the view as it is, and what has left waits for the next job.
    ///
    /// # Errors
    ///
    /// The view with the summary is over the limit and cannot be cut further.
    pub fn answer(&mut self, job: u64, answer: Result<Summary, String>) -> Result<Outcome, Overflow> {
        self.events.push((self.entries.len(), Event::Answered { job, answer: answer.clone() }));
        self.take_answer(job, answer)
    }

    /// Tells what the provider counted for the view that was last sent, so that later counts are corrected.
    pub fn report_usage(&mut self, input_tokens: u64) {
        self.events.push((self.entries.len(), Event::UsageReported { input_tokens }));
        self.calibration.report(self.sent_amount() + self.config.overhead, input_tokens);
    }

    /// Tells that the provider's cache has expired since the last request (too much time has passed, or model or tools
    /// have changed): a policy that decides by price cuts for free then.
    pub fn cache_expired(&mut self) {
        self.events.push((self.entries.len(), Event::CacheExpired));
        self.is_cold = true;
    }

    /// What is sent. O(1); walking it is O(its length).
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View::new(&self.entries, &self.units, &self.synthetics)
    }

    /// Where explicit cache marks belong. O(units of the head).
    ///
    /// ```
    /// use louver::wire::{Format, Message};
    /// use louver::window::{Breakpoints, ConversationWindow, WindowConfig};
    ///
    /// let mut config = WindowConfig::new(Format::OpenAiChat, "messages");
    /// config.settings.messages.max_messages = 3;
    /// config.settings.messages.preserve_last_n = 1;
    /// let mut window = ConversationWindow::new(config).unwrap();
    /// for i in 0..5 {
    ///     let raw = format!(r#"{{"role":"user","content":"Message {i}"}}"#);
    ///     window.push(Message::parse(Format::OpenAiChat, &raw).unwrap());
    /// }
    /// window.fit().unwrap();
    /// assert_eq!(window.breakpoints(), Breakpoints { head: 1, end: 3 });
    /// ```
    #[must_use]
    pub fn breakpoints(&self) -> Breakpoints {
        let head = self.units.iter().take_while(|unit| unit.range.end <= self.head_end).map(Unit::len).sum();
        Breakpoints { head, end: self.kept.messages + self.synthetics.len() }
    }

    /// Everything that was left out, in order, as it came in.
    pub fn evicted(&self) -> impl Iterator<Item = (usize, &Message)> {
        self.entries
            .iter()
            .enumerate()
            .filter(|(_, entry)| entry.is_evicted)
            .map(|(index, entry)| (index, &*entry.message))
    }

    /// Everything that is not sent as it came in, because it was left out or changed: in order, as it came in.
    ///
    /// ```
    /// use louver::wire::{Format, Message};
    /// use louver::window::{ConversationWindow, WindowConfig};
    ///
    /// let mut config = WindowConfig::new(Format::OpenAiChat, "messages");
    /// config.settings.messages.max_messages = 2;
    /// config.settings.messages.preserve_last_n = 1;
    /// let mut window = ConversationWindow::new(config).unwrap();
    /// for i in 0..4 {
    ///     let raw = format!(r#"{{"role":"user","content":"Message {i}"}}"#);
    ///     window.push(Message::parse(Format::OpenAiChat, &raw).unwrap());
    /// }
    /// window.fit().unwrap();
    /// assert_eq!(window.left_out().map(|(index, _)| index).collect::<Vec<_>>(), [1, 2]);
    /// ```
    pub fn left_out(&self) -> impl Iterator<Item = (usize, &Message)> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.is_evicted || entry.edited.is_some())
            .map(|(index, entry)| (index, &*entry.message))
    }

    /// A message of the log as it came in, whatever became of it.
    #[must_use]
    pub fn original(&self, index: usize) -> Option<&Message> {
        self.entries.get(index).map(|entry| &*entry.message)
    }

    /// How many messages the log has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is sent now, in tokens, system and tools included. O(1).
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.calibration.apply(self.sent_amount() + self.config.overhead).ceil_tokens()
    }

    /// The seeds' four figures. O(1).
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let synthetic: u64 = self.synthetics.iter().map(|synthetic| synthetic.message.shape().estimate_chars).sum();
        Metrics {
            total_messages: self.entries.len(),
            preserved_messages: self.kept.messages,
            evicted_messages: self.entries.len() - self.kept.messages,
            estimated_tokens: (self.kept.estimate_chars + synthetic).div_ceil(4),
        }
    }

    /// The summary that stands in the view, if there is one.
    #[must_use]
    pub fn summary(&self) -> Option<&str> {
        self.condenser.summary()
    }

    /// What sending everything would come to now, in tokens, system and tools included. O(1).
    #[must_use]
    pub fn log_tokens(&self) -> u64 {
        self.calibration.apply(self.logged + self.config.overhead).ceil_tokens()
    }

    /// What the policy has spent and weighed, if it decides by price.
    #[must_use]
    pub fn account(&self) -> Option<Account> {
        self.policy.account()
    }

    /// The job that waits for its [`answer`](Self::answer), if one does. A window that was rebuilt knows it, too, so
    /// that whoever goes on can run it again.
    #[must_use]
    pub fn open_job(&self) -> Option<&CondenseJob> {
        self.condenser.open()
    }

    /// Whether the open job covers something that is still in the view, so that its answer makes the view smaller.
    #[must_use]
    pub fn awaits_room(&self) -> bool {
        let is_in_view = |range: &Range<usize>| !self.entries[range.start].is_evicted;
        self.open_job().is_some_and(|job| job.covers.iter().any(is_in_view))
    }

    /// What the policy promises.
    #[must_use]
    pub fn bound(&self) -> Bound {
        self.policy.bound()
    }

    /// The budget, if there is one.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.config.settings.budget
    }

    /// The wire format of its messages.
    #[must_use]
    pub fn format(&self) -> Format {
        self.config.format
    }

    fn sent_amount(&self) -> Millitokens {
        self.kept.amount + self.synthetics.iter().map(|synthetic| synthetic.amount).sum()
    }

    fn plan(&mut self) -> Result<Plan, Overflow> {
        let sight = Sight {
            format: self.config.format,
            entries: &self.entries,
            units: &self.units,
            kept_messages: self.kept.messages,
            sent: self.kept.amount + self.synthetics.iter().map(|synthetic| synthetic.amount).sum(),
            overhead: self.config.overhead,
            logged: self.logged,
            counter: &*self.config.counter,
            calibration: &self.calibration,
            budget: self.config.settings.budget,
            marker: self.marker,
            summary: self.synthetics.iter().find(|ours| ours.is_account()).map(|ours| ours.message.shape()),
            ledger: self
                .synthetics
                .iter()
                .filter(|ours| ours.kind == SyntheticKind::Ledger)
                .map(|ours| ours.amount)
                .sum(),
            may_condense: self.condenser.may_ask(self.entries.len()),
            is_cold: self.is_cold,
        };
        self.policy.plan(&sight)
    }
}
