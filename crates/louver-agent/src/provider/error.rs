//! Why there is no answer.

use louver::display::truncate;
use louver::refusal::{ErrorText, OverflowFigures, Refusal};
use serde_json::Value;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a call to a model failed. It keeps its cause, answers questions, and never holds a key.
#[derive(Debug)]
pub struct ProviderError(Box<Inner>);

#[derive(Debug, Default)]
struct Inner {
    category: Category,
    message: String,
    status: Option<u16>,
    retry_after: Option<Duration>,
    is_retryable: bool,
    is_cancelled: bool,
    silence: Duration,
    overflow: Option<OverflowFigures>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Too many requests.
    RateLimit,
    /// A key that is missing, wrong or not allowed to do this.
    Auth,
    /// More than the model's context window holds.
    Overflow,
    /// The provider refused the request or failed itself.
    #[default]
    Api,
    /// No connection, or one that broke or fell silent.
    Network,
    /// A tool.
    Tool,
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RateLimit => "rate limit",
            Self::Auth => "auth",
            Self::Overflow => "overflow",
            Self::Api => "api",
            Self::Network => "network",
            Self::Tool => "tool",
        })
    }
}

impl ProviderError {
    fn new(category: Category, message: String) -> Self {
        Self(Box::new(Inner { category, message, ..Inner::default() }))
    }

    /// The connection failed before or within an answer.
    pub(crate) fn network(message: &str, source: Option<Box<dyn Error + Send + Sync>>) -> Self {
        let mut error = Self::new(Category::Network, message.to_owned());
        error.0.is_retryable = true;
        error.0.source = source;
        error
    }

    /// The provider said nothing for so long.
    pub(crate) fn silent(patience: Duration, source: Option<Box<dyn Error + Send + Sync>>) -> Self {
        let mut error = Self::network(&format!("the provider said nothing for {} ms", patience.as_millis()), source);
        error.0.silence = patience;
        error
    }

    /// Somebody asked to stop.
    pub(crate) fn cancelled() -> Self {
        let mut error = Self::new(Category::Network, "the call was cancelled".to_owned());
        error.0.is_cancelled = true;
        error
    }

    /// An answer that makes no sense or is too large, or a request that cannot be built.
    pub(crate) fn unusable(message: impl Into<String>) -> Self {
        Self::new(Category::Api, message.into())
    }

    /// An HTTP error with its body.
    pub(crate) fn refused(status: u16, body: &str, retry_after: Option<Duration>) -> Self {
        let ErrorText { code, message } = ErrorText::of_body(body.as_bytes());
        let mut error = Self::said(status, &code, if message.is_empty() && code.is_empty() { body } else { &message });
        error.0.retry_after = retry_after;
        error
    }

    /// An error that came within a stream, where no status says what kind it is.
    pub(crate) fn in_stream(error: &Value) -> Self {
        let ErrorText { code, message } = ErrorText::of_value(error);
        let status = match code.as_str() {
            "invalid_request_error" | "invalid_prompt" | "context_length_exceeded" => 400,
            "authentication_error" | "invalid_api_key" => 401,
            "permission_error" => 403,
            "request_too_large" => 413,
            "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
            "overloaded_error" => 529,
            _ => 500,
        };
        Self::said(status, &code, &message)
    }

    /// An error with a status, whether HTTP gave it or an event of a stream implies it.
    pub(crate) fn said(status: u16, code: &str, message: &str) -> Self {
        let overflow = Refusal::recognise(code, message).and_then(Refusal::overflow).filter(|_| status != 401);
        let category = match status {
            _ if overflow.is_some() => Category::Overflow,
            413 => Category::Overflow,
            401 | 403 => Category::Auth,
            429 => Category::RateLimit,
            _ => Category::Api,
        };
        let mut error = Self::new(category, truncate(message, SHOWN_CHARS).to_owned());
        error.0.status = Some(status);
        error.0.overflow = overflow;
        // A spent quota does not come back by waiting.
        let may_pass = matches!(status, 408 | 409 | 429) || (500..600).contains(&status);
        error.0.is_retryable = may_pass && code != "insufficient_quota" && category != Category::Overflow;
        error
    }

    /// What kind of failure it is.
    pub fn category(&self) -> Category {
        self.0.category
    }

    /// The HTTP status, where there was one.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Whether the same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// How long the provider asked to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Whether the request was longer than the model's context window.
    pub fn is_context_overflow(&self) -> bool {
        self.0.category == Category::Overflow
    }

    /// The sizes an overflow error names.
    pub fn overflow_figures(&self) -> OverflowFigures {
        self.0.overflow.unwrap_or_default()
    }

    /// How long the provider said nothing before it counted as failed.
    pub(crate) fn silence(&self) -> Duration {
        self.0.silence
    }

    /// Whether it failed because somebody asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled
    }
}

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.status {
            Some(status) => write!(f, "the provider answered {status}: {}", self.0.message),
            None => f.write_str(&self.0.message),
        }
    }
}

impl Error for ProviderError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// Characters of what a provider said that a message repeats.
const SHOWN_CHARS: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, code, message; category, and whether it is tried again.
    const REFUSALS: [(u16, &str, &str, Category, bool); 14] = [
        (401, "authentication_error", "invalid x-api-key", Category::Auth, false),
        (401, "invalid_api_key", "Incorrect API key provided", Category::Auth, false),
        (403, "permission_error", "not allowed", Category::Auth, false),
        (429, "rate_limit_error", "slow down", Category::RateLimit, true),
        (429, "insufficient_quota", "You exceeded your current quota", Category::RateLimit, false),
        (400, "invalid_request_error", "messages: at least one message is required", Category::Api, false),
        (400, "invalid_request_error", "prompt is too long: 3 tokens > 2 maximum", Category::Overflow, false),
        (400, "context_length_exceeded", "", Category::Overflow, false),
        (413, "request_too_large", "Request exceeds the maximum size", Category::Overflow, false),
        (429, "rate_limit_exceeded", "Request too large for x: Limit 3, Requested 4.", Category::Overflow, false),
        (500, "", "Context size has been exceeded.", Category::Overflow, false),
        (500, "api_error", "Internal server error", Category::Api, true),
        (503, "server_overloaded", "overloaded", Category::Api, true),
        (529, "overloaded_error", "Overloaded", Category::Api, true),
    ];

    #[test]
    fn every_refusal_has_its_category() {
        for (status, code, message, category, is_retryable) in REFUSALS {
            let body = serde_json::json!({"error": {"type": code, "message": message}}).to_string();
            let error = ProviderError::refused(status, &body, None);
            assert_eq!((error.category(), error.is_retryable()), (category, is_retryable), "{status} {code}");
            assert_eq!(error.status(), Some(status));
            assert_eq!(error.is_context_overflow(), category == Category::Overflow);
            assert_eq!(error.to_string(), format!("the provider answered {status}: {message}"));
        }
    }

    #[test]
    fn a_body_that_is_no_json_is_shown_up_to_a_point() {
        let error = ProviderError::refused(502, &"<html>".repeat(1000), None);
        assert!(error.to_string().len() < 600);
    }
}
