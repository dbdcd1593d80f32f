//! The JSON schema of a configuration file, for editors.

use super::Config;
use louver::policy::TABLE;
use serde_json::Value;

/// The schema, as JSON Schema 2020-12.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Config).to_value();
    drop_null_defaults(&mut schema);
    schema
}

/// A key without a default of its own is simply absent; `null` would be no value of its type.
fn drop_null_defaults(value: &mut Value) {
    match value {
        Value::Object(members) => {
            if members.get("default").is_some_and(Value::is_null) {
                members.remove("default");
            }
            members.values_mut().for_each(drop_null_defaults);
        }
        Value::Array(elements) => elements.iter_mut().for_each(drop_null_defaults),
        _ => {}
    }
}

/// What `policy` may say; `null` leaves it to the command.
pub(super) fn policy_names() -> Value {
    TABLE.iter().map(|row| Value::from(row.name)).chain([Value::Null]).collect()
}
