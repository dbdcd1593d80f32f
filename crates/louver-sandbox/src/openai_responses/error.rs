//! The error bodies of the Responses API.

use serde_json::{Value, json};

use crate::openai_error::{self, Where};
use crate::refusal::{ErrorReply, Refusal};
use crate::sse;

pub(super) fn reply(refusal: &Refusal, _serial: u64) -> ErrorReply {
    openai_error::reply(refusal, Where { param: param(refusal), history: "input" })
}

fn param(refusal: &Refusal) -> Value {
    match refusal {
        Refusal::Illegal(violation) if violation.path.starts_with("input.") => json!("input"),
        Refusal::Illegal(violation) => json!(violation.path),
        _ => Value::Null,
    }
}

pub(super) fn event() -> String {
    sse::named(
        "error",
        &json!({
            "type": "error",
            "code": "server_error",
            "message": "The server had an error while processing your request.",
            "param": null,
            "sequence_number": 0,
        }),
    )
}
