//! The OpenAI Chat Completions API.

mod error;
mod judge;
mod prompt;
mod reply;
mod screen;
mod stream;

use serde_json::json;

use crate::Format;
use crate::provider::Provider;

/// `POST /v1/chat/completions`.
pub(crate) static OPENAI_CHAT: Provider = Provider {
    format: Format::OpenAiChat,
    screen: screen::screen,
    judge: judge::judge,
    verify: |_| Vec::new(),
    prompt: prompt::read,
    shows_thinking: |_| true,
    whole: reply::whole,
    events: stream::events,
    count: |tokens| json!({"input_tokens": tokens}),
    error: error::reply,
    error_event: error::event,
};
