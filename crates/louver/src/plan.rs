//! Decisions as values.

use crate::edit::Edit;
use std::ops::Range;

/// What a policy decided: a plain value that can be printed, stored, replayed and undone. Nothing has happened yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Why something is to be done, if anything is.
    pub trigger: Option<Trigger>,
    /// Whole units that leave, as ascending ranges of the log.
    pub evict: Vec<Range<usize>>,
    /// Changes inside messages that stay.
    pub edits: Vec<Edit>,
    /// Where the pinned head ends: a summary stands right after it.
    pub head_end: usize,
    /// What is written down of everything that has left so far: stands right after the head, in place of the last one.
    pub ledger: Option<String>,
    /// What a summary should cover, if one is wanted. Ranges that are still in the view leave when it arrives.
    pub condense: Option<Vec<Range<usize>>>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// Why condensing, although wanted, is not part of the plan.
    pub condense_error: Option<String>,
}

impl Plan {
    /// A plan that changes nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Whether a message leaves. O(log ranges).
    #[must_use]
    pub fn evicts(&self, index: usize) -> bool {
        let following = self.evict.partition_point(|range| range.end <= index);
        self.evict.get(following).is_some_and(|range| range.contains(&index))
    }

    /// Whether the view stays as it is.
    #[must_use]
    pub fn keeps_everything(&self) -> bool {
        self.evict.is_empty() && self.edits.is_empty()
    }
}

/// Why a policy acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Trigger {
    /// More messages than the cap.
    MessageCap,
    /// More tokens than the window allows.
    TokenLimit,
    /// The share of the window at which condensing starts.
    CondenseThreshold,
    /// Tool results that are older than those to keep.
    OldResults,
    /// Keeping has cost as much as rewriting would.
    PaysOff,
    /// The provider's cache has expired, so that a cut costs nothing.
    ColdCache,
}

/// What a policy promises of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most so many messages, units that straddle a boundary apart.
    Messages,
    /// Never more tokens than the budget allows.
    Tokens,
    /// Nothing.
    None,
}

/// A history that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot fit: system, tools, pinned messages and the last turn need {floor_tokens} tokens, {allowed_tokens} are \
     allowed; the largest message is number {largest_index} with {largest_tokens} tokens"
)]
pub struct Overflow {
    /// The least that has to be sent: system, tools, what is pinned, and the last turn.
    pub floor_tokens: u64,
    /// What the budget allows.
    pub allowed_tokens: u64,
    /// The largest message of the floor, as an index into the log.
    pub largest_index: usize,
    /// Its size.
    pub largest_tokens: u64,
}
