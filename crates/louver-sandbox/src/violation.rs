use serde::{Deserialize, Serialize};

/// One rule that a request breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The rule's name in kebab-case, such as `tool-use-without-result`.
    pub rule: String,
    /// Where in the body, with dots: `messages.3.content.0`.
    pub path: String,
    /// The provider's own wording.
    pub message: String,
}

impl Violation {
    pub(crate) fn new(rule: &str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), path: path.into(), message: message.into() }
    }

    /// A request that has not the shape it should have.
    pub(crate) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new("invalid-request", path, message)
    }
}
