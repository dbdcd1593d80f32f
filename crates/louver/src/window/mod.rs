//! The window: a log that nobody edits, and the view that follows from the decisions made so far.

mod apply;
mod config;
mod decision;
mod log;
mod payload;
mod pieces;
mod quotes;
mod recorded;
mod request;
mod sources;
mod varint;

pub use crate::view::{Breakpoints, Origin, Sent, SyntheticKind, View};
pub use config::{Assembled, Builder, WindowConfig};
pub use decision::{Decision, EditedMessage, JobRecord, SyntheticMessage};
pub use log::{Answered, Configured, Event, Log, Record};
pub use payload::WithPayload;
pub use recorded::RecordedText;
pub use request::{Request, Usage};
pub use sources::Sources;

use crate::Error;
use crate::address::{Address, NotInLog};
use crate::budget::Budget;
use crate::catalog::{ModelWarning, ThinkingBinding};
use crate::condense::{CondenseJob, Condenser, Outcome, Summary};
use crate::count::{Scale, count_message};
use crate::economy::Economy;
use crate::edit::{Edit, edit_message, thinking_edits};
use crate::landmarks::Landmarks;
use crate::plan::{Bound, CondenseError, Memory, Overflow, Pins, Plan, Trigger, Warning};
use crate::policy::{Account, BoundThinking, Occasion, Policy, PolicyInput, SettingsError};
use crate::tokens::{Calibration, Factor, Millitokens, Verdict};
use crate::unit::{Unit, UnitTracker};
use crate::view::{Entry, Synthetic};
use crate::wire::{Body, Message, PartKind, Role};
use pieces::Earlier;
use quotes::Places;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A conversation that is pushed to, fitted and viewed, and that can give back everything it left out.
///
/// Costs: [`push`](Self::push) is O(the message), [`fit`](Self::fit) O(1) with nothing to do and amortised O(1) per
/// message that leaves, [`view`](Self::view) borrows. A clone shares the messages. See [`Builder`] for an example.
///
/// # What goes out, and what left?
///
/// ```
/// use louver::plan::Bound;
/// use louver::policy::MessagesConfig;
/// use louver::{Format, PolicyKind, Window};
/// use serde_json::json;
///
/// let cap = MessagesConfig { max_messages: 4, preserve_last_n: 2, ..MessagesConfig::default() };
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").policy(PolicyKind::Messages(cap)).build()?;
/// assert!(window.is_empty() && !window.is_off() && window.format() == Format::OpenAiChat);
/// assert_eq!((window.policy_name(), window.bound(), window.max_messages()), ("messages", Bound::Messages, Some(4)));
///
/// for turn in 0..4 {
///     window.push_json(&json!({ "role": "user", "content": format!("Question {turn}?") }))?;
///     window.push_raw(r#"{"role":"assistant","content":"An answer."}"#)?;
/// }
/// assert!(window.is_over());
/// assert_eq!(window.plan()?.evict, [1..2, 2..3, 3..4, 4..5]); // it looks, and changes nothing
/// let fit = window.fit()?;
/// assert!(fit.is_cut() && !window.is_over());
///
/// // The view is shorter, the log is not, and what left can be had back.
/// assert_eq!((window.view().len(), window.len(), window.units().count()), (4, 8, 4));
/// assert_eq!(window.evicted().map(|(index, _)| index).collect::<Vec<_>>(), [1, 2, 3, 4]);
/// assert!(window.original(2).is_some_and(|message| message.raw().contains("Question 1?")));
/// assert_eq!((window.head_end(), window.pins().head_end, window.is_held(7)), (1, 1, false));
/// assert!(window.tokens() < window.log_tokens() && window.tokens_of(0) > Some(0));
/// assert_eq!(window.metrics().evicted_messages, 4);
/// # Ok::<(), louver::Error>(())
/// ```
///
/// # What does it want to be told?
///
/// ```
/// use louver::tokens::Verdict;
/// use louver::{Budget, Format, Usage, Window};
/// use serde_json::json;
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").context_window(16_000).reply(1_000).build()?;
/// window.extend_json([json!({ "role": "system", "content": "Be brief." }), json!({ "role": "user", "content": "Hello" })])?;
/// window.fit()?;
/// assert_eq!(window.report_usage(Usage::of_input(12)), Verdict::TooSmall);
/// window.cache_expired(); // a policy may cut now for nothing
/// window.limit_to(Budget::new(8_000, Some(1_000))?); // the provider takes less than the catalogue said
/// assert_eq!(window.budget().map(Budget::context_window), Some(8_000));
/// assert!(window.open_job().is_none() && !window.awaits_room() && window.summary().is_none());
/// assert!(window.answer(7, Err("too late".to_owned())).outcome.is_some()); // nobody asked
/// # Ok::<(), louver::Error>(())
/// ```
///
/// # How does it survive a restart?
///
/// ```
/// use louver::{Format, Record, Window};
/// use serde_json::json;
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.push_json(&json!({ "role": "user", "content": "Hello" }))?;
/// window.request()?;
/// let lines: Vec<String> = window.records_since(0).map(|record| serde_json::to_string(&record).unwrap()).collect();
///
/// let records = lines.iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
/// let config = window.config().clone();
/// let opened = Window::open(config.clone(), records)?;
/// assert_eq!(opened.events(), window.events()); // the policy was not asked again
/// assert_eq!(Window::restore(config.clone(), window.log())?.len(), 1);
/// let (decided_anew, fit) = Window::rebuild(config, window.log())?;
/// assert!(fit.is_ok() && decided_anew.view().len() == 1);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    config: WindowConfig,
    policy: Arc<dyn Policy>,
    /// The configuration's, unless the provider turned out to take less.
    budget: Option<Budget>,
    /// The configuration's, scaled where the caller has a figure of their own.
    overhead: Millitokens,
    scale: Scale,
    /// Whether the budget binds a policy that promises nothing about tokens.
    is_rescued: bool,
    calibration: Calibration,
    entries: Vec<Entry>,
    /// What stood in the log before each message, and in all, in thousandths of tokens.
    sums: Vec<u64>,
    /// The units in the view, in order.
    units: VecDeque<Unit>,
    tracker: UnitTracker,
    landmarks: Landmarks,
    /// Messages of our own, by the log index they stand before.
    synthetics: Vec<Synthetic>,
    kept: Totals,
    /// What the caller's figure says beyond every count.
    beyond_count: Millitokens,
    /// What the last request had, unless counts have been scaled since.
    sent: Option<Millitokens>,
    condenser: Condenser,
    events: Vec<(usize, Event)>,
    /// The last account of each kind that was recorded: the next one repeats most of it.
    accounts: Vec<Recorded>,
    /// Messages in the view with thinking that a change before them makes invalid.
    bound_thinking: Vec<BoundThinking>,
    head_end: usize,
    /// What one marker costs.
    marker: Millitokens,
    /// Whether the provider's cache has expired since the last request.
    is_cold: bool,
    memory: Memory,
    /// Counts whatever a decision may depend on.
    revision: u64,
    /// The last fit: at which revision, and how it failed if it did.
    fitted: Option<(u64, Option<Overflow>)>,
    /// Units in the view that answer a call of an earlier unit.
    late_answers: usize,
    /// Everything that left, in the order in which it did.
    departures: Vec<Range<usize>>,
    /// Whether recorded decisions are being lived through, so that nothing is decided anew.
    is_reliving: bool,
    frame: Option<Arc<Body>>,
    model_warning: Option<ModelWarning>,
}

