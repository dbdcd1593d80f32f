//! What each of the four APIs has to answer, so that one server can stand in for all of them.

use axum::http::HeaderMap;
use serde_json::Value;

use crate::answer::Answer;
use crate::body::is_missing;
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

    /// Refuses a body that lacks one of these fields.
    pub(crate) fn require(&self, fields: &[&'static str]) -> Result<(), Refusal> {
        match fields.iter().find(|field| is_missing(&self.body, field)) {
            Some(field) => Err(Refusal::MissingField { field }),
            None => Ok(()),
        }
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

/// One provider's API, as a table of what it does.
pub(crate) struct Provider {
    /// The format it speaks.
    pub(crate) format: Format,
    /// Checks that the body has the fields and shapes that the API insists on.
    pub(crate) screen: fn(&Request) -> Result<(), Refusal>,
    /// Names every history rule that a body breaks.
    pub(crate) judge: fn(&Value) -> Vec<Violation>,
    /// Checks what only the issuer of an earlier answer can know: signatures and links between items.
    pub(crate) verify: fn(&Request) -> Vec<Violation>,
    /// Reads the request as blocks, tools and facts.
    pub(crate) prompt: fn(&Request, &Counter) -> Prompt,
    /// Whether the answer may show thinking to this request.
    pub(crate) shows_thinking: fn(&Request) -> bool,
    /// The answer in one piece.
    pub(crate) whole: fn(&Reply<'_>) -> Value,
    /// The answer as server-sent events, each a text that ends with an empty line.
    pub(crate) events: fn(&Reply<'_>) -> Vec<String>,
    /// The answer of the counting endpoint.
    pub(crate) count: fn(u64) -> Value,
    /// The answer to a request that is refused, with a serial of its own.
    pub(crate) error: fn(&Refusal, u64) -> ErrorReply,
    /// The event that reports an error within a stream.
    pub(crate) error_event: fn() -> String,
}
