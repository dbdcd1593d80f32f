//! The cheapest legal window that keeps what matters.
//!
//! `ladder` cuts when the rent on what could leave has reached the price of rewriting what stays, and loses the least
//! valuable bytes first: everything between the head and the recent tail is folded into a ledger; where that does not
//! fit, the oldest of the tail follows; then oversized results are clipped. Instructions and everything else before the
//! model's first answer, the latest request and pinned texts stay in any case.

mod arguments;
mod block;
mod books;
mod clip;
mod config;
mod labels;
mod ledger;
mod names;
mod page;
mod prose;
mod ranked;
mod tail;
mod texts;
mod worth;

pub use books::Account;
pub use config::{CutWhen, LadderConfig, LadderRow};

use crate::budget::Budget;
use crate::edit::{Change, Edit};
use crate::plan::{Bound, Memory, Overflow, Pins, Plan, Trigger};
use crate::policy::{Occasion, PlanBuilder, Policy, PolicyInput};
use crate::tokens::Millitokens;
use crate::wire::{Part, PartKind};
use books::{Books, Offer};
use clip::clipped;
use config::Marks;
use ledger::Ledger;
use page::Filling;
use std::ops::Range;
use std::sync::Arc;
use tail::Tail;

/// About how many characters a token has, where a bound in tokens is first read as characters.
const CHARS_PER_TOKEN: u64 = 4;

/// Fewer bytes than this has a token in dense text alone.
const DENSE_BYTES_PER_TOKEN: u64 = 3;

/// Words are at most one part in so many of what was folded: there is little to tell of little.
const PROSE_SHARE: u64 = 16;

/// The policy `ladder`.
#[derive(Debug)]
pub(super) struct Ladder {
    config: LadderConfig,
}

/// What it remembers from request to request. Cloning is O(1): the ledger is shared until it changes.
#[derive(Clone, Debug, Default)]
struct State {
    books: Books,
    ledger: Arc<Ledger>,
    /// How long the log was at the last request.
    sent: usize,
    tail: Tail,
}

impl Policy for Ladder {
    fn name(&self) -> &str {
        self.config.name()
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        let recent = input.budget().map(|budget| State::of(input).tail.at(input, self.marks(input, budget)));
        let recent_start = recent.map_or(0, |tail| tail.start);
        Pins { others: self.pinned(input), recent_start, ..Pins::head(head_end(input)) }
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        let is_sizeable = |budget| is_sizeable(at_most, self.marks(at_most, budget));
        // Before the model's first answer nothing can leave, whatever it counts.
        let may_pay = self.decides_by_price() && head_end(at_most) < at_most.log_len();
        at_most.is_over() || (may_pay && at_most.budget().is_some_and(is_sizeable))
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let Some(budget) = input.budget() else {
            return Ok(Plan::nothing());
        };
        let marks = self.marks(input, budget);
        let mut state = self.at_request(input, marks);
        let arrivals = self.shrunk_arrivals(input);
        match self.trigger(input, &state, marks, budget) {
            Some(trigger) => match self.cut(input, &mut state, trigger, &arrivals, budget)? {
                Some(plan) => Ok(Plan { memory: Memory::new(state), ..plan }),
                None => Ok(uncut(input, state, &arrivals, Some(trigger))),
            },
            None => Ok(uncut(input, state, &arrivals, None)),
        }
    }

    fn remember(&self, input: &PolicyInput<'_>, evicted: &[Range<usize>], trigger: Option<Trigger>) -> Memory {
        let Some(budget) = input.budget() else {
            return Memory::default();
        };
        let marks = self.marks(input, budget);
        let mut state = self.at_request(input, marks);
        match (evicted.is_empty(), trigger) {
            (true, trigger) => state.take_uncut(input, trigger),
            (false, _) => state.take_cut(input, evicted),
        }
        Memory::new(state)
    }

    fn account(&self, input: &PolicyInput<'_>) -> Option<Account> {
        if !self.decides_by_price() {
            return None;
        }
        let state = input.memory().get::<State>();
        Some(state.map_or(Account::default(), |state| state.books.account(input)))
    }
}

impl State {
    fn of(input: &PolicyInput<'_>) -> Self {
        input.memory().get::<Self>().cloned().unwrap_or_default()
    }

    /// Takes note that everything was sent as it stood. A cut that was tried and found to be of no use waits for more
    /// rent.
    fn take_uncut(&mut self, input: &PolicyInput<'_>, tried: Option<Trigger>) {
        if tried.is_some() {
            self.books.put_off();
        }
        if input.occasion() == Occasion::Request {
            self.books.sent_uncut(input);
        }
    }

