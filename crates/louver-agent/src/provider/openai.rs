//! OpenAI's API, in either of its two formats.

use super::Provider;
use super::answer::Answer;
use super::connection::Connection;
use super::endpoint::Endpoint;
use super::error::ProviderError;
use super::openai_chat::CHAT;
use super::openai_responses::RESPONSES;
use super::request::Request;
use crate::api_key::ApiKey;
use louver::wire::Format;
use tokio_util::sync::CancellationToken;

/// OpenAI's API: Chat Completions, which others speak, too, or Responses.
#[derive(Debug)]
pub struct OpenAiProvider {
    endpoint: Endpoint,
}

impl OpenAiProvider {
    /// Where the API is.
    pub const BASE_URL: &'static str = "https://api.openai.com";

    /// Chat Completions.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn chat(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Ok(Self { endpoint: Endpoint::new(&CHAT, connection, key)? })
    }

    /// Responses, with nothing kept by the provider: the history is the client's.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn responses(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Ok(Self { endpoint: Endpoint::new(&RESPONSES, connection, key)? })
    }
}

#[async_trait::async_trait]
impl Provider for OpenAiProvider {
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
