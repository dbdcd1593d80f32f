//! The error bodies of the `generateContent` API.

use serde_json::{Value, json};

use crate::refusal::{ErrorReply, FOREIGN_HOST, Refusal};
use crate::sse;

fn error(code: u16, status: &str, message: &str) -> Value {
    json!({"error": {"code": code, "message": message, "status": status}})
}

pub(super) fn event() -> String {
    sse::unnamed(&error(503, "UNAVAILABLE", "The model is overloaded. Please try again later."))
}

pub(super) fn reply(refusal: &Refusal, _serial: u64) -> ErrorReply {
    let (code, status, message) = parts(refusal);
    let mut reply = ErrorReply::new(refusal, code, error(code, status, &message));
    match refusal {
        Refusal::BadKey { .. } => {
            reply.body["error"]["details"] = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            }]);
        }
        Refusal::RateLimited { retry_after_seconds: Some(seconds) } => {
            reply.body["error"]["details"] = json!([{
                "@type": "type.googleapis.com/google.rpc.RetryInfo",
                "retryDelay": format!("{seconds}s"),
            }]);
        }
        _ => {}
    }
    reply
}

fn parts(refusal: &Refusal) -> (u16, &'static str, String) {
    let invalid = "INVALID_ARGUMENT";
    match refusal {
        Refusal::MissingKey => (
            403,
            "PERMISSION_DENIED",
            "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or \
             other form of API consumer identity to call this API."
                .to_owned(),
        ),
        Refusal::BadKey { .. } => (400, invalid, "API key not valid. Please pass a valid API key.".to_owned()),
        Refusal::UnknownPath { path, .. } => (404, "NOT_FOUND", format!("The requested URL {path} was not found.")),
        Refusal::UnknownModel { model } => {
            (404, "NOT_FOUND", format!("models/{model} is not found for API version v1beta."))
        }
        Refusal::UnknownResponse { id } => (404, "NOT_FOUND", format!("{id} is not found.")),
        Refusal::Malformed { reason } => (400, invalid, format!("Invalid JSON payload received. {reason}")),
        Refusal::TooLarge { limit } => {
            (400, invalid, format!("Request payload size exceeds the limit: {limit} bytes."))
        }
        Refusal::TooSlow => (408, "DEADLINE_EXCEEDED", "The request took too long to arrive.".to_owned()),
        Refusal::ForeignHost => (403, "PERMISSION_DENIED", FOREIGN_HOST.to_owned()),
        Refusal::MissingField { field } => {
            (400, invalid, format!("* GenerateContentRequest.{field}: {field} is not specified\n"))
        }
        Refusal::Illegal(violation) => (400, invalid, violation.message.clone()),
        Refusal::Overflow { input, window, .. } | Refusal::NoReplyRoom { input, window, .. } => (
            400,
            invalid,
            format!("The input token count ({input}) exceeds the maximum number of tokens allowed ({window})."),
        ),
        Refusal::RateLimited { .. } => {
            (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).".to_owned())
        }
        Refusal::ServerError => (500, "INTERNAL", "An internal error has occurred. Please retry.".to_owned()),
        Refusal::Overloaded => (503, "UNAVAILABLE", "The model is overloaded. Please try again later.".to_owned()),
    }
}
