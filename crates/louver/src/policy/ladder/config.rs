//! The settings of the ladder.

use crate::budget::Budget;
use std::collections::BTreeSet;
use std::str::FromStr;

/// The settings of the ladder. All of them may be left alone; what is `None` is as the policy's row has it:
///
/// | row | recent tokens | ledger | on arrival |
/// |---|---|---|---|
/// | `ladder-lean` | 2,700 | 3,000 | as it came |
/// | `ladder` | 8,500 | 3,000 | as it came |
/// | `ladder-careful` | 13,000 | 6,000 | as it came |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LadderConfig {
    /// The newest units that hold this many tokens stay as they are. More of it keeps more lines and costs more.
    pub keep_recent_tokens: Option<u64>,
    /// What is left between the pinned head and the recent tail after a cut, in tokens, besides the ledger.
    pub target_tokens: Option<u64>,
    /// The ledger's bound.
    pub ledger_tokens: Option<u64>,
    /// Tool results beyond this are clipped before they are sent for the first time; 0 switches it off.
    pub shrink_on_arrival_tokens: Option<u64>,
    /// The rungs that may be climbed. Without `folded` nothing leaves unless it would not fit.
    pub rungs: BTreeSet<Rung>,
    /// Messages that hold one of these texts are pinned.
    pub pin: Vec<String>,
}

impl Default for LadderConfig {
    fn default() -> Self {
        Self {
            keep_recent_tokens: None,
            target_tokens: None,
            ledger_tokens: None,
            shrink_on_arrival_tokens: None,
            rungs: Rung::ALL.into(),
            pin: Vec::new(),
        }
    }
}

/// A step of the ladder, least loss first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    /// Tool results that stand again later, or that a later call of the same tool with the same arguments replaced,
    /// become a stub that points there.
    Superseded,
    /// Oversized tool results keep head, tail and error lines.
    Clipped,
    /// Old tool results become a stub; small ones and errors stay.
    Cleared,
    /// Old media and old thinking leave, where that is legal.
    Dropped,
    /// The oldest units leave, and a ledger says what was in them.
    Folded,
}

impl Rung {
    /// All rungs.
    pub const ALL: [Self; 5] = [Self::Superseded, Self::Clipped, Self::Cleared, Self::Dropped, Self::Folded];

    /// The name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Clipped => "clipped",
            Self::Cleared => "cleared",
            Self::Dropped => "dropped",
            Self::Folded => "folded",
        }
    }
}

/// No rung has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no rung is called `{0}`: expected superseded, clipped, cleared, dropped or folded")]
pub struct UnknownRung(String);

impl FromStr for Rung {
    type Err = UnknownRung;

    /// ```
    /// use louver::policy::Rung;
    ///
    /// assert_eq!("folded".parse(), Ok(Rung::Folded));
    /// assert!("top".parse::<Rung>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<Self, UnknownRung> {
        Self::ALL.into_iter().find(|rung| rung.name() == name).ok_or_else(|| UnknownRung(name.to_owned()))
    }
}

/// The figures of a row, tuned by replaying real conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) keep_recent_tokens: u64,
    pub(super) target_tokens: u64,
    pub(super) ledger_tokens: u64,
    pub(super) shrink_on_arrival_tokens: u64,
    /// How much of the ledger may be whole lines, in hundredths; the rest is names.
    pub(super) lines_hundredths: usize,
}

impl Marks {
    /// Saves most.
    pub(super) const LEAN: Self = Self { keep_recent_tokens: 2_700, lines_hundredths: 33, ..Self::DEFAULT };
    /// The row `ladder`.
    pub(super) const DEFAULT: Self = Self {
        keep_recent_tokens: 8_500,
        target_tokens: 0,
        ledger_tokens: 3_000,
        shrink_on_arrival_tokens: 0,
        lines_hundredths: 52,
    };
    /// Loses least.
    pub(super) const CAREFUL: Self =
        Self { keep_recent_tokens: 13_000, ledger_tokens: 6_000, lines_hundredths: 60, ..Self::DEFAULT };

    /// The same with what the configuration says. In a small window everything shrinks in proportion.
    pub(super) fn with(self, config: &LadderConfig, budget: Budget) -> Self {
        let allowed = budget.allowed_tokens();
        Self {
            keep_recent_tokens: config.keep_recent_tokens.unwrap_or(self.keep_recent_tokens).min(allowed / 3),
            target_tokens: config.target_tokens.unwrap_or(self.target_tokens).min(allowed / 8),
            ledger_tokens: config.ledger_tokens.unwrap_or(self.ledger_tokens).min(allowed / 8),
            shrink_on_arrival_tokens: config.shrink_on_arrival_tokens.unwrap_or(self.shrink_on_arrival_tokens),
            ..self
        }
    }

    /// What one message counts at most towards the recent tail, so that a single large result does not push out all
    /// that was said before it.
    pub(super) fn most_of_tail(self) -> u64 {
        self.keep_recent_tokens - self.keep_recent_tokens / 16
    }
}
