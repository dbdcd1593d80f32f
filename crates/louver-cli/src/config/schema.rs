//! The JSON schema of a configuration file, for editors.

use super::Config;
use louver::policy::TABLE;
use serde_json::Value;

/// The schema, as JSON Schema 2020-12.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(Config).to_value()
}

/// What `policy` may say; `null` leaves it to the command.
pub(super) fn policy_names() -> Value {
    TABLE.iter().map(|row| Value::from(row.name)).chain([Value::Null]).collect()
}