    /// Takes note of a cut that takes these messages away.
    fn take_cut(&mut self, input: &PolicyInput<'_>, evicted: &[Range<usize>]) {
        self.books.sent_cut(input, input.logged(0..head_end(input)));
        let ledger = Arc::make_mut(&mut self.ledger);
        for index in evicted.iter().cloned().flatten() {
            ledger.fold(index, input.original(index));
        }
        ledger.forget(input);
    }
}

impl Ladder {
    pub(super) fn new(config: LadderConfig) -> Self {
        Self { config }
    }

    /// The figures that hold beside system, tools and head.
    fn marks(&self, input: &PolicyInput<'_>, budget: Budget) -> Marks {
        let head = input.logged(0..head_end(input).min(input.log_len()));
        let stays = input.tokens(head + input.overhead()).min(budget.allowed_tokens() / 2);
        self.config.marks(budget.allowed_tokens() - stays)
    }

    /// Whether it cuts what it need not.
    fn decides_by_price(&self) -> bool {
        self.config.when == CutWhen::Pays
    }

    /// What it knows at this request, before anything is decided. O(new messages).
    fn at_request(&self, input: &PolicyInput<'_>, marks: Marks) -> State {
        let mut state = State::of(input);
        if state.ledger.quotes_thinking != self.config.quote_thinking {
            Arc::make_mut(&mut state.ledger).quotes_thinking = self.config.quote_thinking;
        }
        state.tail = state.tail.at(input, marks);
        if input.occasion() == Occasion::Request {
            state.books.request(input, self.offer(input, &state, marks));
            state.sent = input.log_len();
        }
        state
    }

    /// Why a cut is to be made now, if one is.
    fn trigger(&self, input: &PolicyInput<'_>, state: &State, marks: Marks, budget: Budget) -> Option<Trigger> {
        let view_tokens = input.tokens(input.total());
        let may_choose = self.decides_by_price() && input.occasion() == Occasion::Request && is_sizeable(input, marks);
        let offer = self.offer(input, state, marks);
        if may_choose && input.is_cold() && offer.is_sizeable() {
            return Some(Trigger::ColdCache);
        }
        if may_choose && state.books.is_due(input, marks.timing) {
            return Some(Trigger::PaysOff);
        }
        if budget.is_exceeded_by(view_tokens) {
            return Some(Trigger::TokenLimit);
        }
        (may_choose && is_over_price_step(input, offer)).then_some(Trigger::PriceStep)
    }

    /// What a cut would save and what it would rewrite. O(1).
    fn offer(&self, input: &PolicyInput<'_>, state: &State, marks: Marks) -> Offer {
        let end = input.log_len();
        let start = state.tail.start.max(head_end(input)).min(end);
        let tail = input.logged(start..end);
        let head = input.logged(0..head_end(input).min(end));
        let middle = input.total().saturating_sub(input.overhead()).saturating_sub(head).saturating_sub(tail);
        let left = expected_ledger(input, middle, marks);
        // What was never sent has to be written either way.
        let sent = input.memory().get::<State>().map_or(0, |state| state.sent);
        let new = input.logged(sent.clamp(start, end)..end);
        Offer { saved: middle.saturating_sub(left), rewritten: (tail + left).saturating_sub(new), ledger: left }
    }

    /// Folds what stands between head and tail into the ledger, and more where that is not enough. `None` where a cut
    /// that nothing forces would make nothing smaller, or a price step cannot be kept below.
    fn cut(
        &self,
        input: &PolicyInput<'_>,
        state: &mut State,
        trigger: Trigger,
        arrivals: &[Edit],
        budget: Budget,
    ) -> Result<Option<Plan>, Overflow> {
        let is_over = input.is_over();
        let marks = self.marks(input, budget);
        let mut builder = self.builder(input, trigger, arrivals);
        builder.evict_unseen();
        let tail_start = state.tail.start;
        builder.evict_where(|unit| unit.range.start < tail_start);
        if is_over {
            let ledger = input.tokens(input.ledger_amount());
            builder.evict_down_to(budget.allowed_tokens() - marks.ledger_tokens + ledger);
        }
        if is_over {
            check_floor(&builder)?;
        }
        let evicted = builder.evicted();
        let mut cut = state.clone();
        if !evicted.is_empty() {
            // Nobody forces a cut that only has to pay: its ledger has to, too.
            let is_free_to = trigger == Trigger::PaysOff && !is_over;
            let affordable = is_free_to.then(|| state.books.affordable_ledger(input, marks.timing).ceil_tokens());
            cut.take_cut(input, &evicted);
            self.write_ledger(input, &mut builder, &mut cut, affordable, budget);
        }
        if !is_over && (evicted.is_empty() || !is_useful(input, &builder, trigger)) {
            return Ok(None);
        }
        let mut plan = builder.finish()?;
        if plan.evict.len() > evicted.len() {
            // The last resort took more: the next ledger tells of it.
            cut = state.clone();
            cut.take_cut(input, &plan.evict);
        }
        if plan.evict.is_empty() {
            cut.take_uncut(input, Some(trigger));
        }
        plan.condense = (self.config.summarize_on_trim && !plan.evict.is_empty()).then(|| plan.evict.clone());
        *state = cut;
        Ok(Some(plan))
    }

