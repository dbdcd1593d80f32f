//! The policies: units and budget in, plan out.
//!
//! To add one: a file beside these, and a row in [`TABLE`].

mod both;
mod draft;
mod everything;
mod full_cut;
mod ladder;
mod messages;
mod newest;
mod observations;
mod tokens;

pub use ladder::{Account, Economy, LadderConfig, Rung, UnknownRung};
pub use messages::MessagesConfig;
pub use observations::ObservationsConfig;
pub use tokens::{
    Decision, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD, TokensConfig, decide, effective_threshold,
    messages_to_drop,
};

use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan};
use crate::sight::Sight;
use std::fmt::Debug;

/// Decides what is sent. Pure and deterministic: what it keeps between calls follows from the calls alone.
pub trait Policy: Debug + Send + Sync {
    /// What it promises of the view.
    fn bound(&self) -> Bound;

    /// What is to be done about the present view. O(1) when nothing is.
    ///
    /// # Errors
    ///
    /// The promise cannot be kept.
    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow>;

    /// What it has spent and weighed, if it decides by price.
    fn account(&self) -> Option<Account> {
        None
    }
}

/// Everything a policy may be told; each reads what concerns it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The message window's.
    pub messages: MessagesConfig,
    /// The token window's.
    pub tokens: TokensConfig,
    /// What `clear-tools` does.
    pub clear_tools: ObservationsConfig,
    /// What `mask` does.
    pub mask: ObservationsConfig,
    /// The ladder's.
    pub ladder: LadderConfig,
    /// What the model's cache costs.
    pub economy: Economy,
    /// The context window, for policies that count tokens.
    pub budget: Option<Budget>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            messages: MessagesConfig::default(),
            tokens: TokensConfig::default(),
            clear_tools: ObservationsConfig::CLEAR_TOOLS,
            mask: ObservationsConfig::MASK,
            ladder: LadderConfig::default(),
            economy: Economy::default(),
            budget: None,
        }
    }
}

/// Settings that a policy cannot work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// No policy of this name.
    #[error("unknown policy `{0}`: expected {known}", known = names())]
    UnknownPolicy(String),
    /// A token policy without a window.
    #[error("the policy `{0}` needs a context window: give one, or a model whose window is known")]
    NoBudget(&'static str),
    /// A percentage outside 1 to 100.
    #[error("auto_condense_context_percent is {0}, but must be 1 to 100")]
    Percent(u8),
}

/// One policy: how it is called, what it does, how it is made.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    /// Whether it needs a budget.
    pub needs_budget: bool,
    /// Whether a list is folded request by request even when it is trimmed at once.
    pub always_folds: bool,
    build: fn(&Settings) -> Result<Box<dyn Policy>, SettingsError>,
}

/// All policies.
pub const TABLE: &[Row] = &[
    Row {
        name: "messages",
        summary: "at most so many messages; head and tail stay, the oldest between leave",
        needs_budget: false,
        always_folds: false,
        build: messages::build,
    },
    Row {
        name: "tokens",
        summary: "at most so many tokens; when full, half of the messages after the first leave",
        needs_budget: true,
        always_folds: false,
        build: tokens::build,
    },
    Row {
        name: "both",
        summary: "the message cap first, the token window on the result",
        needs_budget: true,
        always_folds: false,
        build: both::build,
    },
    Row {
        name: "everything",
        summary: "no window: everything is sent, whatever it costs",
        needs_budget: false,
        always_folds: false,
        build: everything::build,
    },
    Row {
        name: "newest",
        summary: "the newest messages that fit, behind the system messages; slides at every request once full",
        needs_budget: true,
        always_folds: false,
        build: newest::build,
    },
    Row {
        name: "clear-tools",
        summary: "beyond 100,000 tokens all but the three newest tool results become a placeholder",
        needs_budget: false,
        always_folds: false,
        build: observations::build_clear_tools,
    },
    Row {
        name: "mask",
        summary: "all but the ten newest tool results become a placeholder, at every request",
        needs_budget: false,
        always_folds: false,
        build: observations::build_mask,
    },
    Row {
        name: "full-cut",
        summary: "cut only when full, down to half; the first message and the newest stay",
        needs_budget: true,
        always_folds: false,
        build: full_cut::build,
    },
    Row {
        name: "ladder",
        summary: "the cheapest legal window that keeps what matters; cuts when it pays, folds what leaves into a ledger",
        needs_budget: true,
        always_folds: true,
        build: ladder::build,
    },
    Row {
        name: "ladder-lean",
        summary: "the ladder with a short tail: saves most",
        needs_budget: true,
        always_folds: true,
        build: ladder::build_lean,
    },
    Row {
        name: "ladder-careful",
        summary: "the ladder with a long tail and a large ledger: loses least",
        needs_budget: true,
        always_folds: true,
        build: ladder::build_careful,
    },
];

impl Row {
    /// The row of this name.
    ///
    /// # Errors
    ///
    /// No policy has it.
    pub fn find(name: &str) -> Result<&'static Self, SettingsError> {
        TABLE.iter().find(|row| row.name == name).ok_or_else(|| SettingsError::UnknownPolicy(name.to_owned()))
    }

    /// Makes the policy.
    ///
    /// # Errors
    ///
    /// Settings it cannot work with.
    pub fn build(&self, settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
        (self.build)(settings)
    }
}

fn names() -> String {
    TABLE.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}
