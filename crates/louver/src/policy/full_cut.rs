//! Cut only when full, down to half: the first message and the newest units stay.

use super::draft::Draft;
use super::{Policy, Settings, SettingsError};
use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::tokens::Factor;

/// The policy `full-cut`.
#[derive(Debug)]
struct FullCut {
    budget: Budget,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    let budget = settings.budget.ok_or(SettingsError::NoBudget("full-cut"))?;
    Ok(Box::new(FullCut { budget }))
}

impl Policy for FullCut {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        if !self.budget.is_exceeded_by(sight.tokens(sight.total())) {
            return Ok(Plan::nothing());
        }
        let head_end = sight.units().front().map_or(0, |unit| unit.range.end);
        let plan = Plan { trigger: Some(Trigger::TokenLimit), head_end, ..Plan::nothing() };
        let mut draft = Draft::new(plan, sight, sight.total(), Factor::ONE, self.budget);
        draft.drop_oldest(1, self.budget.allowed_tokens() / 2, None);
        draft.finish()
    }
}
