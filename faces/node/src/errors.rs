//! Faults on their way to `ts/errors.ts`, which makes the exceptions of them.

use louver_face::Fault;
use napi::{Error, Status};
use serde_json::{Value, json};

/// A fault as JSON in the reason of an error.
pub(crate) fn thrown(fault: Fault) -> Error {
    let message = fault.to_string();
    let (kind, rest) = match fault {
        Fault::Input { path, offset, .. } => ("input", json!({ "path": path, "offset": offset })),
        Fault::Settings(_) => ("settings", json!({})),
        Fault::Usage(_) => ("usage", json!({})),
        Fault::Record(_) => ("record", json!({})),
        Fault::Overflow(error) => {
            let largest = error.largest.map(|largest| json!({ "index": largest.index, "tokens": largest.tokens }));
            let floor = error.floor_tokens;
            ("overflow", json!({ "floorTokens": floor, "allowedTokens": error.allowed_tokens, "largest": largest }))
        }
    };
    failed(&json!({ "kind": kind, "message": message, "rest": rest }))
}

pub(crate) fn failed(fault: &Value) -> Error {
    Error::new(Status::GenericFailure, fault.to_string())
}
