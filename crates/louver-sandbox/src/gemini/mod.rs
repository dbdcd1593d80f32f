//! The Gemini `generateContent` API.

mod error;
mod judge;
mod prompt;
mod reply;
mod screen;
mod signature;
mod stream;
mod usage;

use serde_json::{Value, json};

use crate::counter::Counter;
use crate::prompt::Prompt;
use crate::provider::{Provider, Reply, Request};
use crate::refusal::{ErrorReply, Refusal};
use crate::{Format, Violation};

pub(crate) use judge::judge;

/// `POST /v1beta/models/MODEL:generateContent`.
pub(crate) struct Gemini;

impl Provider for Gemini {
    fn format(&self) -> Format {
        Format::Gemini
    }

    fn screen(&self, request: &Request) -> Result<(), Refusal> {
        screen::screen(request)
    }

    fn verify(&self, request: &Request) -> Vec<Violation> {
        signature::verify(request)
    }

    fn prompt(&self, request: &Request, counter: &Counter) -> Prompt {
        prompt::read(request, counter)
    }

    fn shows_thinking(&self, _request: &Request) -> bool {
        true
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        reply::whole(reply)
    }

    fn events(&self, reply: &Reply<'_>) -> Vec<String> {
        stream::events(reply)
    }

    fn count(&self, tokens: u64) -> Value {
        json!({"totalTokens": tokens, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]})
    }

    fn error(&self, refusal: &Refusal, serial: u64) -> ErrorReply {
        error::reply(refusal, serial)
    }

    fn error_event(&self) -> String {
        error::event()
    }
}
