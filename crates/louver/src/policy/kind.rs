//! Which policy, with which settings: the one place that knows their names.

mod both;
mod everything;
mod ladder;
mod messages;
mod observations;
mod tokens;
mod when_full;

pub use ladder::{Account, CutWhen, LadderConfig, LadderRow};
pub use messages::MessagesConfig;
pub use observations::ObservationsConfig;
pub use tokens::{
    Decision, MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD, TokensConfig, decide, effective_threshold,
    messages_to_drop,
};

use super::Policy;
use crate::plan::Bound;
use both::Both;
use everything::Everything;
use ladder::Ladder;
use messages::Messages;
use observations::Observations;
use std::str::FromStr;
use std::sync::Arc;
use tokens::Tokens;
use when_full::{FULL_CUT, NEWEST};

/// A policy with its settings.
///
/// ```
/// use louver::policy::PolicyKind;
///
/// let mut kind: PolicyKind = "both".parse()?;
/// kind.messages_mut().expect("it counts messages").max_messages = 30;
/// assert!(kind.needs_budget() && kind.tokens().is_some() && kind.ladder().is_none());
/// assert!("bouth".parse::<PolicyKind>().is_err());
/// # Ok::<(), louver::policy::SettingsError>(())
/// ```
///
/// # What does it do, and how is it set?
///
/// ```
/// use louver::plan::Bound;
/// use louver::policy::{LadderConfig, PolicyKind};
///
/// let mut kind = PolicyKind::default_for(true); // the window is known
/// assert_eq!((kind.name(), kind.bound(), kind.always_folds()), ("ladder", Bound::Tokens, true));
/// kind.ladder_mut().expect("it is the ladder").summarize_on_trim = true;
/// assert!(kind.condenses() && kind.tokens_mut().is_none() && kind.messages_mut().is_none());
/// assert_eq!(kind.build()?.name(), "ladder");
/// # Ok::<(), louver::policy::SettingsError>(())
/// ```
#[derive(Clone, Debug, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PolicyKind {
    /// At most so many messages.
    Messages(MessagesConfig),
    /// At most so many tokens.
    Tokens(TokensConfig),
    /// The message cap first, the token window on the result.
    Both(MessagesConfig, TokensConfig),
    /// No window.
    Everything,
    /// The newest that fits.
    Newest,
    /// Old tool results become a placeholder from a certain size on.
    ClearTools(ObservationsConfig),
    /// Old tool results become a placeholder at every request.
    Mask(ObservationsConfig),
    /// Cut only when full, down to half.
    FullCut,
    /// The cheapest legal window that keeps what matters.
    Ladder(LadderConfig),
    /// A policy of one's own.
    #[serde(serialize_with = "as_printed")]
    Custom(Arc<dyn Policy>),
}

fn as_printed<S: serde::Serializer>(policy: &Arc<dyn Policy>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{policy:?}"))
}

/// Settings that a policy cannot work with.
///
/// ```
/// use louver::policy::SettingsError;
///
/// assert_eq!(SettingsError::Percent(0).to_string(), "auto_condense_context_percent is 0, but must be 1 to 100");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// No policy of this name.
    #[error("unknown policy `{0}`: expected {known}", known = names())]
    UnknownPolicy(String),
    /// A token policy without a window.
    #[error("the policy `{0}` needs a context window: give one, or a model whose window is known")]
    NoBudget(String),
    /// A percentage outside 1 to 100.
    #[error("auto_condense_context_percent is {0}, but must be 1 to 100")]
    Percent(u8),
}

/// One policy of the table: how it is called, what it does, how it is by default.
///
/// ```
/// use louver::policy::{Row, TABLE};
///
/// assert_eq!(Row::find("ladder")?.kind().name(), "ladder");
/// assert!(TABLE.iter().all(|row| !row.summary.is_empty()));
/// # Ok::<(), louver::policy::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name on the command line and in reports.
    pub name: &'static str,
    /// One line for help texts.
    pub summary: &'static str,
    kind: fn() -> PolicyKind,
}

const fn row(name: &'static str, summary: &'static str, kind: fn() -> PolicyKind) -> Row {
    Row { name, summary, kind }
}

/// All policies.
///
/// ```
/// assert!(louver::policy::TABLE.iter().any(|row| row.name == "everything"));
/// ```
pub const TABLE: &[Row] = &[
    row("messages", "at most so many messages; head and tail stay, the oldest between leave", || {
        PolicyKind::Messages(MessagesConfig::default())
    }),
    row("tokens", "at most so many tokens; when full, half of the messages after the first leave", || {
        PolicyKind::Tokens(TokensConfig::default())
    }),
    row("both", "the message cap first, the token window on the result", || {
        PolicyKind::Both(MessagesConfig::default(), TokensConfig::default())
    }),
    row("everything", "no window: everything is sent, whatever it costs", || PolicyKind::Everything),
    row(
        "newest",
        "the newest messages that fit, behind the system messages; slides at every request once full",
        || PolicyKind::Newest,
    ),
    row("clear-tools", "beyond 100,000 tokens all but the three newest tool results become a placeholder", || {
        PolicyKind::ClearTools(ObservationsConfig::CLEAR_TOOLS)
    }),
    row("mask", "all but the ten newest tool results become a placeholder, at every request", || {
        PolicyKind::Mask(ObservationsConfig::MASK)
    }),
    row("full-cut", "cut only when full, down to half; the first message and the newest stay", || PolicyKind::FullCut),
    row(
        "ladder",
        "the cheapest legal window that keeps what matters; cuts when it pays, folds what leaves into a ledger",
        || PolicyKind::Ladder(LadderConfig::default()),
    ),
    row("ladder-lean", "the ladder with a short tail: saves most", || PolicyKind::Ladder(LadderConfig::lean())),
    row("ladder-full", "the ladder that only has to fit: no cut before the window is full", || {
        PolicyKind::Ladder(LadderConfig::full())
    }),
    row("ladder-careful", "the ladder with a long tail and a large ledger: loses least", || {
        PolicyKind::Ladder(LadderConfig::careful())
    }),
];

