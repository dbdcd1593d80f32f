//! The two that do nothing until the window is full: what most trimming functions aim at, and a deeper cut.

use crate::plan::{Bound, Overflow, Pins, Plan, Trigger};
use crate::policy::{Policy, PolicyInput};

/// The policies `newest` and `full-cut`.
#[derive(Debug)]
pub(super) struct WhenFull {
    name: &'static str,
    /// Messages that stay behind the instructions.
    first: usize,
    /// The share of the allowed tokens that a cut goes down to, as its divisor.
    share: u64,
}

/// The newest that fits, behind the system messages.
pub(super) const NEWEST: WhenFull = WhenFull { name: "newest", first: 0, share: 1 };
/// Down to half: the first message and the newest units stay.
pub(super) const FULL_CUT: WhenFull = WhenFull { name: "full-cut", first: 1, share: 2 };

impl Policy for WhenFull {
    fn name(&self) -> &str {
        self.name
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        Pins::head(input.instructions_end() + self.first)
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        at_most.is_over()
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let Some(budget) = input.budget().filter(|_| input.is_over()) else {
            return Ok(Plan::nothing());
        };
        let pins = self.pins(input);
        let mut builder = input.builder(&pins);
        builder.plan_mut().trigger = Some(Trigger::TokenLimit);
        builder.plan_mut().head_end = pins.head_end;
        builder.evict_unseen();
        builder.evict_down_to(budget.allowed_tokens() / self.share);
        builder.finish()
    }
}
