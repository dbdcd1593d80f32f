//! The cheapest legal window that keeps what matters.
//!
//! `ladder` edits in batches, when the rent on what could leave has reached the price of rewriting what stays, and loses
//! the least valuable bytes first. Rungs, least loss first, each climbed only as far as needed: tool results that
//! stand again later, oversized ones, old ones, old media and thinking, and at last the oldest units, which are folded
//! into a ledger. Instructions, the first task, the latest request and the recent tail are pinned.

mod clip;
mod config;
mod economy;
mod identifiers;
mod ledger;
mod rungs;
mod stub;

pub use config::{LadderConfig, Rung, UnknownRung};
pub use economy::{Account, Economy};

use super::draft::Draft;
use super::{Policy, Settings, SettingsError};
use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::tokens::{Factor, Millitokens};
use crate::unit::Unit;
use crate::wire::Role;
use config::Marks;
use economy::{Books, Offer};
use ledger::Ledger;

/// The policy `ladder`.
#[derive(Debug)]
struct Ladder {
    config: LadderConfig,
    marks: Marks,
    /// Whether a model's summary is wanted beside the ledger.
    summarizes: bool,
    economy: Economy,
    budget: Budget,
    books: Books,
    ledger: Ledger,
    sums: Sums,
    /// Where the pinned head ends: behind the first request.
    head_end: usize,
    is_head_closed: bool,
    /// The first message of the recent tail.
    tail_start: usize,
    latest_request: Option<usize>,
}

/// Running sums over the log as it came in, in thousandths of tokens: what stood before each message, and in all.
#[derive(Debug)]
struct Sums {
    whole: Vec<u64>,
    /// Each message counted only up to what one may contribute to the tail.
    capped: Vec<u64>,
    /// Each message as it would be with its results cleared.
    cleared: Vec<u64>,
}

impl Sums {
    fn new() -> Self {
        Self { whole: vec![0], capped: vec![0], cleared: vec![0] }
    }

    fn len(&self) -> usize {
        self.whole.len() - 1
    }

    fn push(&mut self, amount: u64, cap: u64, cleared: u64) {
        let append = |sums: &mut Vec<u64>, next: u64| sums.push(sums.last().copied().unwrap_or_default() + next);
        append(&mut self.whole, amount);
        append(&mut self.capped, amount.min(cap));
        append(&mut self.cleared, cleared);
    }
}

/// The row `ladder`.
pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ladder::boxed("ladder", Marks::DEFAULT, settings)
}

/// The row `ladder-lean`.
pub(super) fn build_lean(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ladder::boxed("ladder-lean", Marks::LEAN, settings)
}

/// The row `ladder-careful`.
pub(super) fn build_careful(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ladder::boxed("ladder-careful", Marks::CAREFUL, settings)
}

impl Policy for Ladder {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        let arrived = self.sums.len();
        self.look_at_new(sight);
        self.books.request(&self.economy, sight.log_total(), sight.is_cold());
        let mut draft = Draft::new(Plan::nothing(), sight, sight.total(), Factor::ONE, self.budget);
        self.shrink_arrivals(&mut draft, arrived);
        let offer = self.offer(sight, arrived);
        self.books.weigh(&self.economy, offer);
        let Some(trigger) = self.trigger(sight) else {
            self.books.sent(&self.economy, self.books.view_before(), draft.total());
            return Ok(draft.plan);
        };
        draft.plan.trigger = Some(trigger);
        self.climb(&mut draft);
        let mut plan = draft.finish()?;
        if plan.keeps_everything() {
            self.books.put_off();
            self.books.sent(&self.economy, self.books.view_before(), sight.total());
            return Ok(Plan { trigger: None, ..plan });
        }
        plan.condense = (self.summarizes && !plan.evict.is_empty()).then(|| plan.evict.clone());
        self.books.cut();
        let cached = if sight.is_cold() { Millitokens::ZERO } else { sight.overhead() + self.head_amount(sight) };
        self.books.sent(&self.economy, cached, sight.total().saturating_sub(offer.saved));
        Ok(plan)
    }

    fn account(&self) -> Option<Account> {
        Some(self.books.account())
    }
}

impl Ladder {
    fn boxed(name: &'static str, marks: Marks, settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
        let budget = settings.budget.ok_or(SettingsError::NoBudget(name))?;
        Ok(Box::new(Self {
            config: settings.ladder.clone(),
            marks: marks.with(&settings.ladder, budget),
            summarizes: settings.messages.summarize_on_trim,
            economy: settings.economy.clone(),
            budget,
            books: Books::default(),
            ledger: Ledger::default(),
            sums: Sums::new(),
            head_end: 0,
            is_head_closed: false,
            tail_start: 0,
            latest_request: None,
        }))
    }

