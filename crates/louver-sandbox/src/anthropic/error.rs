//! The error bodies of the Messages API.

use serde_json::{Value, json};

use crate::refusal::{ErrorReply, FOREIGN_HOST, Refusal};
use crate::sse;

fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

pub(super) fn event() -> String {
    sse::named("error", &error("overloaded_error", "Overloaded"))
}

pub(super) fn reply(refusal: &Refusal, serial: u64) -> ErrorReply {
    let (status, kind, message) = parts(refusal);
    let mut body = error(kind, &message);
    body["request_id"] = json!(format!("req_sbx{serial:016}"));
    ErrorReply::new(refusal, status, body)
}

fn parts(refusal: &Refusal) -> (u16, &'static str, String) {
    let invalid = "invalid_request_error";
    match refusal {
        Refusal::MissingKey => (401, "authentication_error", "x-api-key header is required".to_owned()),
        Refusal::BadKey { .. } => (401, "authentication_error", "invalid x-api-key".to_owned()),
        Refusal::UnknownPath { .. } => (404, "not_found_error", "Not Found".to_owned()),
        Refusal::UnknownModel { model } => (404, "not_found_error", format!("model: {model}")),
        Refusal::UnknownResponse { id } => (404, "not_found_error", format!("message: {id}")),
        Refusal::Malformed { reason } => (400, invalid, format!("The request body is not valid JSON: {reason}")),
        Refusal::TooLarge { .. } => (413, "request_too_large", "Request exceeds the maximum size".to_owned()),
        Refusal::TooSlow => (408, "timeout_error", "Request timed out".to_owned()),
        Refusal::ForeignHost => (403, "permission_error", FOREIGN_HOST.to_owned()),
        Refusal::MissingField { field } => (400, invalid, format!("{field}: Field required")),
        Refusal::Illegal(violation) => (400, invalid, violation.message.clone()),
        Refusal::Overflow { input, window, .. } => {
            (400, invalid, format!("prompt is too long: {input} tokens > {window} maximum"))
        }
        Refusal::NoReplyRoom { input, reply, window } => (
            400,
            invalid,
            format!(
                "input length and `max_tokens` exceed context limit: {input} + {reply} > {window}, decrease input length \
                 or `max_tokens` and try again"
            ),
        ),
        Refusal::RateLimited { .. } => (
            429,
            "rate_limit_error",
            "This request would exceed your organization's rate limit. Please try again later.".to_owned(),
        ),
        Refusal::ServerError => (500, "api_error", "Internal server error".to_owned()),
        Refusal::Overloaded => (529, "overloaded_error", "Overloaded".to_owned()),
    }
}
