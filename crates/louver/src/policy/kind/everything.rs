//! No window at all: what sending everything costs.

use crate::plan::{Bound, Overflow, Pins, Plan};
use crate::policy::{Policy, PolicyInput};

/// The policy `everything`.
#[derive(Debug)]
pub(super) struct Everything;

impl Policy for Everything {
    fn name(&self) -> &str {
        "everything"
    }

    fn bound(&self) -> Bound {
        Bound::None
    }

    fn is_off(&self) -> bool {
        true
    }

    fn pins(&self, _: &PolicyInput<'_>) -> Pins {
        Pins::everything()
    }

    fn heeds_counts(&self, _: &PolicyInput<'_>) -> bool {
        false
    }

    fn plan(&self, _: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        Ok(Plan::nothing())
    }
}
