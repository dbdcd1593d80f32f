//! OpenAI's API, in either of its two formats.

use super::Provider;
use super::answer::Answer;
use super::connection::Connection;
use super::endpoint::Endpoint;
use super::error::ProviderError;
use super::openai_chat::OpenAiChat;
use super::openai_responses::OpenAiResponses;
use super::request::Request;
use crate::api_key::ApiKey;
use louver::catalog::Catalog;
use louver::count::count_message;
use louver::tokens::{CounterChoice, Millitokens};
use louver::wire::{Format, Message};
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
        Ok(Self { endpoint: Endpoint::new(Box::new(OpenAiChat), connection, key)? })
    }

    /// Responses, with nothing kept by the provider: the history is the client's.
    ///
    /// # Errors
    ///
    /// A connection that cannot be set up.
    pub fn responses(connection: Connection, key: ApiKey) -> Result<Self, ProviderError> {
        Ok(Self { endpoint: Endpoint::new(Box::new(OpenAiResponses), connection, key)? })
    }
}

#[async_trait::async_trait]
impl Provider for OpenAiProvider {
    fn format(&self) -> Format {
        self.endpoint.dialect().format()
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        self.endpoint.send(request, cancel).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        match self.endpoint.count_tokens(request, cancel).await {
            Some(counted) => counted,
            None => Ok(own_count(self.format(), request)),
        }
    }
}

/// The engine's count: Chat Completions has no endpoint for it.
fn own_count(format: Format, request: &Request<'_>) -> u64 {
    let found = Catalog::builtin().find(request.model);
    let counter = CounterChoice::Auto.resolve(found.as_ref().map(|found| &*found.model));
    let messages = request.messages.iter().filter_map(|raw| Message::parse(format, raw).ok());
    let history: Millitokens = messages.map(|message| count_message(&*counter, &message)).sum();
    let system = request.system.map_or(Millitokens::ZERO, |text| counter.text(text));
    let tools: Millitokens = request.tools.iter().map(|tool| crate::overhead::count_tool(&*counter, tool)).sum();
    (history + system + tools).ceil_tokens()
}
