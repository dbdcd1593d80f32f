//! OpenAI's Chat Completions API.

mod body;
mod call;
mod stream;
mod whole;

use super::dialect::Dialect;
use louver::Format;

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
