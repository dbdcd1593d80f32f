//! The block `ladder`.

use super::Ladder;
use super::ladder::When;
use super::walk::{Block, Walk};

/// Every key of `ladder`.
const LADDER: &[&str] =
    &["when", "leave_below_tokens", "keep_recent_tokens", "ledger_tokens", "shrink_on_arrival", "pin", "pin_tools"];

/// A pin without text would hold in every message.
const EMPTY_PIN: &str = "is empty: it would pin every message";

impl Walk {
    pub(super) fn ladder(&mut self, top: &Block<'_>) -> Ladder {
        let block = self.inner(top, "ladder", LADDER).unwrap_or_default();
        Ladder {
            when: self.choice(&block, "when", &When::NAMES).map(|at| When::ALL[at]),
            leave_below_tokens: self.optional(&block, "leave_below_tokens", 0..=u64::MAX),
            keep_recent_tokens: self.optional(&block, "keep_recent_tokens", 0..=u64::MAX),
            ledger_tokens: self.optional(&block, "ledger_tokens", 0..=u64::MAX),
            shrink_on_arrival: self.optional(&block, "shrink_on_arrival", 0..=u64::MAX),
            pin: self.texts(&block, "pin", "texts", |text| text.is_empty().then_some(EMPTY_PIN)),
            pin_tools: self.texts(&block, "pin_tools", "names", |_| None),
        }
    }
}
