//! The block `ladder`.

use super::Ladder;
use super::walk::{Block, Walk};
use louver::policy::Rung;

/// Every key of `ladder`.
const LADDER: &[&str] = &["keep_recent_tokens", "target", "ledger_tokens", "shrink_on_arrival", "rungs", "pin"];

/// A pin without text would hold in every message.
const EMPTY_PIN: &str = "is empty: it would pin every message";
const NO_RUNG: &str = "is none of superseded, clipped, cleared, dropped, folded";

impl Walk {
    pub(super) fn ladder(&mut self, top: &Block<'_>) -> Ladder {
        let Some(block) = self.inner(top, "ladder", LADDER) else {
            return Ladder::default();
        };
        let rungs = self.texts(&block, "rungs", "rungs", |name| name.parse::<Rung>().is_err().then_some(NO_RUNG));
        Ladder {
            keep_recent_tokens: self.optional(&block, "keep_recent_tokens", 0..=u64::MAX),
            target: self.optional(&block, "target", 0..=u64::MAX),
            ledger_tokens: self.optional(&block, "ledger_tokens", 0..=u64::MAX),
            shrink_on_arrival: self.optional(&block, "shrink_on_arrival", 0..=u64::MAX),
            rungs: block.has("rungs").then(|| rungs.iter().filter_map(|name| name.parse().ok()).collect()),
            pin: self.texts(&block, "pin", "texts", |text| text.is_empty().then_some(EMPTY_PIN)),
        }
    }
}
