//! The Anthropic Messages API.

mod error;
mod judge;
mod prompt;
mod reply;
mod screen;
mod stream;
mod thinking;
mod usage;

use serde_json::{Value, json};

use crate::counter::Counter;
use crate::prompt::Prompt;
use crate::provider::{Provider, Reply, Request};
use crate::refusal::{ErrorReply, Refusal};
use crate::{Format, Violation};

pub(crate) use judge::judge;

/// `POST /v1/messages`.
pub(crate) struct Anthropic;

impl Provider for Anthropic {
    fn format(&self) -> Format {
        Format::Anthropic
    }

    fn screen(&self, request: &Request) -> Result<(), Refusal> {
        screen::screen(request)
    }

    fn verify(&self, request: &Request) -> Vec<Violation> {
        thinking::verify(request)
    }

    fn prompt(&self, request: &Request, counter: &Counter) -> Prompt {
        prompt::read(request, counter)
    }

    fn shows_thinking(&self, request: &Request) -> bool {
        thinking::is_shown(request)
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        reply::whole(reply)
    }

    fn events(&self, reply: &Reply<'_>) -> Vec<String> {
        stream::events(reply)
    }

    fn count(&self, tokens: u64) -> Value {
        json!({"input_tokens": tokens})
    }

    fn error(&self, refusal: &Refusal, serial: u64) -> ErrorReply {
        error::reply(refusal, serial)
    }

    fn error_event(&self) -> String {
        error::event()
    }
}
