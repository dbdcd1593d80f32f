//! The OpenAI Responses API.

mod error;
mod judge;
mod links;
mod memory;
mod prompt;
mod reply;
mod screen;
mod stream;

use serde_json::json;

use crate::Format;
use crate::provider::Provider;

pub(crate) use memory::Memory;

/// `POST /v1/responses`.
pub(crate) static OPENAI_RESPONSES: Provider = Provider {
    format: Format::OpenAiResponses,
    screen: screen::screen,
    judge: judge::judge,
    verify: links::verify,
    prompt: prompt::read,
    shows_thinking: |_| true,
    whole: reply::whole,
    events: stream::events,
    count: |tokens| json!({"object": "response.input_tokens", "input_tokens": tokens}),
    error: error::reply,
    error_event: error::event,
};
