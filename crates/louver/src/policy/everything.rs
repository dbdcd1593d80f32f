//! No window at all: what sending everything costs.

use super::{Policy, Settings, SettingsError};
use crate::plan::{Bound, Overflow, Plan};
use crate::sight::Sight;

/// The policy `everything`.
#[derive(Debug)]
struct Everything;

pub(super) fn build(_: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ok(Box::new(Everything))
}

impl Policy for Everything {
    fn bound(&self) -> Bound {
        Bound::None
    }

    fn plan(&mut self, _: &Sight<'_>) -> Result<Plan, Overflow> {
        Ok(Plan::nothing())
    }
}
