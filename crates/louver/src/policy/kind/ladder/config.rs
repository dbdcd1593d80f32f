//! The settings of the ladder.

use crate::budget::Budget;
use crate::policy::PolicyInput;
use crate::tokens::Millitokens;

/// The settings of the ladder, tuned by replaying real conversations (`ladder_constants` in `bench/` measures them again,
/// `docs/ladder.md` has the figures):
///
/// | row | recent tokens | ledger | whole lines in it |
/// |---|---|---|---|
/// | `ladder-lean` | 2,700 | 3,000 | 33 % |
/// | `ladder` | 8,500 | 3,000 | 52 % |
/// | `ladder-careful` | 13,000 | 6,000 | 60 % |
///
/// ```
/// use louver::policy::LadderConfig;
///
/// let config = LadderConfig { keep_recent_tokens: 4_000, ..LadderConfig::careful() };
/// assert_eq!((config.name(), config.ledger_tokens), ("ladder-careful", 6_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LadderConfig {
    /// The row that it began as.
    pub row: LadderRow,
    /// The newest units that hold this many tokens stay as they are. More of it keeps more lines and costs more.
    pub keep_recent_tokens: u64,
    /// The ledger's bound.
    pub ledger_tokens: u64,
    /// How much of the ledger may be whole lines, in percent; the rest is names.
    pub lines_percent: u8,
    /// Tool results beyond this are clipped before they are sent for the first time; 0 switches it off.
    pub shrink_on_arrival_tokens: u64,
    /// Messages that hold one of these texts are pinned.
    pub pin: Vec<String>,
    /// Calls of these tools are pinned, with their results.
    pub pin_tools: Vec<String>,
    /// Whether the ledger quotes thinking. Clients leave it out of later requests as they please, so whoever keeps the
    /// ledger apart from the messages quotes none.
    pub quote_thinking: bool,
    /// Whether a model's summary is wanted beside the ledger.
    pub summarize_on_trim: bool,
    /// When it cuts. Not written where it is as it always was: records of earlier versions have no such setting.
    #[serde(skip_serializing_if = "CutWhen::is_usual")]
    pub when: CutWhen,
}

/// When the ladder cuts.
///
/// ```
/// use louver::policy::{CutWhen, LadderConfig, PolicyKind};
///
/// let mut kind: PolicyKind = "ladder".parse()?;
/// kind.ladder_mut().expect("it is the ladder").when = CutWhen::Full; // it only has to fit
/// assert_eq!(LadderConfig::default().when, CutWhen::Pays);
/// # Ok::<(), louver::policy::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutWhen {
    /// Where it pays: by the prices, at a price step, when the cache is cold, and where the window is full.
    #[default]
    Pays,
    /// Only where the window is full.
    Full,
}

impl CutWhen {
    fn is_usual(&self) -> bool {
        *self == Self::Pays
    }
}

/// The rows of the table that are ladders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LadderRow {
    /// Saves most.
    Lean,
    /// What decides where nobody says otherwise.
    #[default]
    Default,
    /// Loses least.
    Careful,
}

impl Default for LadderConfig {
    fn default() -> Self {
        Self {
            row: LadderRow::Default,
            keep_recent_tokens: 8_500,
            ledger_tokens: 3_000,
            lines_percent: 52,
            shrink_on_arrival_tokens: 0,
            pin: Vec::new(),
            pin_tools: Vec::new(),
            quote_thinking: true,
            summarize_on_trim: false,
            when: CutWhen::Pays,
        }
    }
}

impl LadderConfig {
    /// Saves most.
    #[must_use]
    pub fn lean() -> Self {
        Self { row: LadderRow::Lean, keep_recent_tokens: 2_700, lines_percent: 33, ..Self::default() }
    }

    /// Loses least.
    #[must_use]
    pub fn careful() -> Self {
        let (keep_recent_tokens, ledger_tokens) = (13_000, 6_000);
        Self { row: LadderRow::Careful, keep_recent_tokens, ledger_tokens, lines_percent: 60, ..Self::default() }
    }

    /// The name in the table of policies.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.row {
            LadderRow::Lean => "ladder-lean",
            LadderRow::Default => "ladder",
            LadderRow::Careful => "ladder-careful",
        }
    }

    /// The figures that hold under a budget: in a small window everything shrinks in proportion.
    pub(super) fn marks(&self, budget: Budget) -> Marks {
        let allowed = budget.allowed_tokens();
        let keep_recent_tokens = self.keep_recent_tokens.min(allowed / 3);
        Marks {
            keep_recent_tokens,
            most_of_tail_tokens: keep_recent_tokens - keep_recent_tokens / 16,
            ledger_tokens: self.ledger_tokens.min(allowed / 8),
            smallest_view_tokens: keep_recent_tokens * SMALLEST_VIEW_TENTHS / 10,
        }
    }
}

/// A view of fewer recent tails than these, in tenths, is left alone: what a cut saves of it is not worth what it loses,
/// and no vocabulary is needed to tell that a short conversation is short.
const SMALLEST_VIEW_TENTHS: u64 = 28;

/// The figures that hold under a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) keep_recent_tokens: u64,
    /// What one message counts at most towards the recent tail, so that a single large result does not push out all
    /// that was said before it.
    pub(super) most_of_tail_tokens: u64,
    pub(super) ledger_tokens: u64,
    /// Up to this nothing is cut that need not be.
    pub(super) smallest_view_tokens: u64,
}

impl Marks {
    /// What a message counts towards the recent tail.
    pub(super) fn of_tail(self, input: &PolicyInput<'_>, index: usize) -> Millitokens {
        input.logged(index..index + 1).min(Millitokens::from_tokens(self.most_of_tail_tokens))
    }
}
