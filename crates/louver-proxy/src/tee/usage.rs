//! Figures out of usage objects.

use serde_json::Value;

/// Replaces a figure if the object has it; streams give figures in parts, each cumulative.
pub(super) fn set(figure: &mut u64, value: &Value) {
    if let Some(number) = value.as_u64() {
        *figure = number;
    }
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}
