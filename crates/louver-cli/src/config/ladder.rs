//! The settings of the ladder.

use louver::policy::{LadderConfig, Rung};
use schemars::JsonSchema;

/// The settings of `ladder`, `ladder-lean` and `ladder-careful`. What is left out is as the policy has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(deny_unknown_fields, default)]
pub struct Ladder {
    /// The newest messages that hold this many tokens stay as they are. More of it keeps more and costs more.
    pub keep_recent_tokens: Option<u64>,
    /// What is left between the first request and the recent messages after a cut, in tokens, besides the ledger.
    pub target: Option<u64>,
    /// The most tokens of the ledger, which says what was in the messages that left.
    pub ledger_tokens: Option<u64>,
    /// Tool results beyond this many tokens are clipped before they are sent for the first time; 0 switches it off.
    pub shrink_on_arrival: Option<u64>,
    /// The rungs that may be climbed; all of them if nothing is said.
    #[schemars(with = "Vec<String>", inner(regex(pattern = "^(superseded|clipped|cleared|dropped|folded)$")))]
    pub rungs: Option<Vec<Rung>>,
    /// Messages that hold one of these texts always stay.
    pub pin: Vec<String>,
}

impl Ladder {
    /// As the engine wants it.
    #[must_use]
    pub fn to_engine(&self) -> LadderConfig {
        let all = LadderConfig::default();
        LadderConfig {
            keep_recent_tokens: self.keep_recent_tokens,
            target_tokens: self.target,
            ledger_tokens: self.ledger_tokens,
            shrink_on_arrival_tokens: self.shrink_on_arrival,
            rungs: self.rungs.as_ref().map_or(all.rungs, |rungs| rungs.iter().copied().collect()),
            pin: self.pin.clone(),
        }
    }
}
