//! The newest that fits, behind the system messages: what most trimming functions aim at.

use super::draft::Draft;
use super::{Policy, Settings, SettingsError};
use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::tokens::Factor;
use crate::wire::Role;

/// The policy `newest`.
#[derive(Debug)]
struct Newest {
    budget: Budget,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    let budget = settings.budget.ok_or(SettingsError::NoBudget("newest"))?;
    Ok(Box::new(Newest { budget }))
}

impl Policy for Newest {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        if !self.budget.is_exceeded_by(sight.tokens(sight.total())) {
            return Ok(Plan::nothing());
        }
        let pinned = sight.units().iter().take_while(|unit| is_instruction(sight, unit.range.start)).count();
        let head_end = pinned.checked_sub(1).map_or(0, |last| sight.units()[last].range.end);
        let plan = Plan { trigger: Some(Trigger::TokenLimit), head_end, ..Plan::nothing() };
        let mut draft = Draft::new(plan, sight, sight.total(), Factor::ONE, self.budget);
        draft.drop_oldest(pinned, self.budget.allowed_tokens(), None);
        draft.finish()
    }
}

fn is_instruction(sight: &Sight<'_>, index: usize) -> bool {
    matches!(sight.message(index).shape().role, Role::System | Role::Developer)
}
