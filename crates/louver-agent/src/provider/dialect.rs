//! What differs between the APIs.

use super::{Answer, ProviderError, Request};
use louver::Format;
use louver::sse::SseEvent;

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

/// Writes a request's body.
pub(crate) type WriteBody = fn(&Request<'_>) -> String;

/// One API: where requests go and how they and their answers are written. Pure.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) format: Format,
    /// Where requests go, behind the base URL.
    pub(crate) path: &'static str,
    /// Where requests go to be counted, and how they are written for that, if the API does it.
    pub(crate) counting: Option<(&'static str, WriteBody)>,
    /// The header that carries the key, and what stands before the key in it.
    pub(crate) key_header: (&'static str, &'static str),
    /// Headers that every request has.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: WriteBody,
    /// Reads an answer in one piece.
    pub(crate) whole: fn(&str) -> Result<Answer, Unreadable>,
    /// Gathers an answer from events.
    pub(crate) gather: fn() -> Box<dyn Gather>,
}

/// An answer that arrives in events.
pub(crate) trait Gather: Send {
    /// Takes the next event; whether it was the last.
    fn event(&mut self, event: &SseEvent) -> Result<bool, Unreadable>;

    /// The answer, once the last event came.
    fn finish(self: Box<Self>) -> Result<Answer, Unreadable>;
}
