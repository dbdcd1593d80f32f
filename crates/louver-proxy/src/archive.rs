//! What is kept of conversations.

use std::fmt;
use std::str::FromStr;

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