/// An account of what left as it was recorded, and as it was sent.
#[derive(Clone, Debug)]
struct Recorded {
    kind: SyntheticKind,
    text: RecordedText,
    message: Arc<Message>,
    places: Places,
}

impl Recorded {
    fn as_earlier(&self) -> Earlier<'_> {
        Earlier { recorded: &self.text, text: self.message.raw(), places: &self.places }
    }
}

/// Running sums over what is in the view.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    messages: usize,
    amount: Millitokens,
    estimate_chars: u64,
}

/// What a fit, or the arrival of a summary, did.
///
/// ```
/// use louver::{Fit, Format, Window};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.push_raw(r#"{"role":"user","content":"Hello"}"#)?;
/// let fit: Fit = window.fit()?;
/// assert!(!fit.is_cut() && fit.trigger.is_none() && fit.tokens_before == fit.tokens_after);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Fit {
    /// Why, if anything was done or asked for.
    pub trigger: Option<Trigger>,
    /// Tokens before, everything that is sent counted.
    pub tokens_before: u64,
    /// The same after.
    pub tokens_after: u64,
    /// The same as the plan counted it beforehand, where it did.
    pub tokens_expected: Option<u64>,
    /// Messages that left, as ranges of the log.
    pub evicted: Vec<Range<usize>>,
    /// Messages that were changed.
    pub edited: Vec<usize>,
    /// Whether one of our own messages was written, moved or taken out.
    pub is_account_new: bool,
    /// A summary to be had, if one is wanted. The view is already legal and within its bound without it.
    pub job: Option<CondenseJob>,
    /// What became of a summary, where one arrived.
    pub outcome: Option<Outcome>,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
    /// What went wrong with condensing.
    pub error: Option<CondenseError>,
}

