//! OpenAI's Chat Completions API.

mod body;
mod stream;
mod whole;

use super::answer::{Answer, StopReason};
use super::dialect::{Dialect, Gather, Unreadable};
use super::error::{ProviderError, read_error};
use super::request::Request;
use louver::wire::Format;
use serde_json::Value;

/// Chat Completions.
#[derive(Debug)]
pub(super) struct OpenAiChat;

impl Dialect for OpenAiChat {
    fn format(&self) -> Format {
        Format::OpenAiChat
    }

    fn path(&self) -> &'static str {
        "/v1/chat/completions"
    }

    fn count_path(&self) -> Option<&'static str> {
        None
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn body(&self, request: &Request<'_>) -> String {
        body::body(request)
    }

    fn count_body(&self, request: &Request<'_>) -> String {
        body::body(request)
    }

    fn whole(&self, text: &str) -> Result<Answer, Unreadable> {
        whole::whole(text)
    }

    fn gather(&self) -> Box<dyn Gather> {
        Box::new(stream::Stream::default())
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "stop" => StopReason::EndOfTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}

/// An error that came within a stream, where no status says what kind it is.
pub(super) fn failure(error: &Value) -> ProviderError {
    let (code, message) = read_error(error).unwrap_or_default();
    let status = match code.as_str() {
        "rate_limit_exceeded" | "insufficient_quota" => 429,
        "invalid_api_key" => 401,
        "context_length_exceeded" | "invalid_request_error" | "invalid_prompt" => 400,
        _ => 500,
    };
    ProviderError::said(status, &code, message)
}
