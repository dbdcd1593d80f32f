//! The settings of the ladder.

use louver::policy::{CutWhen, LadderConfig};
use schemars::JsonSchema;

/// The settings of `ladder`, `ladder-lean` and `ladder-careful`. What is left out is as the policy has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Ladder {
    /// When it cuts: `pays` (if nothing is said) or `full`.
    pub when: Option<When>,
    /// Up to so many tokens nothing is cut that need not be.
    pub leave_below_tokens: Option<u64>,
    /// The newest messages that hold this many tokens stay as they are. More of it keeps more and costs more.
    pub keep_recent_tokens: Option<u64>,
    /// The most tokens of the ledger, which says what was in the messages that left.
    pub ledger_tokens: Option<u64>,
    /// Tool results beyond this many tokens are clipped before they are sent for the first time; 0 switches it off.
    pub shrink_on_arrival: Option<u64>,
    /// Messages that hold one of these texts always stay.
    pub pin: Vec<String>,
    /// Tools whose calls and results never leave.
    pub pin_tools: Vec<String>,
}

/// When the ladder cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum When {
    /// Where it pays, which can be long before the window is full.
    Pays,
    /// Only what does not fit.
    Full,
}

impl When {
    /// The names in the file, in the order of [`ALL`](Self::ALL).
    pub(super) const NAMES: [&str; 2] = ["pays", "full"];
    pub(super) const ALL: [Self; 2] = [Self::Pays, Self::Full];
}

impl Ladder {
    /// Tells the engine what differs from the row.
    pub(super) fn apply(&self, config: &mut LadderConfig) {
        let set = |mark: &mut u64, own: Option<u64>| *mark = own.unwrap_or(*mark);
        set(&mut config.leave_below_tokens, self.leave_below_tokens);
        set(&mut config.keep_recent_tokens, self.keep_recent_tokens);
        set(&mut config.ledger_tokens, self.ledger_tokens);
        set(&mut config.shrink_on_arrival_tokens, self.shrink_on_arrival);
        config.when = match self.when {
            Some(When::Full) => CutWhen::Full,
            Some(When::Pays) => CutWhen::Pays,
            None => config.when,
        };
        config.pin.clone_from(&self.pin);
        config.pin_tools.clone_from(&self.pin_tools);
    }
}