impl Fit {
    /// Whether the view changed.
    pub fn is_cut(&self) -> bool {
        !self.evicted.is_empty() || !self.edited.is_empty() || self.is_account_new
    }
}

/// How far somebody has followed what leaves a window; see [`Window::evicted_since`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor(usize);

/// The seeds' four figures.
///
/// ```
/// use louver::{Format, Window};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.push_raw(r#"{"role":"user","content":"Twelve chars"}"#)?;
/// let metrics = window.metrics();
/// assert_eq!((metrics.total_messages, metrics.preserved_messages, metrics.estimated_tokens), (1, 1, 3));
/// # Ok::<(), louver::Error>(())
/// ```
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

impl Window {
    /// A window for a model, from the catalogue. See [`Builder`].
    pub fn for_model(format: crate::wire::Format, model: &str) -> Builder {
        Builder::new(format).model(model)
    }

    /// An empty window.
    ///
    /// # Errors
    ///
    /// Settings that the policy cannot work with.
    pub fn new(config: WindowConfig) -> Result<Self, SettingsError> {
        let mut window = Self::empty(config)?;
        window.note_config();
        Ok(window)
    }

    fn empty(config: WindowConfig) -> Result<Self, SettingsError> {
        let policy = config.policy.build()?;
        if config.budget.is_none() && config.policy.needs_budget() {
            return Err(SettingsError::NoBudget(config.policy.name().to_owned()));
        }
        let marker = Message::synthetic(config.format, Role::User, apply::MARKER);
        let marker = marker.map_or(Millitokens::ZERO, |message| count_message(&*config.counter, &message));
        Ok(Self {
            marker,
            tracker: UnitTracker::new(config.format),
            condenser: Condenser::new(config.custom_condensing_prompt.clone()),
            budget: config.budget,
            overhead: config.overhead,
            scale: Scale::default(),
            config,
            policy,
            is_rescued: false,
            calibration: Calibration::default(),
            entries: Vec::new(),
            sums: vec![0],
            units: VecDeque::new(),
            landmarks: Landmarks::default(),
            synthetics: Vec::new(),
            kept: Totals::default(),
            beyond_count: Millitokens::ZERO,
            sent: None,
            events: Vec::new(),
            accounts: Vec::new(),
            bound_thinking: Vec::new(),
            head_end: 0,
            is_cold: false,
            memory: Memory::default(),
            revision: 0,
            fitted: None,
            late_answers: 0,
            departures: Vec::new(),
            is_reliving: false,
            frame: None,
            model_warning: None,
        })
    }

    /// Appends a message, counts it, and returns its index in the log. O(its bytes).
    pub fn push(&mut self, message: impl Into<Arc<Message>>) -> usize {
        let message = message.into();
        let amount = count_message(&*self.config.counter, &message);
        self.push_counted(message, amount)
    }

    /// Reads a message and appends it.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, or not a message of the format.
    pub fn push_raw(&mut self, raw: &str) -> Result<usize, Error> {
        Ok(self.push(Message::parse(self.config.format, raw)?))
    }

    /// Writes a value as JSON and appends it.
    ///
    /// # Errors
    ///
    /// A value that is no message of the format.
    pub fn push_json(&mut self, message: &impl serde::Serialize) -> Result<usize, Error> {
        let raw = serde_json::to_string(message).map_err(|error| Error::Serialize(Arc::new(error)))?;
        self.push_raw(&raw)
    }

    /// Writes values as JSON and appends them; returns their indices in the log.
    ///
    /// # Errors
    ///
    /// A value that is no message of the format; those before it were appended.
    pub fn extend_json<T: serde::Serialize>(
        &mut self,
        messages: impl IntoIterator<Item = T>,
    ) -> Result<Range<usize>, Error> {
        let start = self.len();
        for message in messages {
            self.push_json(&message)?;
        }
        Ok(start..self.len())
    }

