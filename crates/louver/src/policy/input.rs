//! What a policy sees.

use crate::budget::Budget;
use crate::count::count_message;
use crate::edit::{Edit, edit_message};
use crate::tokens::{Calibration, Counter, Factor, Millitokens};
use crate::unit::Unit;
use crate::window::{Entry, bridges};
use crate::wire::{Format, Message, Shape};
use std::collections::VecDeque;
use std::ops::Range;

/// The present view, in units. Everything that needs no look at the messages is O(1).
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    pub(crate) format: Format,
    pub(crate) entries: &'a [Entry],
    pub(crate) units: &'a VecDeque<Unit>,
    pub(crate) kept_messages: usize,
    /// Kept messages and synthetic ones.
    pub(crate) sent: Millitokens,
    pub(crate) overhead: Millitokens,
    /// Everything in the log as it came in.
    pub(crate) logged: Millitokens,
    pub(crate) counter: &'a dyn Counter,
    pub(crate) calibration: &'a Calibration,
    pub(crate) budget: Option<Budget>,
    /// What one of our own markers costs.
    pub(crate) marker: Millitokens,
    /// What stands of ours behind the head, a ledger or a summary, if anything does.
    pub(crate) summary: Option<&'a Shape>,
    /// What the ledger in the view costs.
    pub(crate) ledger: Millitokens,
    /// Whether the condensing shell may be asked now.
    pub(crate) may_condense: bool,
    /// Whether the provider's cache has expired since the last request.
    pub(crate) is_cold: bool,
}

impl<'a> Sight<'a> {
    /// How many messages the log has.
    #[must_use]
    pub fn log_len(&self) -> usize {
        self.entries.len()
    }

    /// How many of them are in the view.
    #[must_use]
    pub fn kept_messages(&self) -> usize {
        self.kept_messages
    }

    /// The units in the view, oldest first.
    #[must_use]
    pub fn units(&self) -> &'a VecDeque<Unit> {
        self.units
    }

    /// The budget, for policies that have one.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// Whether a summary may be asked for: condensing is not waiting for more history after a failure.
    #[must_use]
    pub fn may_condense(&self) -> bool {
        self.may_condense
    }

    /// Whether the provider's cache has expired since the last request, so that everything is written anew anyway.
    #[must_use]
    pub fn is_cold(&self) -> bool {
        self.is_cold
    }

    /// Everything that would be sent now: system, tools, messages.
    #[must_use]
    pub fn total(&self) -> Millitokens {
        self.sent + self.overhead
    }

    /// What sending everything would cost: system, tools, the whole log as it came in.
    #[must_use]
    pub fn log_total(&self) -> Millitokens {
        self.logged + self.overhead
    }

    /// System and tools.
    #[must_use]
    pub fn overhead(&self) -> Millitokens {
        self.overhead
    }

    /// Whole tokens of an amount, corrected by what the provider reported.
    #[must_use]
    pub fn tokens(&self, amount: Millitokens) -> u64 {
        self.calibration.apply(amount).ceil_tokens()
    }

    /// What some messages cost in the form they are sent in. O(messages).
    #[must_use]
    pub fn amount(&self, range: Range<usize>) -> Millitokens {
        self.entries[range].iter().map(|entry| entry.amount).sum()
    }

    /// A message in the form it is sent in.
    #[must_use]
    pub fn message(&self, index: usize) -> &'a Message {
        self.entries[index].current()
    }

    /// What a message would cost after some edits; `None` if it cannot be edited so.
    #[must_use]
    pub fn amount_edited(&self, index: usize, edits: &[Edit]) -> Option<Millitokens> {
        let edited = edit_message(self.format, self.message(index), edits).ok()?;
        Some(count_message(self.counter, &edited))
    }

    /// What has to stand between two messages that become neighbours costs this much. No `before` means the start.
    #[must_use]
    pub fn seam_amount(&self, before: Option<usize>, after: usize) -> Millitokens {
        let before = before.map(|index| self.message(index).shape());
        let markers = bridges(self.format.wire(), before, self.summary, Some(self.message(after).shape()));
        markers.into_iter().flatten().map(|_| self.marker).sum()
    }

    /// What the ledger in the view costs.
    #[must_use]
    pub fn ledger_amount(&self) -> Millitokens {
        self.ledger
    }

    /// What a text costs.
    #[must_use]
    pub fn count_text(&self, text: &str) -> Millitokens {
        self.counter.text(text)
    }

    /// What a ledger of this text would cost, with the markers it may need beside it.
    #[must_use]
    pub fn count_ledger(&self, text: &str) -> Millitokens {
        self.counter.text(text) + self.marker + self.marker
    }

    /// The factor by which a caller's own figure differs from ours.
    pub(crate) fn factor_of(reported: u64, counted: Millitokens) -> Factor {
        Factor::ratio(reported.saturating_mul(1000), counted.thousandths()).unwrap_or(Factor::ONE)
    }
}