    /// Why a cut is to be made now, if one is.
    fn trigger(&self, sight: &Sight<'_>) -> Option<Trigger> {
        if sight.is_cold() && self.books.is_worth_a_free_cut() {
            return Some(Trigger::ColdCache);
        }
        if self.books.is_due(&self.economy, sight.total()) {
            return Some(Trigger::PaysOff);
        }
        self.is_forced(sight).then_some(Trigger::TokenLimit)
    }

    /// O(new messages).
    fn look_at_new(&mut self, sight: &Sight<'_>) {
        let cap = Millitokens::from_tokens(self.marks.most_of_tail()).thousandths();
        for index in self.sums.len()..sight.log_len() {
            let amount = sight.amount(index..index + 1);
            self.sums.push(amount.thousandths(), cap, rungs::cleared_amount(sight, index).thousandths());
            let shape = sight.message(index).shape();
            if shape.is_request() {
                self.latest_request = Some(index);
            }
            if !self.is_head_closed {
                let is_instruction = matches!(shape.role, Role::System | Role::Developer);
                self.is_head_closed = !is_instruction;
                self.head_end = index + 1;
            }
        }
        self.move_tail(sight);
    }

    /// Lets the tail start at the newest unit behind which it still holds enough.
    fn move_tail(&mut self, sight: &Sight<'_>) {
        let keep = Millitokens::from_tokens(self.marks.keep_recent_tokens).thousandths();
        let sums = &self.sums.capped;
        let end = sums[sight.log_len()];
        let mut position = sight.units().partition_point(|unit| unit.range.end <= self.tail_start);
        while let Some(unit) = sight.units().get(position)
            && end - sums[unit.range.end] >= keep
        {
            position += 1;
        }
        if let Some(unit) = sight.units().get(position) {
            self.tail_start = unit.range.start;
        }
    }

    /// The units between head and tail that may be touched.
    fn middle<'a>(&self, sight: &Sight<'a>) -> Vec<&'a Unit> {
        let units = sight.units();
        let start = units.partition_point(|unit| unit.range.start < self.head_end);
        let end = units.partition_point(|unit| unit.range.start < self.tail_start);
        let is_free = |unit: &&Unit| unit.owner.is_none() && !self.is_pinned(sight, unit);
        units.range(start..end.max(start)).filter(is_free).collect()
    }

    fn is_pinned(&self, sight: &Sight<'_>, unit: &Unit) -> bool {
        let holds =
            |index: usize| self.config.pin.iter().any(|text| sight.message(index).raw().contains(text.as_str()));
        self.latest_request.is_some_and(|index| unit.range.contains(&index)) || unit.range.clone().any(holds)
    }

    /// What a cut would save and what it would rewrite. O(1).
    fn offer(&self, sight: &Sight<'_>, arrived: usize) -> Offer {
        let end = sight.log_len();
        let start = self.tail_start.max(self.head_end).min(end);
        let whole = &self.sums.whole;
        let tail = Millitokens::new(whole[end] - whole[start]);
        let head = self.head_amount(sight);
        let middle = sight.total().saturating_sub(sight.overhead()).saturating_sub(head).saturating_sub(tail);
        let left = self.left_of(sight, middle, start);
        // What was never sent has to be written either way.
        let new = Millitokens::new(whole[end] - whole[arrived.clamp(start, end)]);
        Offer { saved: middle.saturating_sub(left), rewritten: (tail + left).saturating_sub(new) }
    }

    /// About what a cut leaves of the middle, in which the ledger of the last cut stands already.
    fn left_of(&self, sight: &Sight<'_>, middle: Millitokens, tail_start: usize) -> Millitokens {
        let head_end = self.head_end.min(tail_start);
        let cleared = Millitokens::new(self.sums.cleared[tail_start] - self.sums.cleared[head_end]).min(middle);
        if !self.config.rungs.contains(&Rung::Folded) {
            return cleared;
        }
        let before = sight.ledger_amount();
        let folded = middle.saturating_sub(before);
        let ledger = before.max(Millitokens::new(folded.thousandths() / 3));
        let ledger = ledger.min(Millitokens::from_tokens(self.marks.ledger_tokens).max(before));
        ledger + cleared.min(Millitokens::from_tokens(self.marks.target_tokens))
    }

    fn head_amount(&self, sight: &Sight<'_>) -> Millitokens {
        sight.amount(0..self.head_end.min(sight.log_len()))
    }

    /// Over the window, or over the last price cliff that can be kept below.
    fn is_forced(&self, sight: &Sight<'_>) -> bool {
        let now = sight.tokens(sight.total());
        let least = sight.tokens(sight.overhead() + self.head_amount(sight)) + 2 * self.marks.keep_recent_tokens;
        let is_over_cliff = self.economy.cliffs.iter().any(|cliff| now > *cliff && least < *cliff);
        self.budget.is_exceeded_by(now) || is_over_cliff
    }
}
