//! The newest that fits, behind the system messages: what most trimming functions aim at.

use super::{Policy, PolicyInput};
use crate::plan::{Bound, Overflow, Pins, Plan, Trigger};

/// The policy `newest`.
#[derive(Debug)]
pub(super) struct Newest;

impl Policy for Newest {
    fn name(&self) -> &str {
        "newest"
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        Pins::head(input.instructions_end())
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        at_most.is_over()
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        if !input.is_over() {
            return Ok(Plan::nothing());
        }
        let pins = self.pins(input);
        let mut builder = input.builder(&pins);
        builder.plan_mut().trigger = Some(Trigger::TokenLimit);
        builder.plan_mut().head_end = pins.head_end;
        builder.evict_unseen();
        builder.finish()
    }
}
