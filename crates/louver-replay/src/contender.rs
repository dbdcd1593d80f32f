//! The policies that are compared.

use louver::policy::{Policy, Row, Settings, SettingsError};
use std::fmt;
use std::sync::Arc;

type Make = dyn Fn(&Settings) -> Result<Box<dyn Policy>, SettingsError> + Send + Sync;

/// A policy with the name it has in reports. Each conversation gets a fresh one.
#[derive(Clone)]
pub struct Contender {
    name: String,
    make: Arc<Make>,
}

impl Contender {
    /// A policy of the engine's table.
    ///
    /// # Errors
    ///
    /// No policy has this name.
    pub fn named(name: &str) -> Result<Self, SettingsError> {
        let row = Row::find(name)?;
        Ok(Self::custom(name, |settings| row.build(settings)))
    }

    /// Any other policy.
    pub fn custom(
        name: &str,
        make: impl Fn(&Settings) -> Result<Box<dyn Policy>, SettingsError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.to_owned(), make: Arc::new(make) }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh policy.
    ///
    /// # Errors
    ///
    /// Settings it cannot work with.
    pub fn make(&self, settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
        (self.make)(settings)
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}
