//! The settings of the ladder.

use crate::budget::Budget;
use crate::policy::PolicyInput;
use crate::tokens::Millitokens;

/// The settings of the ladder, tuned by replaying real conversations (`ladder_constants` in `bench/` measures them again,
/// `docs/ladder.md` has the figures):
///
/// | row | recent turns, within tokens | ledger at most | a line is worth | quotes | when it cuts |
/// |---|---|---|---|---|---|
/// | `ladder-lean` | 4, 1,500 | 8,000 | 85 % of its price | lines | where it pays |
/// | `ladder` | 4, 2,000 | 12,000 | 120 % | passages of five lines | where it pays |
/// | `ladder-careful` | 5, 4,000 | 16,000 | 10 % | passages of five lines | where it pays |
/// | `ladder-full` | as `ladder` | | | | where the window is full |
///
/// ```
/// use louver::policy::LadderConfig;
///
/// let config = LadderConfig { keep_recent_tokens: 4_000, ..LadderConfig::careful() };
/// assert_eq!((config.name(), config.ledger_tokens), ("ladder-careful", 16_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LadderConfig {
    /// The row that it began as.
    pub row: LadderRow,
    /// The newest units that hold this many of the model's turns stay as they are, unless fewer hold
    /// [`keep_recent_tokens`](Self::keep_recent_tokens).
    pub keep_recent_turns: u64,
    /// The newest units that hold this many tokens are enough, however few turns they are.
    pub keep_recent_tokens: u64,
    /// The ledger's bound.
    pub ledger_tokens: u64,
    /// How much of the ledger is requests, conclusions, requirements and commands at most; the rest is quoted by price.
    pub prose_tokens: u64,
    /// What a line has to be expected to save of what keeping it costs, in percent. Less of it keeps more lines.
    pub worth_percent: u32,
    /// Lines on each side that are kept with a line, so that it makes sense to whoever reads it; 0 keeps single lines.
    pub lines_beside: u8,
    /// How much more rare names count: a name of a single message counts 1 + this times, one of many about once.
    pub favour_rare: u8,
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
    /// Up to so many tokens nothing is cut that need not be. A few tails have to be there in any case. Not written where it
    /// is nothing, as in records of earlier versions.
    #[serde(skip_serializing_if = "is_nothing")]
    pub leave_below_tokens: u64,
    /// When it cuts. Not written where it is as it always was: records of earlier versions have no such setting.
    #[serde(skip_serializing_if = "CutWhen::is_usual")]
    pub when: CutWhen,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what a serializer calls")]
fn is_nothing(tokens: &u64) -> bool {
    *tokens == 0
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
    /// Cuts only where the window is full.
    Full,
}

impl LadderRow {
    fn timing(self) -> Timing {
        match self {
            Self::Lean => {
                Timing { ledger_percent: 22, ledger_tokens: 5_000, smallest_view_tails: 5, leeway_thousandths: 70 }
            }
            Self::Default | Self::Full => Timing::USUAL,
            Self::Careful => Timing { ledger_percent: 33, ..Timing::USUAL },
        }
    }
}

/// What decides when a row cuts (`docs/ladder.md`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// How much of what is folded a ledger is expected to be before it is written, in hundredths, and how large at most. The
    /// more, the later the first cut, and the more a ledger may hold without making the cut dearer than expected.
    pub(super) ledger_percent: u64,
    pub(super) ledger_tokens: u64,
    /// A view of fewer tails than this is left alone: what a cut saves of it is not worth what it loses.
    smallest_view_tails: u64,
    /// How much more than sending everything the view may have cost at any time, in thousandths of it. The more, the
    /// sooner the first cut, and the more conversations get dearer that end right behind it.
    pub(super) leeway_thousandths: u64,
}

impl Timing {
    /// What most rows have; a ledger may be expected to be as large as it may be.
    const USUAL: Self =
        Self { ledger_percent: 29, ledger_tokens: u64::MAX, smallest_view_tails: 3, leeway_thousandths: 65 };
}

impl Default for LadderConfig {
    fn default() -> Self {
        Self {
            row: LadderRow::Default,
            keep_recent_turns: 4,
            keep_recent_tokens: 2_000,
            ledger_tokens: 12_000,
            prose_tokens: 1_600,
            worth_percent: 120,
            lines_beside: 2,
            favour_rare: 1,
            shrink_on_arrival_tokens: 0,
            pin: Vec::new(),
            pin_tools: Vec::new(),
            quote_thinking: true,
            summarize_on_trim: false,
            leave_below_tokens: 0,
            when: CutWhen::Pays,
        }
    }
}