fn names() -> String {
    TABLE.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

impl Row {
    /// The row of this name.
    ///
    /// # Errors
    ///
    /// No policy has it.
    pub fn find(name: &str) -> Result<&'static Self, SettingsError> {
        TABLE.iter().find(|row| row.name == name).ok_or_else(|| SettingsError::UnknownPolicy(name.to_owned()))
    }

    /// The policy with its default settings.
    pub fn kind(&self) -> PolicyKind {
        (self.kind)()
    }
}

impl FromStr for PolicyKind {
    type Err = SettingsError;

    fn from_str(name: &str) -> Result<Self, SettingsError> {
        Row::find(name).map(Row::kind)
    }
}

impl PolicyKind {
    /// What decides where nobody says otherwise: the ladder where a context window is known, else the message window.
    pub fn default_for(is_window_known: bool) -> Self {
        match is_window_known {
            true => Self::Ladder(LadderConfig::default()),
            false => Self::Messages(MessagesConfig::default()),
        }
    }

    /// The name on the command line and in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Messages(_) => "messages",
            Self::Tokens(_) => "tokens",
            Self::Both(..) => "both",
            Self::Everything => "everything",
            Self::Newest => "newest",
            Self::ClearTools(_) => "clear-tools",
            Self::Mask(_) => "mask",
            Self::FullCut => "full-cut",
            Self::Ladder(config) => config.name(),
            Self::Custom(policy) => policy.name(),
        }
    }

    /// What it promises of the view; nothing with settings that it cannot work with.
    pub fn bound(&self) -> Bound {
        self.build().map_or(Bound::None, |policy| policy.bound())
    }

    /// Whether it cannot do without a context window.
    pub fn needs_budget(&self) -> bool {
        self.bound() == Bound::Tokens
    }

    /// Whether a list is folded request by request even when it is trimmed at once.
    pub fn always_folds(&self) -> bool {
        matches!(self, Self::Ladder(_))
    }

    /// The settings of the message window, if it counts messages.
    pub fn messages(&self) -> Option<&MessagesConfig> {
        match self {
            Self::Messages(config) | Self::Both(config, _) => Some(config),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn messages_mut(&mut self) -> Option<&mut MessagesConfig> {
        match self {
            Self::Messages(config) | Self::Both(config, _) => Some(config),
            _ => None,
        }
    }

    /// The settings of the token window, if it is one.
    pub fn tokens(&self) -> Option<&TokensConfig> {
        match self {
            Self::Tokens(config) | Self::Both(_, config) => Some(config),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn tokens_mut(&mut self) -> Option<&mut TokensConfig> {
        match self {
            Self::Tokens(config) | Self::Both(_, config) => Some(config),
            _ => None,
        }
    }

    /// The settings of the ladder, if it is one.
    pub fn ladder(&self) -> Option<&LadderConfig> {
        match self {
            Self::Ladder(config) => Some(config),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn ladder_mut(&mut self) -> Option<&mut LadderConfig> {
        match self {
            Self::Ladder(config) => Some(config),
            _ => None,
        }
    }

    /// Whether what leaves is to be summarised by a model.
    pub fn condenses(&self) -> bool {
        self.messages().is_some_and(|config| config.summarize_on_trim)
            || self.tokens().is_some_and(|config| config.auto_condense_context)
            || self.ladder().is_some_and(|config| config.summarize_on_trim)
    }

    /// Has what leaves summarised by a model from here on; whether the policy can.
    ///
    /// ```
    /// use louver::PolicyKind;
    ///
    /// let mut kind = PolicyKind::default_for(true);
    /// assert!(!kind.condenses() && kind.start_condensing() && kind.condenses());
    /// assert!(!PolicyKind::Newest.start_condensing());
    /// ```
    pub fn start_condensing(&mut self) -> bool {
        match self {
            Self::Messages(messages) => messages.summarize_on_trim = true,
            Self::Tokens(tokens) => tokens.auto_condense_context = true,
            Self::Both(messages, tokens) => {
                messages.summarize_on_trim = true;
                tokens.auto_condense_context = true;
            }
            Self::Ladder(ladder) => ladder.summarize_on_trim = true,
            _ => return false,
        }
        true
    }

    /// Makes the policy.
    ///
    /// # Errors
    ///
    /// Settings it cannot work with.
    pub fn build(&self) -> Result<Arc<dyn Policy>, SettingsError> {
        if let Some(percent) = self.tokens().map(|config| config.auto_condense_context_percent)
            && !(1..=100).contains(&percent)
        {
            return Err(SettingsError::Percent(percent));
        }
        let observations = |name, config: &ObservationsConfig| Observations { name, config: *config };
        Ok(match self {
            Self::Messages(config) => Arc::new(Messages(*config)),
            Self::Tokens(config) => Arc::new(Tokens(config.clone())),
            Self::Both(messages, tokens) => {
                Arc::new(Both { messages: Messages(*messages), tokens: Tokens(tokens.clone()) })
            }
            Self::Everything => Arc::new(Everything),
            Self::Newest => Arc::new(NEWEST),
            Self::ClearTools(config) => Arc::new(observations("clear-tools", config)),
            Self::Mask(config) => Arc::new(observations("mask", config)),
            Self::FullCut => Arc::new(FULL_CUT),
            Self::Ladder(config) => Arc::new(Ladder::new(config.clone())),
            Self::Custom(policy) => Arc::clone(policy),
        })
    }
}
