//! What differs between the APIs.

use super::answer::Answer;
use super::error::ProviderError;
use super::request::Request;
use louver::sse::SseEvent;
use louver::wire::Format;

/// Why an answer could not be read.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The stream broke off or makes no sense; a second try may bring a good one.
    Broken(String),
    /// The provider said so within the stream.
    Failed(ProviderError),
}

impl From<serde_json::Error> for Unreadable {
    fn from(error: serde_json::Error) -> Self {
        Self::Broken(format!("the answer is not the JSON it should be: {error}"))
    }
}

impl From<louver::json::JsonError> for Unreadable {
    fn from(error: louver::json::JsonError) -> Self {
        Self::Broken(format!("the answer is no message of the format: {error}"))
    }
}

/// One API: where requests go and how they and their answers are written. Pure.
pub(crate) trait Dialect: std::fmt::Debug + Send + Sync {
    fn format(&self) -> Format;

    /// Where requests go, behind the base URL.
    fn path(&self) -> &'static str;

    /// Where requests go to be counted, if the API does that.
    fn count_path(&self) -> Option<&'static str>;

    /// The header that carries the key, and its value.
    fn key_header(&self, key: &str) -> (&'static str, String);

    /// Headers that every request has.
    fn headers(&self) -> &'static [(&'static str, &'static str)];

    fn body(&self, request: &Request<'_>) -> String;

    fn count_body(&self, request: &Request<'_>) -> String;

    /// Reads an answer in one piece.
    fn whole(&self, text: &str) -> Result<Answer, Unreadable>;

    /// Gathers an answer from events.
    fn gather(&self) -> Box<dyn Gather>;
}

/// An answer that arrives in events.
pub(crate) trait Gather: Send {
    /// Takes the next event; whether it was the last.
    fn event(&mut self, event: &SseEvent) -> Result<bool, Unreadable>;

    /// The answer, once the last event came.
    fn finish(self: Box<Self>) -> Result<Answer, Unreadable>;
}
