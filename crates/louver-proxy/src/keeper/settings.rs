//! What a keeper is told before it starts.

use crate::archive::Archive;
use louver::PolicyKind;
use louver::policy::LadderConfig;
use louver_store::ReaderId;
use std::time::Duration;

/// Whoever starts anew all the time, or asks little, need not know that somebody could cut.
const LEAVE_BELOW_TOKENS: u64 = 30_000;

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
    /// The same with another policy, which leaves alone what is small.
    #[must_use]
    pub fn with_policy(mut self, policy: PolicyKind) -> Self {
        self.policy = policy;
        if let Some(ladder) = self.policy.ladder_mut() {
            ladder.leave_below_tokens = LEAVE_BELOW_TOKENS;
        }
        self
    }

    /// The same, but ledgers quote no thinking: the chain does not hash it, and a record could not say where it stands.
    pub(super) fn without_thinking(mut self) -> Self {
        if let Some(ladder) = self.policy.ladder_mut() {
            ladder.quote_thinking = false;
        }
        self
    }
}

impl Default for KeeperSettings {
    /// Careful cuts, none that need not be below 30,000 tokens, decisions and requests kept, no messages.
    fn default() -> Self {
        let settings = Self {
            policy: PolicyKind::Everything,
            context_window: None,
            archive: Archive::Decisions,
            recall_command: "louver recall --archive".to_owned(),
            user: "local".into(),
            store_wait: Duration::from_secs(60),
            max_waiting: 256,
            max_conversations: 1_000,
            max_conversation_bytes: 512 << 20,
        };
        settings.with_policy(PolicyKind::Ladder(LadderConfig::careful()))
    }
}