    fn builder<'a>(&self, input: &'a PolicyInput<'a>, trigger: Trigger, arrivals: &[Edit]) -> PlanBuilder<'a> {
        let pins = Pins { others: self.pinned(input), ..Pins::head(head_end(input)) };
        let mut builder = input.builder(&pins);
        put_edits(&mut builder, arrivals);
        let plan = builder.plan_mut();
        (plan.trigger, plan.head_end) = (Some(trigger), pins.head_end);
        builder
    }

    /// Writes the ledger as large as it may be and as there is room for.
    fn write_ledger(
        &self,
        input: &PolicyInput<'_>,
        builder: &mut PlanBuilder<'_>,
        state: &mut State,
        affordable: Option<u64>,
        budget: Budget,
    ) {
        builder.put_ledger(String::new());
        let folded = builder.evicted().iter().map(|range| input.logged(range.clone())).sum::<Millitokens>();
        let wanted = input.ledger_amount().ceil_tokens().max(folded.ceil_tokens() * 4 / 5);
        let bound = self.marks(input, budget).ledger_tokens.min(wanted).min(affordable.unwrap_or(u64::MAX));
        // A ledger may need a marker on either side.
        let room = budget.allowed_tokens().saturating_sub(input.tokens(builder.total() + input.marker + input.marker));
        let left: Vec<Range<usize>> = builder.units().map(|(unit, _)| unit.range.clone()).collect();
        Arc::make_mut(&mut state.ledger).look_through(input, &left);
        let candidates = state.ledger.candidates(input, &left, &self.config);
        let (page, amount) = candidates.page_within(bound.min(room), self.filling(input, state, budget));
        builder.put_counted_ledger(page, amount);
    }

    /// How the ledger is filled at the prices of now.
    fn filling(&self, input: &PolicyInput<'_>, state: &State, budget: Budget) -> Filling {
        let LadderConfig { lines_beside, worth_percent, .. } = self.config;
        let keep_price = state.books.keep_price(input.economy());
        let folded: Millitokens = state.ledger.folded.iter().map(|range| input.logged(range.clone())).sum();
        let prose_tokens = self.marks(input, budget).prose_tokens.min(folded.ceil_tokens() / PROSE_SHARE);
        Filling::new(prose_tokens, lines_beside, worth_percent, keep_price)
    }

    /// The latest request, the messages that hold a pinned text and the calls of pinned tools.
    fn pinned(&self, input: &PolicyInput<'_>) -> Vec<usize> {
        let LadderConfig { pin, pin_tools, .. } = &self.config;
        let holds = |index: &usize| {
            let message = input.original(*index);
            let is_pinned = |part: &Part| {
                part.kind == PartKind::ToolCall && pin_tools.iter().any(|tool| *tool == message.name_of(part))
            };
            pin.iter().any(|text| message.raw().contains(text.as_str())) || message.shape().parts.iter().any(is_pinned)
        };
        let in_view = input.units().iter().filter(|_| !pin.is_empty() || !pin_tools.is_empty());
        let mut pinned: Vec<usize> = in_view.flat_map(|unit| unit.range.clone()).filter(holds).collect();
        pinned.extend(input.latest_request());
        pinned.sort_unstable();
        pinned
    }

    /// Clips new tool results before they are sent for the first time: that costs no cache.
    fn shrunk_arrivals(&self, input: &PolicyInput<'_>) -> Vec<Edit> {
        let limit = self.config.shrink_on_arrival_tokens.saturating_mul(CHARS_PER_TOKEN);
        let limit_chars = u32::try_from(limit).unwrap_or(u32::MAX);
        if limit == 0 || input.occasion() != Occasion::Request {
            return Vec::new();
        }
        let sent = input.memory().get::<State>().map_or(0, |state| state.sent);
        let new = (sent..input.log_len()).filter(|index| input.is_in_view(*index));
        new.flat_map(|index| shrunk(input, index, limit_chars)).collect()
    }
}

