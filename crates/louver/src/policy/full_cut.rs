//! Cut only when full, down to half: the first message and the newest units stay.

use super::{Policy, PolicyInput};
use crate::plan::{Bound, Overflow, Pins, Plan, Trigger};

/// The policy `full-cut`.
#[derive(Debug)]
pub(super) struct FullCut;

impl Policy for FullCut {
    fn name(&self) -> &str {
        "full-cut"
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        Pins::head(input.instructions_end() + 1)
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
        builder.evict_down_to(budget.allowed_tokens() / 2);
        builder.finish()
    }
}
