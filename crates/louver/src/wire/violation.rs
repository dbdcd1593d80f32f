//! What a provider would refuse, and what would make it legal.

use std::fmt;

/// A rule that a history breaks.
///
/// ```
/// use louver::{Body, legality};
///
/// let body = Body::parse(r#"{"system":"Be brief.","messages":[{"role":"assistant","content":"Hello"}]}"#, None)?;
/// let violation = &legality::check(&body)[0];
/// assert_eq!((violation.rule, violation.path(body.history_path())), ("first-not-user", "$.messages[0]".to_owned()));
/// # Ok::<(), louver::JsonError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// The rule's short name, such as `tool-use-without-result`.
    pub rule: &'static str,
    /// The index of the message that breaks it; the number of messages where it is something at the end.
    pub index: usize,
    /// Where inside the message, such as `.content[2]`; empty for the whole message.
    pub place: String,
    /// The provider's own wording.
    pub message: String,
}

impl Violation {
    /// The JSON path in a body whose history stands at `history`, such as `$.messages`.
    pub fn path(&self, history: &str) -> String {
        format!("{history}[{}]{}", self.index, self.place)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]{}: {}: {}", self.index, self.place, self.rule, self.message)
    }
}

/// One change that makes a history more legal.
///
/// ```
/// use louver::{Body, legality};
///
/// let body = Body::parse(r#"{"system":"Be brief.","messages":[{"role":"assistant","content":"Hello"}]}"#, None)?;
/// let fix = &legality::repair(&body)?.fixes[0];
/// assert_eq!((fix.index(), fix.reason()), (0, "a history starts with the user"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Take a whole message out.
    Remove {
        /// Its index.
        index: usize,
        /// Why.
        reason: String,
    },
    /// Put other text in the place of a message.
    Replace {
        /// Its index.
        index: usize,
        /// The new raw text.
        raw: String,
        /// Why.
        reason: String,
    },
    /// Put a message of our own before the one at `index`.
    Insert {
        /// The index it stands before; the number of messages to append it.
        index: usize,
        /// Its raw text.
        raw: String,
        /// Why.
        reason: String,
    },
}

impl Fix {
    /// The index of the message it is about.
    pub fn index(&self) -> usize {
        match self {
            Self::Remove { index, .. } | Self::Replace { index, .. } | Self::Insert { index, .. } => *index,
        }
    }

    /// Why it is made.
    pub fn reason(&self) -> &str {
        match self {
            Self::Remove { reason, .. } | Self::Replace { reason, .. } | Self::Insert { reason, .. } => reason,
        }
    }
}
