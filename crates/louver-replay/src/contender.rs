//! The policies that are compared.

use louver::policy::{PolicyKind, SettingsError};

/// A policy with the name it has in reports.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The name.
    pub name: String,
    /// The policy.
    pub policy: PolicyKind,
}

impl Contender {
    /// A policy of the engine's table.
    ///
    /// # Errors
    ///
    /// No policy has this name.
    pub fn named(name: &str) -> Result<Self, SettingsError> {
        Ok(Self::new(name, name.parse()?))
    }

    /// Any policy, with settings of its own, under any name.
    ///
    /// ```
    /// use louver::policy::{LadderConfig, PolicyKind};
    /// use louver_replay::Contender;
    ///
    /// let short = LadderConfig { keep_recent_tokens: 1_000, ..LadderConfig::default() };
    /// assert_eq!(Contender::new("short tail", PolicyKind::Ladder(short)).name, "short tail");
    /// ```
    pub fn new(name: &str, policy: PolicyKind) -> Self {
        Self { name: name.to_owned(), policy }
    }
}
