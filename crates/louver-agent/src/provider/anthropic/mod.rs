//! Anthropic's Messages API.

mod body;
mod marks;
mod stream;
mod whole;

use super::dialect::Dialect;
use louver::Format;

pub(super) static MESSAGES: Dialect = Dialect {
    format: Format::Anthropic,
    path: "/v1/messages",
    counting: Some(("/v1/messages/count_tokens", body::count_body)),
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    body: body::body,
    whole: whole::whole,
    gather: || Box::new(stream::Stream::default()),
};
