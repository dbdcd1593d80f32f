//! OpenAI's Responses API.

mod body;
mod stream;
mod whole;

use super::dialect::Dialect;
use louver::Format;

/// Responses.
pub(super) static RESPONSES: Dialect = Dialect {
    format: Format::OpenAiResponses,
    path: "/v1/responses",
    counting: Some(("/v1/responses/input_tokens", body::count_body)),
    key_header: ("authorization", "Bearer "),
    headers: &[],
    body: body::body,
    whole: whole::whole,
    gather: || Box::new(stream::Stream::default()),
};
