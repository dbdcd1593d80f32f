//! The OpenAI Responses API.

mod error;
mod judge;
mod links;
mod memory;
mod prompt;
mod reply;
mod screen;
mod stream;
mod usage;

use serde_json::{Value, json};

use crate::counter::Counter;
use crate::prompt::Prompt;
use crate::provider::{Provider, Reply, Request};
use crate::refusal::{ErrorReply, Refusal};
use crate::{Format, Violation};

pub(crate) use judge::judge;
pub(crate) use memory::Memory;

/// `POST /v1/responses`.
pub(crate) struct OpenAiResponses;

impl Provider for OpenAiResponses {
    fn format(&self) -> Format {
        Format::OpenAiResponses
    }

    fn screen(&self, request: &Request) -> Result<(), Refusal> {
        screen::screen(request)
    }

    fn verify(&self, request: &Request) -> Vec<Violation> {
        links::verify(request)
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
        json!({"object": "response.input_tokens", "input_tokens": tokens})
    }

    fn error(&self, refusal: &Refusal, serial: u64) -> ErrorReply {
        error::reply(refusal, serial)
    }

    fn error_event(&self) -> String {
        error::event()
    }
}
