//! What a keeper is told before it starts.

use louver::PolicyKind;
use louver::policy::LadderConfig;
use louver_store::ReaderId;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What a keeper is told before it starts.
#[derive(Clone, Debug)]
pub struct KeeperSettings {
    /// What decides about new cuts.
    pub policy: PolicyKind,
    /// The context window, in place of what is known of the models.
    pub context_window: Option<u64>,
    /// What is kept beside decisions.
    pub archive: Archive,
    /// The command that gives back what was left out, where messages are kept: a ledger names it.
    pub recall_command: String,
    /// Whose conversations those without an access token are: the operating system's user.
    pub user: ReaderId,
    /// How long a request waits for a store that is away.
    pub store_wait: Duration,
    /// How many requests wait for a store that is away. Further ones are turned away at once.
    pub max_waiting: usize,
    /// How many conversations are kept in memory.
    pub max_conversations: usize,
    /// How many bytes of them.
    pub max_conversation_bytes: usize,
}

impl KeeperSettings {
    /// The same, but ledgers quote no thinking: the chain does not hash it, and a record could not say where it stands.
    pub(super) fn without_thinking(mut self) -> Self {
        if let Some(ladder) = self.policy.ladder_mut() {
            ladder.quote_thinking = false;
        }
        self
    }
}

impl Default for KeeperSettings {
    /// Careful cuts, decisions and requests kept, no messages.
    fn default() -> Self {
        Self {
            policy: PolicyKind::Ladder(LadderConfig::careful()),
            context_window: None,
            archive: Archive::Decisions,
            recall_command: "louver recall --archive".to_owned(),
            user: "local".into(),
            store_wait: Duration::from_secs(60),
            max_waiting: 256,
            max_conversations: 1_000,
            max_conversation_bytes: 512 << 20,
        }
    }
}

/// What is kept beside decisions, which always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Archive {
    /// Nothing.
    Off,
    /// Requests, with usage and money.
    #[default]
    Decisions,
    /// Messages, too.
    Full,
}

impl Archive {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Decisions, Self::Full];

    /// The name on the command line and in configuration.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Decisions => "decisions",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Archive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no archive's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown archive `{0}`: expected off, decisions or full")]
pub struct UnknownArchive(pub String);

impl FromStr for Archive {
    type Err = UnknownArchive;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|archive| archive.name() == name).ok_or_else(|| UnknownArchive(name.to_owned()))
    }
}
