//! The Gemini `generateContent` API.

mod error;
mod judge;
mod prompt;
mod reply;
mod screen;
mod signature;
mod stream;

use serde_json::json;

use crate::Format;
use crate::provider::Provider;

/// `POST /v1beta/models/MODEL:generateContent`.
pub(crate) static GEMINI: Provider = Provider {
    format: Format::Gemini,
    screen: screen::screen,
    judge: judge::judge,
    verify: signature::verify,
    prompt: prompt::read,
    shows_thinking: |_| true,
    whole: reply::whole,
    events: stream::events,
    count: |tokens| json!({"totalTokens": tokens, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]}),
    error: error::reply,
    error_event: error::event,
};