    /// Appends a message whose cost is known already, so that windows over the same messages share the count.
    pub fn push_counted(&mut self, message: Arc<Message>, amount: Millitokens) -> usize {
        let index = self.entries.len();
        self.revision += 1;
        let joined = self.tracker.joins(index, &message);
        self.landmarks.note(message.shape());
        self.kept.messages += 1;
        self.kept.amount += amount;
        self.sums.push(self.sums[index].saturating_add(amount.thousandths()));
        self.kept.estimate_chars += message.shape().estimate_chars;
        self.note_thinking(index, &message);
        self.entries.push(Entry { message, edited: None, counted: amount, amount, is_evicted: false });
        match joined {
            None => self.units.push_back(Unit::single(index)),
            Some(earlier) => self.join(index, earlier),
        }
        self.bridge_arrival(index);
        if self.landmarks.compaction == Some(index) {
            self.forget_costs_before(index);
        }
        index
    }

    /// Where thinking is bound to its prefix, what the message costs without it is counted now: a cut has to know.
    fn note_thinking(&mut self, index: usize, message: &Message) {
        if self.config.thinking != ThinkingBinding::Prefix || !message.shape().has(PartKind::Thinking) {
            return;
        }
        let edits: Vec<Edit> = thinking_edits(index, message.shape()).collect();
        if let Ok(stripped) = edit_message(self.config.format, message, &edits) {
            let stripped = count_message(&*self.config.counter, &stripped);
            self.bound_thinking.push(BoundThinking { index, stripped });
        }
    }

    /// What stands before a provider's compaction is not seen by the model: it costs nothing any more. O(what stands behind
    /// the one before).
    fn forget_costs_before(&mut self, compaction: usize) {
        let unseen = std::mem::replace(&mut self.scale.unseen, compaction);
        for entry in &mut self.entries[unseen..compaction] {
            let amount = std::mem::take(&mut entry.amount);
            if !entry.is_evicted {
                self.kept.amount = self.kept.amount.saturating_sub(amount);
            }
        }
        let gone = self.sums[compaction];
        self.sums[unseen..].iter_mut().for_each(|sum| *sum = sum.saturating_sub(gone));
    }

    /// Makes the view keep the policy's promise. Call it before each request. Nothing new, nothing changes.
    ///
    /// # Errors
    ///
    /// The promise cannot be kept; nothing has changed then.
    pub fn fit(&mut self) -> Result<Fit, Overflow> {
        if self.known_fit().is_some() {
            let tokens = self.tokens();
            return self.plan().map(|_| Fit { tokens_before: tokens, tokens_after: tokens, ..Fit::default() });
        }
        match self.plan_for(Occasion::Request) {
            Ok(plan) => {
                let fit = self.carry_out(plan);
                self.note_request();
                Ok(fit)
            }
            Err(overflow) => {
                self.fitted = Some((self.revision, Some(overflow.clone())));
                Err(overflow)
            }
        }
    }

    /// The view is sent as it is now.
    fn note_request(&mut self) {
        self.is_cold = false;
        self.sent = Some(self.total());
        self.fitted = Some((self.revision, None));
    }

    /// A request went out with the view as it stands, and nothing was decided about it: what the policy remembers goes on
    /// from there. For whoever keeps decisions elsewhere and knows that none was made here.
    ///
    /// ```
    /// use louver::{Format, Window};
    ///
    /// let mut window = Window::for_model(Format::OpenAiChat, "gpt-4").build()?;
    /// window.push_raw(&format!(r#"{{"role":"user","content":"{}"}}"#, "many words ".repeat(9_000)))?;
    /// window.keep();
    /// assert!(window.is_over(), "nobody cut it");
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn keep(&mut self) {
        self.take_over(&Decision::default());
        self.record(Event::Fitted(None));
    }

    /// Decides with other figures from here on: another context window, other prices, another system prompt. Decisions
    /// made before stand.
    pub fn refigure(&mut self, budget: Option<Budget>, economy: Economy, overhead: Millitokens) {
        let own = &mut self.config;
        if (own.budget, &own.economy, own.overhead) == (budget, &economy, overhead) {
            return;
        }
        (own.budget, own.economy, own.overhead) = (budget, economy, overhead);
        self.revision += 1;
        self.budget = budget;
        self.overhead = self.scale.of_frame(overhead);
        self.note_config();
    }

