//! The error bodies that both OpenAI APIs share.

use serde_json::{Value, json};

use crate::refusal::{ErrorReply, Refusal};

/// Where an error lies, in OpenAI's words.
pub(crate) struct Where {
    pub(crate) param: Value,
    /// The field that holds the history.
    pub(crate) history: &'static str,
}

fn error(message: &str, kind: &str, param: &Value, code: &Value) -> Value {
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

pub(crate) fn server_error_body() -> Value {
    error(
        "The server had an error processing your request. Sorry about that!",
        "server_error",
        &Value::Null,
        &Value::Null,
    )
}

pub(crate) fn reply(refusal: &Refusal, place: Where) -> ErrorReply {
    let reply = match refusal {
        Refusal::MissingKey | Refusal::BadKey { .. } => ErrorReply::new(401, key_body(refusal)),
        Refusal::RateLimited { .. } | Refusal::ServerError | Refusal::Overloaded => busy(refusal),
        _ => invalid(refusal, place),
    };
    match refusal {
        Refusal::RateLimited { retry_after_seconds } => {
            ErrorReply { retry_after_seconds: *retry_after_seconds, ..reply }
        }
        _ => reply,
    }
}

fn key_body(refusal: &Refusal) -> Value {
    let Refusal::BadKey { shown } = refusal else {
        let message = "You didn't provide an API key. You need to provide your API key in an Authorization header using \
                       Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        return error(message, "invalid_request_error", &Value::Null, &Value::Null);
    };
    let message = format!(
        "Incorrect API key provided: {shown}***. You can find your API key at https://platform.openai.com/account/api-keys."
    );
    error(&message, "invalid_request_error", &Value::Null, &json!("invalid_api_key"))
}

fn busy(refusal: &Refusal) -> ErrorReply {
    match refusal {
        Refusal::RateLimited { .. } => ErrorReply::new(
            429,
            error(
                "Rate limit reached for requests. Please try again later.",
                "requests",
                &Value::Null,
                &json!("rate_limit_exceeded"),
            ),
        ),
        Refusal::Overloaded => ErrorReply::new(
            503,
            error(
                "The engine is currently overloaded, please try again later",
                "server_error",
                &Value::Null,
                &json!("server_overloaded"),
            ),
        ),
        _ => ErrorReply::new(500, server_error_body()),
    }
}

fn invalid(refusal: &Refusal, place: Where) -> ErrorReply {
    let kind = "invalid_request_error";
    let (status, message, param, code) = match refusal {
        Refusal::UnknownPath { method, path } => {
            (404, format!("Invalid URL ({method} {path})"), Value::Null, Value::Null)
        }
        Refusal::UnknownModel { model } => {
            let message = format!("The model `{model}` does not exist or you do not have access to it.");
            (404, message, Value::Null, json!("model_not_found"))
        }
        Refusal::UnknownResponse { id } => (
            400,
            format!("Previous response with id '{id}' not found."),
            json!("previous_response_id"),
            json!("previous_response_not_found"),
        ),
        Refusal::Malformed { reason } => {
            (400, format!("We could not parse the JSON body of your request. ({reason})"), Value::Null, Value::Null)
        }
        Refusal::TooLarge { limit } => {
            (413, format!("Maximum content size limit ({limit}) exceeded"), Value::Null, Value::Null)
        }
        Refusal::MissingField { field } => {
            (400, format!("Missing required parameter: '{field}'."), json!(field), json!("missing_required_parameter"))
        }
        Refusal::Illegal(violation) => (400, violation.message.clone(), place.param, Value::Null),
        Refusal::Overflow { .. } | Refusal::NoReplyRoom { .. } => {
            (400, overflow(refusal, place.history), json!(place.history), json!("context_length_exceeded"))
        }
        _ => (500, "The server had an error while processing your request.".to_owned(), Value::Null, Value::Null),
    };
    ErrorReply::new(status, error(&message, kind, &param, &code))
}

fn overflow(refusal: &Refusal, history: &str) -> String {
    match refusal {
        _ if history == "input" => {
            "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned()
        }
        Refusal::Overflow { input, window, is_new_model: true } => format!(
            "Input tokens exceed the configured limit of {window} tokens. Your messages resulted in {input} tokens. Please \
             reduce the length of the messages."
        ),
        Refusal::Overflow { input, window, .. } | Refusal::NoReplyRoom { input, window, .. } => format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {input} tokens. \
             Please reduce the length of the messages."
        ),
        _ => String::new(),
    }
}
