//! Reading loosely typed request bodies without panicking.

use serde_json::Value;

/// The elements of an array field, or none.
pub(crate) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A string field, or `""`.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Whether a field is absent or null.
pub(crate) fn is_missing(value: &Value, field: &str) -> bool {
    value.get(field).is_none_or(Value::is_null)
}

/// What is said in some blocks or parts, if anything is.
pub(crate) fn said_in(blocks: &[Value]) -> Option<String> {
    let texts: Vec<&str> = blocks.iter().map(|block| text(block, "text")).filter(|said| !said.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
