//! The error bodies of the Chat Completions API.

use serde_json::{Value, json};

use crate::openai_error::{self, Where};
use crate::refusal::{ErrorReply, Refusal};
use crate::sse;

pub(super) fn reply(refusal: &Refusal, _serial: u64) -> ErrorReply {
    openai_error::reply(refusal, Where { param: param(refusal), history: "messages" })
}

/// `messages.3` is `messages.[3].role` in this API's words.
fn param(refusal: &Refusal) -> Value {
    let Refusal::Illegal(violation) = refusal else { return Value::Null };
    match violation.path.strip_prefix("messages.") {
        Some(index) => json!(format!("messages.[{index}].role")),
        None => json!(violation.path),
    }
}

pub(super) fn event() -> String {
    sse::unnamed(&openai_error::server_error_body())
}
