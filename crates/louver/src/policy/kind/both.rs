//! The message cap first, the token window on the result.

use super::messages::Messages;
use super::tokens::{Tokens, first_message};
use crate::plan::{Bound, Overflow, Pins, Plan};
use crate::policy::{Policy, PolicyInput};

/// The policy `both`.
#[derive(Debug)]
pub(super) struct Both {
    pub(super) messages: Messages,
    pub(super) tokens: Tokens,
}

impl Policy for Both {
    fn name(&self) -> &str {
        "both"
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn max_messages(&self) -> Option<usize> {
        self.messages.max_messages()
    }

    /// The first message that the cap leaves.
    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        first_message(&self.messages.capped(input), input)
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        self.tokens.heeds_counts(at_most)
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        self.tokens.plan_after(self.messages.capped(input), input)
    }
}
