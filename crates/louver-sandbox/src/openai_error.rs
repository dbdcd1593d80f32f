//! The error bodies that both OpenAI APIs share.

use serde_json::{Value, json};

use crate::refusal::{ErrorReply, FOREIGN_HOST, Refusal};

/// Where an error lies, in OpenAI's words.
pub(crate) struct Where {
    pub(crate) param: Value,
    /// The field that holds the history.
    pub(crate) history: &'static str,
}

/// What an error body says: message, kind, parameter, code.
type Said = (String, &'static str, Value, Option<&'static str>);

const INVALID: &str = "invalid_request_error";

fn body((message, kind, param, code): Said) -> Value {
    json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
}

pub(crate) fn server_error_body() -> Value {
    body(failure("The server had an error processing your request. Sorry about that!", "server_error", None))
}

fn failure(message: &str, kind: &'static str, code: Option<&'static str>) -> Said {
    (message.to_owned(), kind, Value::Null, code)
}

fn invalid(message: String) -> Said {
    (message, INVALID, Value::Null, None)
}

pub(crate) fn reply(refusal: &Refusal, place: Where) -> ErrorReply {
    let (status, said) = match refusal {
        Refusal::MissingKey => (
            401,
            invalid(
                "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer \
                 auth (i.e. Authorization: Bearer YOUR_KEY)."
                    .to_owned(),
            ),
        ),
        Refusal::BadKey { shown } => {
            let message = format!(
                "Incorrect API key provided: {shown}***. You can find your API key at \
                 https://platform.openai.com/account/api-keys."
            );
            (401, (message, INVALID, Value::Null, Some("invalid_api_key")))
        }
        Refusal::RateLimited { .. } => {
            let message = "Rate limit reached for requests. Please try again later.";
            (429, failure(message, "requests", Some("rate_limit_exceeded")))
        }
        Refusal::Overloaded => {
            let message = "The engine is currently overloaded, please try again later";
            (503, failure(message, "server_error", Some("server_overloaded")))
        }
        Refusal::ServerError => return ErrorReply::new(refusal, 500, server_error_body()),
        Refusal::UnknownPath { method, path } => (404, invalid(format!("Invalid URL ({method} {path})"))),
        Refusal::UnknownModel { model } => {
            let message = format!("The model `{model}` does not exist or you do not have access to it.");
            (404, (message, INVALID, Value::Null, Some("model_not_found")))
        }
        Refusal::UnknownResponse { id } => {
            let message = format!("Previous response with id '{id}' not found.");
            (400, (message, INVALID, json!("previous_response_id"), Some("previous_response_not_found")))
        }
        Refusal::Malformed { reason } => {
            (400, invalid(format!("We could not parse the JSON body of your request. ({reason})")))
        }
        Refusal::TooLarge { limit } => (413, invalid(format!("Maximum content size limit ({limit}) exceeded"))),
        Refusal::TooSlow => (408, invalid("The request took too long to arrive.".to_owned())),
        Refusal::ForeignHost => (403, invalid(FOREIGN_HOST.to_owned())),
        Refusal::MissingField { field } => {
            let message = format!("Missing required parameter: '{field}'.");
            (400, (message, INVALID, json!(field), Some("missing_required_parameter")))
        }
        Refusal::Illegal(violation) => (400, (violation.message.clone(), INVALID, place.param, None)),
        Refusal::Overflow { input, window, is_new_model } => {
            (400, overflow(*input, *window, *is_new_model, place.history))
        }
        Refusal::NoReplyRoom { input, window, .. } => (400, overflow(*input, *window, false, place.history)),
    };
    ErrorReply::new(refusal, status, body(said))
}

fn overflow(input: u64, window: u64, is_new_model: bool, history: &str) -> Said {
    let message = match (history, is_new_model) {
        ("input", _) => {
            "Your input exceeds the context window of this model. Please adjust your input and try again.".to_owned()
        }
        (_, true) => format!(
            "Input tokens exceed the configured limit of {window} tokens. Your messages resulted in {input} tokens. Please \
             reduce the length of the messages."
        ),
        (_, false) => format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {input} tokens. \
             Please reduce the length of the messages."
        ),
    };
    (message, INVALID, json!(history), Some("context_length_exceeded"))
}
