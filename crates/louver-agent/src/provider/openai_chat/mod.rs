//! OpenAI's Chat Completions API.

mod body;
mod stream;
mod whole;

use super::answer::StopReason;
use super::dialect::Dialect;
use super::error::{ProviderError, read_error};
use louver::Format;
use serde_json::Value;

/// Chat Completions.
pub(super) static CHAT: Dialect = Dialect {
    format: Format::OpenAiChat,
    path: "/v1/chat/completions",
    counting: None,
    key_header: ("authorization", "Bearer "),
    headers: &[],
    body: body::body,
    whole: whole::whole,
    gather: || Box::new(stream::Stream::default()),
};

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