/// Whether there is enough that a cut could be worth what it loses. Told by bytes, too: of a short text that is known
/// before anything is counted, and counting it would take longer than all the rest.
fn is_sizeable(input: &PolicyInput<'_>, marks: Marks) -> bool {
    let dense = |tokens: u64| usize::try_from(tokens.saturating_mul(DENSE_BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    let (least_bytes, mut bytes) = (dense(marks.smallest_view_tokens), dense(input.tokens(input.overhead())));
    let is_long = |index| {
        bytes = bytes.saturating_add(input.original(index).raw().len());
        bytes > least_bytes
    };
    input.tokens(input.total()) > marks.smallest_view_tokens && (0..input.log_len()).any(is_long)
}

/// Fails where even without a ledger everything that has to stay is too much: nothing need be read for one then.
fn check_floor(builder: &PlanBuilder<'_>) -> Result<(), Overflow> {
    let mut bare = builder.clone();
    bare.put_ledger(String::new());
    bare.finish().map(drop)
}

/// The edits that clip the oversized results of a message.
fn shrunk(input: &PolicyInput<'_>, index: usize, limit_chars: u32) -> Vec<Edit> {
    let message = input.message(index);
    let is_output = |part: &Part| part.kind == PartKind::ToolResult || (part.nested && part.kind == PartKind::Text);
    let parts = message.shape().parts.iter().enumerate();
    let oversized = parts.filter(|(_, part)| is_output(part) && part.chars > limit_chars);
    let edit = |(part, shape)| {
        let text = clipped(index, &message.text_of(shape), limit_chars as usize / 2);
        Edit { index, part, change: Change::Stub(text) }
    };
    oversized.map(edit).collect()
}

/// Nothing leaves, and what arrived is sent.
fn uncut(input: &PolicyInput<'_>, mut state: State, arrivals: &[Edit], trigger: Option<Trigger>) -> Plan {
    state.take_uncut(input, trigger);
    Plan { trigger, memory: Memory::new(state), ..shrunk_where_smaller(input, arrivals) }
}

/// Clips what arrived, unless thinking that is bound to it leaves more behind than was clipped.
fn shrunk_where_smaller(input: &PolicyInput<'_>, arrivals: &[Edit]) -> Plan {
    if arrivals.is_empty() {
        return Plan::nothing();
    }
    let mut builder = input.builder(&Pins::none());
    put_edits(&mut builder, arrivals);
    if builder.total() < input.total() { builder.into_plan() } else { Plan::nothing() }
}

fn put_edits(builder: &mut PlanBuilder<'_>, edits: &[Edit]) {
    for edits in edits.chunk_by(|a, b| a.index == b.index) {
        builder.edit(edits[0].index, edits);
    }
}

/// The head is everything before the model's first answer.
fn head_end(input: &PolicyInput<'_>) -> usize {
    input.first_answer().unwrap_or(input.log_len())
}

/// About what a cut leaves of the middle, in which the ledger of the last cut stands already.
fn expected_ledger(input: &PolicyInput<'_>, middle: Millitokens, marks: Marks) -> Millitokens {
    let before = input.ledger_amount();
    let folded = middle.saturating_sub(before);
    let ledger = before.max(Millitokens::new(folded.thousandths() * marks.timing.ledger_percent / 100));
    let most = marks.ledger_tokens.min(marks.timing.ledger_tokens);
    ledger.min(Millitokens::from_tokens(most).max(before))
}

/// Whether the request is above a price step that a cut brings it below.
fn is_over_price_step(input: &PolicyInput<'_>, offer: Offer) -> bool {
    let now = input.tokens(input.total());
    let after = input.tokens(input.total().saturating_sub(offer.saved));
    input.economy().price_steps.iter().any(|step| now > *step && after <= *step)
}

/// Whether a cut that nothing forces makes the view smaller, and one for a price step gets below it.
fn is_useful(input: &PolicyInput<'_>, builder: &PlanBuilder<'_>, trigger: Trigger) -> bool {
    let (before, after) = (input.tokens(input.total()), builder.tokens());
    let gets_below = |step: &u64| before > *step && after <= *step;
    let is_below = trigger != Trigger::PriceStep || input.economy().price_steps.iter().any(gets_below);
    after < before && is_below
}
