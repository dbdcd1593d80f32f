//! The Anthropic Messages API.

mod error;
mod judge;
mod prompt;
mod reply;
mod screen;
mod stream;
mod thinking;

use serde_json::json;

use crate::Format;
use crate::provider::Provider;

/// `POST /v1/messages`.
pub(crate) static ANTHROPIC: Provider = Provider {
    format: Format::Anthropic,
    screen: screen::screen,
    judge: judge::judge,
    verify: thinking::verify,
    prompt: prompt::read,
    shows_thinking: thinking::is_shown,
    whole: reply::whole,
    events: stream::events,
    count: |tokens| json!({"input_tokens": tokens}),
    error: error::reply,
    error_event: error::event,
};