impl LadderConfig {
    /// Saves most.
    #[must_use]
    pub fn lean() -> Self {
        Self {
            row: LadderRow::Lean,
            keep_recent_tokens: 1_500,
            ledger_tokens: 8_000,
            prose_tokens: 200,
            worth_percent: 85,
            lines_beside: 0,
            favour_rare: 0,
            ..Self::default()
        }
    }

    /// Loses least.
    #[must_use]
    pub fn careful() -> Self {
        Self {
            row: LadderRow::Careful,
            keep_recent_turns: 5,
            keep_recent_tokens: 4_000,
            ledger_tokens: 16_000,
            prose_tokens: 1_800,
            worth_percent: 10,
            favour_rare: 6,
            ..Self::default()
        }
    }

    /// Cuts only where the window is full.
    #[must_use]
    pub fn full() -> Self {
        Self { row: LadderRow::Full, when: CutWhen::Full, ..Self::default() }
    }

    /// The name in the table of policies.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.row {
            LadderRow::Lean => "ladder-lean",
            LadderRow::Default => "ladder",
            LadderRow::Careful => "ladder-careful",
            LadderRow::Full => "ladder-full",
        }
    }

    /// Whether a request of so many bytes is sent as it is, whatever it counts, if nothing of it was cut before and it
    /// shows no picture: a token has at least a byte.
    ///
    /// ```
    /// use louver::Budget;
    /// use louver::policy::LadderConfig;
    ///
    /// let budget = Budget::new(200_000, None)?;
    /// let config = LadderConfig { leave_below_tokens: 30_000, ..LadderConfig::default() };
    /// assert!(config.leaves_alone(30_000, budget) && !config.leaves_alone(30_001, budget));
    /// # Ok::<(), louver::Error>(())
    /// ```
    #[must_use]
    pub fn leaves_alone(&self, bytes: u64, budget: Budget) -> bool {
        // What always stays is never taken for more than half of it.
        let least_room = budget.allowed_tokens() - budget.allowed_tokens() / 2;
        bytes <= self.marks(least_room).smallest_view_tokens && !budget.is_exceeded_by(bytes)
    }

    /// The figures that hold where so many tokens are left beside what always stays: in a small window everything
    /// shrinks in proportion.
    pub(super) fn marks(&self, room: u64) -> Marks {
        let keep_recent_tokens = self.keep_recent_tokens.min(room / 3);
        let timing = self.row.timing();
        let ledger_share = self.ledger_tokens.saturating_mul(room) / WHOLE_ROOM_TOKENS;
        Marks {
            keep_recent_turns: self.keep_recent_turns,
            keep_recent_tokens,
            most_of_tail_tokens: keep_recent_tokens - keep_recent_tokens / 16,
            ledger_tokens: self.ledger_tokens.min(ledger_share.max(SMALL_LEDGER_TOKENS.min(room / 8))),
            prose_tokens: self.prose_tokens.min(room / 16),
            smallest_view_tokens: keep_recent_tokens
                .saturating_mul(timing.smallest_view_tails)
                .max(self.leave_below_tokens.min(room)),
            timing,
        }
    }
}

/// Where so much is left beside what always stays, the figures hold as they are set.
const WHOLE_ROOM_TOKENS: u64 = 150_000;
/// A ledger is not made smaller than this, but for an eighth of what is left: a smaller one says nothing.
const SMALL_LEDGER_TOKENS: u64 = 512;

/// The figures that hold under a budget.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) keep_recent_turns: u64,
    pub(super) keep_recent_tokens: u64,
    /// What one message counts at most towards the recent tail, so that a single large result does not push out all
    /// that was said before it.
    pub(super) most_of_tail_tokens: u64,
    pub(super) ledger_tokens: u64,
    pub(super) prose_tokens: u64,
    /// Up to this nothing is cut that need not be.
    pub(super) smallest_view_tokens: u64,
    pub(super) timing: Timing,
}

impl Marks {
    /// What a message counts towards the recent tail.
    pub(super) fn of_tail(self, input: &PolicyInput<'_>, index: usize) -> Millitokens {
        input.logged(index..index + 1).min(Millitokens::from_tokens(self.most_of_tail_tokens))
    }
}
