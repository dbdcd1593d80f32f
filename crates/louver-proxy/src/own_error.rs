//! Errors of our own, in the shape of the client's provider.

use crate::brain::{OwnRefusal, OwnRefusalKind};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::Full;
use louver::Format;
use serde_json::json;

/// What the proxy itself has to say to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
    /// Whether it says that the request is too long, in the way that clients understand.
    is_too_long: bool,
    retry_after_seconds: Option<u32>,
}

impl OwnError {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), is_too_long: false, retry_after_seconds: None }
    }

    pub(crate) fn unavailable(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        let retry_after_seconds = Some(retry_after_seconds);
        Self { retry_after_seconds, ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// The answer that says it.
    pub(crate) fn answer(&self, format: Format) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(Bytes::from(self.body(format))));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }

    fn body(&self, format: Format) -> String {
        let names = Names::of(self.status);
        let message = format!("louver: {}", self.message);
        let code = self.is_too_long.then_some("context_length_exceeded");
        match format {
            Format::Anthropic => {
                // The token by which Claude Code knows that it should compact.
                let token = if self.is_too_long { "capability_rejected: prompt_too_long; " } else { "" };
                json!({"type": "error", "error": {"type": names.anthropic, "message": format!("{token}{message}")}})
            }
            Format::OpenAiChat | Format::OpenAiResponses => {
                json!({"error": {"message": message, "type": names.openai, "param": null, "code": code}})
            }
            Format::Gemini => {
                json!({"error": {"code": self.status.as_u16(), "message": message, "status": names.gemini}})
            }
        }
        .to_string()
    }
}

impl From<OwnRefusal> for OwnError {
    fn from(refusal: OwnRefusal) -> Self {
        match refusal.kind {
            OwnRefusalKind::PromptTooLong => {
                Self { is_too_long: true, ..Self::new(StatusCode::BAD_REQUEST, refusal.message) }
            }
            OwnRefusalKind::Unavailable { retry_after_seconds } => {
                Self::unavailable(refusal.message, retry_after_seconds)
            }
        }
    }
}

/// What the providers call a status.
struct Names {
    anthropic: &'static str,
    openai: &'static str,
    gemini: &'static str,
}

impl Names {
    fn of(status: StatusCode) -> Self {
        let (anthropic, openai, gemini) = match status.as_u16() {
            401 => ("authentication_error", "invalid_request_error", "UNAUTHENTICATED"),
            403 => ("permission_error", "invalid_request_error", "PERMISSION_DENIED"),
            404 => ("not_found_error", "invalid_request_error", "NOT_FOUND"),
            413 => ("request_too_large", "invalid_request_error", "INVALID_ARGUMENT"),
            503 => ("api_error", "server_error", "UNAVAILABLE"),
            504 => ("timeout_error", "server_error", "DEADLINE_EXCEEDED"),
            500.. => ("api_error", "server_error", "INTERNAL"),
            _ => ("invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"),
        };
        Self { anthropic, openai, gemini }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_has_its_shape() {
        let error = OwnError::new(StatusCode::PAYLOAD_TOO_LARGE, "too large");
        for (format, body) in [
            (
                Format::Anthropic,
                json!({"type": "error", "error": {"type": "request_too_large", "message": "louver: too large"}}),
            ),
            (
                Format::OpenAiChat,
                json!({"error": {"message": "louver: too large", "type": "invalid_request_error", "param": null, "code": null}}),
            ),
            (
                Format::Gemini,
                json!({"error": {"code": 413, "message": "louver: too large", "status": "INVALID_ARGUMENT"}}),
            ),
        ] {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&error.body(format)).unwrap(), body);
        }
    }

    #[test]
    fn a_prompt_that_is_too_long_is_understood_as_such() {
        let refusal = OwnRefusal { kind: OwnRefusalKind::PromptTooLong, message: "it does not fit".to_owned() };
        let error = OwnError::from(refusal);
        assert_eq!(error.status, StatusCode::BAD_REQUEST);
        for format in Format::ALL.into_iter().filter(|format| *format != Format::Gemini) {
            let text = louver::refusal::ErrorText::of_body(error.body(format).as_bytes());
            let recognised = louver::refusal::Refusal::recognise(&text.code, &text.message);
            assert!(matches!(recognised, Some(louver::refusal::Refusal::Overflow(_))), "{format}");
        }
    }
}
