//! How a model request ended.

use std::fmt;

/// How a model request ended: exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It went out as it came, and nothing of ours was there before.
    Passed,
    /// An earlier cut applies, no new one was made.
    Kept,
    /// A cut was made.
    Cut,
    /// It was refused as too long or because of bound thinking, changed, sent again and accepted.
    Rescued,
    /// Such a refusal, the provider's or ours, reached the client.
    Refused,
    /// Nothing was sent.
    None,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 6] = [Self::Passed, Self::Kept, Self::Cut, Self::Rescued, Self::Refused, Self::None];

    /// The word in `x-louver-outcome`, logs and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Kept => "kept",
            Self::Cut => "cut",
            Self::Rescued => "rescued",
            Self::Refused => "refused",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
