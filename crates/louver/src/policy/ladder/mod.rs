//! The cheapest legal window that keeps what matters.
//!
//! `ladder` edits in batches, when the rent on what could leave has reached the price of rewriting what stays, and loses
//! the least valuable bytes first. Rungs, least loss first, each climbed only as far as needed: tool results that
//! stand again later, oversized ones, old ones, old media, and at last the oldest units, which are folded into a
//! ledger. Instructions, the first task, the latest request and the recent tail are pinned.

mod economy;
mod identifiers;
mod ledger;
mod rungs;
mod stub;

pub use economy::Economy;

use super::draft::Draft;
use super::{Policy, Settings, SettingsError};
use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::tokens::{Factor, Millitokens};
use crate::unit::Unit;
use crate::wire::{PartKind, Role};
use economy::{Books, Offer};
use ledger::Ledger;

/// The settings of the ladder. The defaults are meant to be left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderConfig {
    /// The newest units that hold this many tokens stay as they are.
    pub keep_recent_tokens: u64,
    /// What is left between the pinned head and the recent tail after a cut, in tokens, besides the ledger.
    pub target_tokens: u64,
    /// The ledger's bound.
    pub ledger_tokens: u64,
    /// Tool results beyond this are clipped before they are sent for the first time.
    pub shrink_on_arrival_tokens: Option<u64>,
    /// Messages that hold one of these texts are pinned.
    pub pin: Vec<String>,
}

impl LadderConfig {
    /// Saves most.
    #[must_use]
    pub fn lean() -> Self {
        Self { keep_recent_tokens: 6_000, shrink_on_arrival_tokens: Some(4_000), ..Self::default() }
    }

    /// Loses least.
    #[must_use]
    pub fn careful() -> Self {
        Self { keep_recent_tokens: 20_000, target_tokens: 4_000, ..Self::default() }
    }
}

impl Default for LadderConfig {
    fn default() -> Self {
        Self {
            keep_recent_tokens: 9_000,
            target_tokens: 0,
            ledger_tokens: 3_000,
            shrink_on_arrival_tokens: None,
            pin: Vec::new(),
        }
    }
}

/// The policy `ladder`.
#[derive(Debug)]
struct Ladder {
    config: LadderConfig,
    economy: Economy,
    budget: Budget,
    books: Books,
    ledger: Ledger,
    /// What the log held before each message, and in all: thousandths of tokens.
    sums: Vec<u64>,
    /// Where the pinned head ends: behind the first request.
    head_end: usize,
    is_head_closed: bool,
    /// The first message of the recent tail.
    tail_start: usize,
    latest_request: Option<usize>,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    let budget = settings.budget.ok_or(SettingsError::NoBudget("ladder"))?;
    Ok(Box::new(Ladder::new(settings.ladder.clone(), settings.economy.clone(), budget)))
}

impl Policy for Ladder {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        let arrived = self.sums.len() - 1;
        self.look_at_new(sight);
        self.books.request(&self.economy, sight.log_total());
        let mut draft = Draft::new(Plan::nothing(), sight, sight.total(), Factor::ONE, self.budget);
        self.shrink_arrivals(&mut draft, arrived);
        let offer = self.offer(sight);
        self.books.accrue(&self.economy, offer);
        let is_forced = self.is_forced(sight);
        let is_due = offer.saved > Millitokens::ZERO && self.books.is_due(&self.economy, offer, sight.total());
        if !is_forced && !is_due {
            self.books.sent(&self.economy, self.books.view_before(), draft.total());
            return Ok(draft.plan);
        }
        draft.plan.trigger = Some(if is_due { Trigger::PaysOff } else { Trigger::TokenLimit });
        self.climb(&mut draft);
        let cached = sight.overhead() + self.head_amount(sight);
        let plan = draft.finish()?;
        self.books.cut();
        self.books.sent(&self.economy, cached, sight.total().saturating_sub(offer.saved));
        Ok(plan)
    }
}

impl Ladder {
    fn new(config: LadderConfig, economy: Economy, budget: Budget) -> Self {
        Self {
            config: within(config, budget),
            economy,
            budget,
            books: Books::default(),
            ledger: Ledger::default(),
            sums: vec![0],
            head_end: 0,
            is_head_closed: false,
            tail_start: 0,
            latest_request: None,
        }
    }

    /// O(new messages).
    fn look_at_new(&mut self, sight: &Sight<'_>) {
        for index in self.sums.len() - 1..sight.log_len() {
            let before = self.sums[index];
            self.sums.push(before + sight.amount(index..index + 1).thousandths());
            let shape = sight.message(index).shape();
            let is_request =
                shape.role == Role::User && shape.parts.iter().any(|part| part.kind == PartKind::Text && !part.nested);
            if is_request {
                self.latest_request = Some(index);
            }
            if !self.is_head_closed {
                let is_instruction = matches!(shape.role, Role::System | Role::Developer);
                self.is_head_closed = is_request || !is_instruction;
                self.head_end = index + 1;
            }
        }
        self.move_tail(sight);
    }

    /// Lets the tail start at the newest unit behind which it still holds enough.
    fn move_tail(&mut self, sight: &Sight<'_>) {
        let keep = Millitokens::from_tokens(self.config.keep_recent_tokens).thousandths();
        let end = self.sums[sight.log_len()];
        let mut position = sight.units().partition_point(|unit| unit.range.end <= self.tail_start);
        while let Some(unit) = sight.units().get(position)
            && end - self.sums[unit.range.end] >= keep
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
    fn offer(&self, sight: &Sight<'_>) -> Offer {
        let tail = self.sums[sight.log_len()] - self.sums[self.tail_start.max(self.head_end)];
        let head = self.head_amount(sight);
        let tail = Millitokens::new(tail);
        let middle = sight.total().saturating_sub(sight.overhead()).saturating_sub(head).saturating_sub(tail);
        let most = Millitokens::from_tokens(self.config.target_tokens + self.config.ledger_tokens);
        let left = most.min(Millitokens::new(middle.thousandths() / 3));
        Offer { saved: middle.saturating_sub(left), rewritten: tail + left }
    }

    fn head_amount(&self, sight: &Sight<'_>) -> Millitokens {
        sight.amount(0..self.head_end.min(sight.log_len()))
    }

    /// Over the window, or over the last price cliff that can be kept below.
    fn is_forced(&self, sight: &Sight<'_>) -> bool {
        let now = sight.tokens(sight.total());
        let least = sight.tokens(sight.overhead() + self.head_amount(sight)) + 2 * self.config.keep_recent_tokens;
        let is_over_cliff = self.economy.cliffs.iter().any(|cliff| now > *cliff && least < *cliff);
        self.budget.is_exceeded_by(now) || is_over_cliff
    }
}

/// In a small window everything shrinks in proportion.
fn within(config: LadderConfig, budget: Budget) -> LadderConfig {
    let allowed = budget.allowed_tokens();
    LadderConfig {
        keep_recent_tokens: config.keep_recent_tokens.min(allowed / 3),
        target_tokens: config.target_tokens.min(allowed / 8),
        ledger_tokens: config.ledger_tokens.min(allowed / 8),
        ..config
    }
}
