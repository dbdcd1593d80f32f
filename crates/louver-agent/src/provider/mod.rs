//! The clients of the model APIs.
//!
//! One [`HttpProvider`] speaks to all of them; what differs between wire formats is a private table with a folder per
//! format and the same file names in each: `body.rs` writes a request, `whole.rs` reads an answer in one piece,
//! `stream.rs` gathers one from events. Sending, waiting and trying again is the same for all and stands in
//! `http_provider.rs`.

mod answer;
mod anthropic;
mod call_ids;
mod connection;
mod dialect;
mod error;
mod http_provider;
mod openai_chat;
mod openai_responses;
mod request;
mod retry;
mod web_page;

pub(crate) use answer::calls_of;
pub use answer::{Answer, StopReason, ToolCall};
pub(crate) use call_ids::call_ids;
pub use connection::{Connection, ProxyChoice};
pub use error::{Category, ProviderError};
pub use http_provider::HttpProvider;
pub use request::Request;
pub use retry::{Jitter, RetryPolicy};

use louver::Format;
pub use louver::refusal::OverflowFigures;
use tokio_util::sync::CancellationToken;

/// A model API.
///
/// It is chosen by configuration, so it is used as `dyn Provider` and its futures are boxed.
#[async_trait::async_trait]
pub trait Provider: std::fmt::Debug + Send + Sync {
    /// The wire format of its messages.
    fn format(&self) -> Format;

    /// Sends a request and waits for the whole answer. What can be tried again has been when this fails; a broken
    /// stream counts, because nothing of it was used.
    ///
    /// # Errors
    ///
    /// See [`ProviderError`].
    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError>;

    /// How many tokens the prompt of a request has, as the provider counts; where it has no endpoint for that, as the
    /// engine does.
    ///
    /// # Errors
    ///
    /// See [`ProviderError`].
    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError>;
}
