//! Anthropic's Messages API.

mod body;
mod marks;
mod stream;
mod whole;

use super::Provider;
use super::answer::{Answer, StopReason};
use super::connection::Connection;
use super::dialect::Dialect;
use super::endpoint::Endpoint;
use super::error::ProviderError;
use super::request::Request;
use crate::api_key::ApiKey;
use louver::wire::Format;
use tokio_util::sync::CancellationToken;

/// Anthropic's API.
#[derive(Debug)]
pub struct AnthropicProvider {
    endpoint: Endpoint,
}

impl AnthropicProvider {
    /// Where the API is.
    pub const BASE_URL: &'static str = "https://api.anthropic.com";

    /// The Messages API at an address.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn new(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Ok(Self { endpoint: Endpoint::new(&MESSAGES, connection, key)? })
    }
}

#[async_trait::async_trait]
impl Provider for AnthropicProvider {
    fn format(&self) -> Format {
        self.endpoint.format()
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        self.endpoint.send(request, cancel).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        self.endpoint.count_tokens(request, cancel).await
    }
}

static MESSAGES: Dialect = Dialect {
    format: Format::Anthropic,
    path: "/v1/messages",
    counting: Some(("/v1/messages/count_tokens", body::count_body)),
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    body: body::body,
    whole: whole::whole,
    gather: || Box::new(stream::Stream::default()),
};

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" | "stop_sequence" => StopReason::EndOfTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
