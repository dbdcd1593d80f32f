//! What each of the four APIs has to answer, so that one server can stand in for all of them.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::answer::Answer;
use crate::counter::Counter;
use crate::fingerprint::Fingerprint;
use crate::prompt::Prompt;
use crate::refusal::{ErrorReply, Refusal};
use crate::{Format, Violation};

/// A request whose key and JSON were accepted.
pub(crate) struct Request {
    pub(crate) key: String,
    pub(crate) model: String,
    pub(crate) body: Value,
    pub(crate) headers: HeaderMap,
    pub(crate) is_stream: bool,
    /// Whether only the tokens are asked for.
    pub(crate) is_count: bool,
}

impl Request {
    /// Prompts of different keys or models share no cache.
    pub(crate) fn cache_scope(&self) -> Fingerprint {
        Fingerprint::EMPTY.then_text(&self.key).then_text(&self.model)
    }

    /// Whether a header lists a value, as `anthropic-beta` does.
    pub(crate) fn header_lists(&self, name: &str, value: &str) -> bool {
        let lines = self.headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).any(|listed| listed.trim() == value)
    }
}

/// The tokens of one exchange. `input` is the whole prompt.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) read: u64,
    pub(crate) written_short: u64,
    pub(crate) written_long: u64,
    pub(crate) visible_output: u64,
    pub(crate) thinking: u64,
}

impl Usage {
    pub(crate) fn written(&self) -> u64 {
        self.written_short + self.written_long
    }

    pub(crate) fn output(&self) -> u64 {
        self.visible_output + self.thinking
    }
}

/// All that a format needs to dress an answer.
pub(crate) struct Reply<'a> {
    pub(crate) request: &'a Request,
    pub(crate) answer: &'a Answer,
    pub(crate) usage: Usage,
    /// Different for every answer of a server; ids are made of it.
    pub(crate) serial: u64,
    pub(crate) created: u64,
}

/// One provider's API.
pub(crate) trait Provider: Send + Sync {
    /// The format it speaks.
    fn format(&self) -> Format;

    /// Checks that the body has the fields and shapes that the API insists on.
    fn screen(&self, request: &Request) -> Result<(), Refusal>;

    /// Checks what only the issuer of an earlier answer can know: signatures and links between items.
    fn verify(&self, request: &Request) -> Vec<Violation>;

    /// Reads the request as blocks, tools and facts.
    fn prompt(&self, request: &Request, counter: &Counter) -> Prompt;

    /// Whether the answer may show thinking to this request.
    fn shows_thinking(&self, request: &Request) -> bool;

    /// The answer in one piece.
    fn whole(&self, reply: &Reply<'_>) -> Value;

    /// The answer as server-sent events, each a text that ends with an empty line.
    fn events(&self, reply: &Reply<'_>) -> Vec<String>;

    /// The answer of the counting endpoint.
    fn count(&self, tokens: u64) -> Value;

    /// The answer to a request that is refused.
    fn error(&self, refusal: &Refusal, serial: u64) -> ErrorReply;

    /// The event that reports an error within a stream.
    fn error_event(&self) -> String;
}