    /// From here on ledgers say this behind their title; the one in the view stays as it is.
    ///
    /// ```
    /// use louver::window::{Window, WindowConfig};
    /// use louver::{Format, PolicyKind};
    ///
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything))?;
    /// window.head_ledgers(Some("Ask for message 12 by its number.".to_owned()));
    /// assert_eq!(window.config().ledger_heading.as_deref(), Some("Ask for message 12 by its number."));
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn head_ledgers(&mut self, heading: Option<String>) {
        if self.config.ledger_heading != heading {
            self.config.ledger_heading = heading;
            self.note_config();
        }
    }

    /// How the last fit went, if nothing has happened since.
    fn known_fit(&self) -> Option<Result<(), &Overflow>> {
        let (_, overflow) = self.fitted.as_ref().filter(|(revision, _)| *revision == self.revision)?;
        Some(overflow.as_ref().map_or(Ok(()), Err))
    }

    /// What [`fit`](Self::fit) would do now: nothing, if it was called already. Nothing happens, however often it is asked.
    ///
    /// # Errors
    ///
    /// The promise cannot be kept.
    pub fn plan(&self) -> Result<Plan, Overflow> {
        match self.known_fit() {
            Some(known) => known.map(|()| Plan::nothing()).map_err(Clone::clone),
            None => self.plan_for(Occasion::Request),
        }
    }

    /// Takes the answer to a [`CondenseJob`], however many cuts were made since it was asked for. A good one replaces
    /// what it covers; any other leaves the view as it is, and what has left waits for the next job. Either way
    /// [`fit`](Self::fit) comes before the next request, as always. [`Fit::outcome`] says whether it was taken.
    pub fn answer(&mut self, job: u64, answer: Result<Summary, String>) -> Fit {
        self.take_answer(job, answer)
    }

    /// Tells what the provider counted for the view that was last fitted, so that later counts are corrected. What was
    /// pushed since makes no difference.
    pub fn report_usage(&mut self, usage: Usage) -> Verdict {
        let input_tokens = usage.total();
        self.events.push((self.entries.len(), Event::UsageReported { input_tokens }));
        self.revision += 1;
        self.calibration.report(self.sent.unwrap_or_else(|| self.total()), input_tokens)
    }

    /// Tells what a provider counted for everything but the last message, where the caller has such a figure. Counts
    /// are scaled to it, upward by no more than the counter's stated error; what is beyond that stays as a fixed part
    /// that no cut removes. Earlier reports of either kind no longer count.
    pub fn report_total(&mut self, total_tokens: u64) {
        self.events.push((self.entries.len(), Event::TotalReported { total_tokens }));
        self.revision += 1;
        self.scale_to(Millitokens::from_tokens(total_tokens));
    }

    /// The figure says what it says about the counter's own counts, whatever was corrected before.
    fn scale_to(&mut self, reported: Millitokens) {
        let covered = self.entries.len().saturating_sub(1);
        let seen = self.entries[..covered].iter().skip(self.scale.unseen);
        let counted = seen.map(|entry| entry.counted).sum::<Millitokens>() + self.config.overhead;
        self.scale.set(covered, counted, reported, &*self.config.counter);
        (self.calibration, self.sent) = (Calibration::default(), None);
        self.overhead = self.scale.of_frame(self.config.overhead);
        self.kept.amount = Millitokens::ZERO;
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            let own = self.scale.of(index, entry.counted);
            let amount = entry.edited.as_ref().map_or(own, |edited| self.cost(index, edited));
            self.sums[index + 1] = self.sums[index].saturating_add(own.thousandths());
            self.entries[index].amount = amount;
            if !self.entries[index].is_evicted {
                self.kept.amount += amount;
            }
        }
        self.beyond_count = reported.saturating_sub(self.overhead + Millitokens::new(self.sums[covered]));
    }

    /// What a message costs at its place in the log.
    fn cost(&self, index: usize, message: &Message) -> Millitokens {
        self.scale.of(index, count_message(&*self.config.counter, message))
    }

    /// Tells that the provider's cache has expired since the last request (too much time has passed, or model or tools
    /// have changed): a policy that decides by price cuts for free then.
    pub fn cache_expired(&mut self) {
        self.events.push((self.entries.len(), Event::CacheExpired));
        self.revision += 1;
        self.is_cold = true;
    }

    /// Tells that the provider takes less than was known. From the next [`fit`](Self::fit) on the view keeps this
    /// budget, whatever the policy promises, and what it pins behind the first message may have to leave; decisions made
    /// before it stand.
    pub fn limit_to(&mut self, budget: Budget) {
        let (context_window, reserve) = (budget.context_window(), budget.reserve());
        self.events.push((self.entries.len(), Event::Limited { context_window, reserve }));
        self.revision += 1;
        self.is_rescued |= self.policy.bound() != Bound::Tokens;
        self.budget = Some(budget);
    }

    /// What is sent. O(1); walking it is O(its length).
    pub fn view(&self) -> View<'_> {
        View::new(&self.entries, &self.units, &self.synthetics, self.kept.messages)
    }

    /// Where explicit cache marks belong. O(units of the head).
    ///
    /// ```
    /// use louver::policy::{MessagesConfig, PolicyKind};
    /// use louver::window::{Breakpoints, Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let cap = MessagesConfig { max_messages: 3, preserve_last_n: 1, ..MessagesConfig::default() };
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
    /// for i in 0..5 {
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Message {i}"}}"#))?;
    /// }
    /// window.fit()?;
    /// assert_eq!(window.breakpoints(), Breakpoints { head: 1, end: 3 });
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn breakpoints(&self) -> Breakpoints {
        let head = self.units.iter().take_while(|unit| unit.range.end <= self.head_end).map(Unit::len).sum();
        Breakpoints { head, end: self.kept.messages + self.synthetics.len() }
    }

    /// Everything that was left out, in order, as it came in.
    pub fn evicted(&self) -> impl Iterator<Item = (usize, &Message)> {
        let entries = self.entries.iter().enumerate();
        entries.filter(|(_, entry)| entry.is_evicted).map(|(index, entry)| (index, &*entry.message))
    }

    /// What left since the cursor was last here, in the order in which it did, wherever that came from: a fit, a summary,
    /// an answer to a call that had left before. A cursor begins as [`Cursor::default`].
    ///
    /// ```
    /// use louver::policy::{MessagesConfig, PolicyKind};
    /// use louver::window::{Cursor, Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let cap = MessagesConfig { max_messages: 2, preserve_last_n: 1, ..MessagesConfig::default() };
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
    /// let mut cursor = Cursor::default();
    /// for i in 0..4 {
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Message {i}"}}"#))?;
    ///     window.fit()?;
    /// }
    /// assert_eq!(window.evicted_since(&mut cursor).map(|(index, _)| index).collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(window.evicted_since(&mut cursor).count(), 0);
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn evicted_since(&self, cursor: &mut Cursor) -> impl Iterator<Item = (usize, &Message)> {
        let start = std::mem::replace(&mut cursor.0, self.departures.len()).min(self.departures.len());
        let indices = self.departures[start..].iter().cloned().flatten();
        indices.map(|index| (index, &*self.entries[index].message))
    }

    /// Everything that is not sent as it came in, because it was left out or changed: in order, as it came in.
    ///
    /// ```
    /// use louver::policy::{MessagesConfig, PolicyKind};
    /// use louver::window::{Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let cap = MessagesConfig { max_messages: 2, preserve_last_n: 1, ..MessagesConfig::default() };
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
    /// for i in 0..4 {
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Message {i}"}}"#))?;
    /// }
    /// window.fit()?;
    /// assert_eq!(window.left_out().map(|(index, _)| index).collect::<Vec<_>>(), [1, 2]);
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn left_out(&self) -> impl Iterator<Item = (usize, &Message)> {
        let entries = self.entries.iter().enumerate();
        entries
            .filter(|(_, entry)| entry.is_evicted || entry.edited.is_some())
            .map(|(index, entry)| (index, &*entry.message))
    }

    /// A message of the log as it came in, whatever became of it.
    pub fn original(&self, index: usize) -> Option<&Message> {
        self.entries.get(index).map(|entry| &*entry.message)
    }

    /// The messages behind an address, as they came in, whatever became of them. O(what it names).
    ///
    /// ```
    /// use louver::policy::PolicyKind;
    /// use louver::window::{Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Everything))?;
    /// for i in 0..3 {
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Message {i}"}}"#))?;
    /// }
    /// let back = window.recall(&"[louver:1-2]".parse().unwrap()).unwrap();
    /// assert_eq!(back[1].0, 2);
    /// assert_eq!(back[1].1.raw(), r#"{"role":"user","content":"Message 2"}"#);
    /// assert!(window.recall(&"2-9".parse().unwrap()).is_err());
    /// # Ok::<(), louver::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The log does not have all of them.
    pub fn recall(&self, address: &Address) -> Result<Vec<(usize, &Message)>, NotInLog> {
        address.check(self.len())?;
        Ok(address.indices().filter_map(|index| Some((index, self.original(index)?))).collect())
    }

    /// How many messages the log has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was pushed yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What is sent now, in tokens, system and tools included. O(1).
    pub fn tokens(&self) -> u64 {
        self.calibration.apply(self.total()).ceil_tokens()
    }

    /// What one message of the log costs in the form it is sent in, in tokens.
    pub fn tokens_of(&self, index: usize) -> Option<u64> {
        self.entries.get(index).map(|entry| self.calibration.apply(entry.amount).ceil_tokens())
    }

    /// By how much counts are corrected, as the provider's reports of usage have it.
    pub fn calibration(&self) -> Factor {
        self.calibration.factor()
    }

    /// The seeds' four figures. O(1).
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
    pub fn summary(&self) -> Option<&str> {
        self.summary_in_view().map(|summary| &*summary.text)
    }

    pub(crate) fn summary_in_view(&self) -> Option<&Summary> {
        let has_summary = self.synthetics.iter().any(|ours| ours.kind == SyntheticKind::Summary);
        self.condenser.summary().filter(|_| has_summary)
    }

    /// What sending everything would come to now, in tokens, system and tools included. O(1).
    pub fn log_tokens(&self) -> u64 {
        let logged = Millitokens::new(self.sums.last().copied().unwrap_or_default());
        self.calibration.apply(logged + self.overhead + self.beyond_count).ceil_tokens()
    }

    /// What the policy has spent and weighed, if it decides by price.
    pub fn account(&self) -> Option<Account> {
        self.policy.account(&self.input(Occasion::Request))
    }

    /// The messages that the policy never lets go, by its settings; what the wire format holds comes on top.
    pub fn pins(&self) -> Pins {
        let input = self.input(Occasion::Request);
        let pins = self.policy.pins(&input);
        if self.is_rescued { rescue_pins(&input, &pins) } else { pins }
    }

    /// Whether a message may not leave under any policy: an instruction, a provider's compaction, the opening of an
    /// unfinished turn whose thinking the model wants back.
    pub fn is_held(&self, index: usize) -> bool {
        let position = self.units.partition_point(|unit| unit.range.end <= index);
        self.units.get(position).is_some_and(|unit| self.landmarks.holds(unit, self.config.thinking))
    }

    /// Where the pinned head ends, as an index into the log: accounts of what left stand behind it.
    pub fn head_end(&self) -> usize {
        self.head_end
    }

    /// The units in the view, as ranges of the log.
    pub fn units(&self) -> impl Iterator<Item = Range<usize>> {
        self.units.iter().map(|unit| unit.range.clone())
    }

    /// The job that waits for its [`answer`](Self::answer), if one does. A window that was rebuilt knows it, too, so
    /// that whoever goes on can run it again.
    pub fn open_job(&self) -> Option<&CondenseJob> {
        self.condenser.open()
    }

    /// Numbers the jobs to come behind those of a window that this one takes the place of: an answer to one of them is then
    /// nobody's here, and not taken for the answer to another job.
    ///
    /// ```
    /// use louver::condense::{Outcome, Rejection};
    /// use louver::policy::MessagesConfig;
    /// use louver::window::WindowConfig;
    /// use louver::{Format, PolicyKind, Summary, Window};
    ///
    /// let cap = MessagesConfig { max_messages: 4, preserve_last_n: 2, summarize_on_trim: true, ..MessagesConfig::default() };
    /// let mut left = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
    /// let mut window = left.clone();
    /// for turn in 0..20 {
    ///     left.push_raw(&format!(r#"{{"role":"user","content":"Note {turn}."}}"#))?;
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Another note {turn}."}}"#))?;
    /// }
    /// let late = left.fit()?.job.expect("enough has left");
    /// window.number_jobs_behind(&left);
    /// window.fit()?;
    /// let answered = window.answer(late.id, Ok(Summary::new("Notes of a history that was left.")));
    /// assert_eq!(answered.outcome, Some(Outcome::Rejected(Rejection::NoSuchJob)));
    /// # Ok::<(), louver::Error>(())
    /// ```
    pub fn number_jobs_behind(&mut self, other: &Self) {
        self.condenser.count_on_from(&other.condenser);
    }

    /// Whether the open job covers something that is still in the view, so that its answer makes the view smaller.
    pub fn awaits_room(&self) -> bool {
        let is_in_view = |range: &Range<usize>| !self.entries[range.start].is_evicted;
        self.open_job().is_some_and(|job| job.covers.iter().any(is_in_view))
    }

    /// Whether the view has grown beyond the policy's bound, so that it may not be sent as it is.
    pub fn is_over(&self) -> bool {
        let is_over_cap = self.policy.max_messages().is_some_and(|cap| self.kept.messages > cap);
        let binds = self.is_rescued || self.policy.bound() == Bound::Tokens;
        let is_over_budget = binds && self.budget().is_some_and(|budget| budget.is_exceeded_by(self.tokens()));
        is_over_cap || is_over_budget
    }

    /// What the policy promises.
    pub fn bound(&self) -> Bound {
        if self.is_rescued { Bound::Tokens } else { self.policy.bound() }
    }

    /// Whether the policy is switched off, so that nothing may leave.
    pub fn is_off(&self) -> bool {
        self.policy.is_off()
    }

    /// The policy's cap on messages, if it has one.
    pub fn max_messages(&self) -> Option<usize> {
        self.policy.max_messages()
    }

    /// The policy's name.
    pub fn policy_name(&self) -> &str {
        self.policy.name()
    }

    /// The budget, if there is one.
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// How it was made: with the same it can be opened again.
    pub fn config(&self) -> &WindowConfig {
        &self.config
    }

    /// The wire format of its messages.
    pub fn format(&self) -> crate::wire::Format {
        self.config.format
    }

    /// What the catalogue did not know of the model, where the window was made for one.
    pub fn model_warning(&self) -> Option<&ModelWarning> {
        self.model_warning.as_ref()
    }

    /// Whether a count can change a decision about a history that has at most the tokens counted here.
    pub(crate) fn heeds_counts(&self) -> bool {
        self.policy.heeds_counts(&self.input(Occasion::Request))
    }

    /// Everything that would be sent now.
    fn total(&self) -> Millitokens {
        self.input(Occasion::Request).total()
    }

    fn plan_for(&self, occasion: Occasion) -> Result<Plan, Overflow> {
        let input = self.input(occasion);
        let plan = self.policy.plan(&input)?;
        if !self.is_rescued || (plan.keeps_everything() && !input.is_over()) {
            return Ok(plan);
        }
        // The policy promises nothing about tokens: what it leaves is cut to the budget. What it pins stays as long as
        // that leaves anything to cut and is enough.
        let own = self.policy.pins(&input);
        let is_enough = own.head_end < input.log_len();
        let kind = is_enough.then(|| rescued(&input, &own, plan.clone())).and_then(Result::ok);
        kind.map_or_else(|| rescued(&input, &rescue_pins(&input, &own), plan), Ok)
    }

    fn input(&self, occasion: Occasion) -> PolicyInput<'_> {
        PolicyInput {
            format: self.config.format,
            entries: &self.entries,
            units: &self.units,
            synthetics: &self.synthetics,
            landmarks: &self.landmarks,
            head_end: self.head_end,
            kept_messages: self.kept.messages,
            kept: self.kept.amount,
            overhead: self.overhead,
            beyond_count: self.beyond_count,
            scale: self.scale,
            sums: &self.sums,
            counter: &*self.config.counter,
            calibration: &self.calibration,
            budget: self.budget.filter(|_| self.is_rescued || self.policy.bound() == Bound::Tokens),
            economy: &self.config.economy,
            marker: self.marker,
            thinking: self.config.thinking,
            bound_thinking: &self.bound_thinking,
            occasion,
            may_condense: occasion == Occasion::Request && self.condenser.may_ask(self.entries.len()),
            is_cold: self.is_cold,
            memory: &self.memory,
            ledger_heading: self.config.ledger_heading.as_deref(),
        }
    }
}

/// What a plan leaves, cut to the budget.
fn rescued(input: &PolicyInput<'_>, pins: &Pins, plan: Plan) -> Result<Plan, Overflow> {
    let mut builder = input.builder_after(pins, plan);
    if !builder.fits() {
        builder.plan_mut().trigger = Some(Trigger::TokenLimit);
    }
    builder.finish()
}

/// What stays in a rescue, whatever the policy pins: its first message. The rest of it stays as long as it fits.
fn rescue_pins(input: &PolicyInput<'_>, own: &Pins) -> Pins {
    Pins { recent_start: own.tail_start, ..Pins::head(own.head_end.min(input.instructions_end() + 1)) }
}
