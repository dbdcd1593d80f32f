//! Anthropic's Messages API.

mod body;
mod marks;
mod stream;
mod whole;

use super::Provider;
use super::answer::{Answer, StopReason};
use super::connection::Connection;
use super::dialect::{Dialect, Gather, Unreadable};
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
        Ok(Self { endpoint: Endpoint::new(Box::new(Anthropic), connection, key)? })
    }
}

#[async_trait::async_trait]
impl Provider for AnthropicProvider {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        self.endpoint.send(request, cancel).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        let counted = self.endpoint.count_tokens(request, cancel).await;
        counted.unwrap_or_else(|| Err(ProviderError::unsendable("this API does not count tokens".to_owned())))
    }
}

#[derive(Debug)]
struct Anthropic;

impl Dialect for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn count_path(&self) -> Option<&'static str> {
        Some("/v1/messages/count_tokens")
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, request: &Request<'_>) -> String {
        body::body(request)
    }

    fn count_body(&self, request: &Request<'_>) -> String {
        body::count_body(request)
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
        "end_turn" | "stop_sequence" => StopReason::EndOfTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_owned()),
    }
}
