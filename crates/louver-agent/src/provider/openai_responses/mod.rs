//! OpenAI's Responses API.

mod body;
mod stream;
mod whole;

use super::answer::Answer;
use super::dialect::{Dialect, Gather, Unreadable};
use super::request::Request;
use louver::wire::Format;

/// Responses.
#[derive(Debug)]
pub(super) struct OpenAiResponses;

impl Dialect for OpenAiResponses {
    fn format(&self) -> Format {
        Format::OpenAiResponses
    }

    fn path(&self) -> &'static str {
        "/v1/responses"
    }

    fn count_path(&self) -> Option<&'static str> {
        Some("/v1/responses/input_tokens")
    }

    fn key_header(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn body(&self, request: &Request<'_>) -> String {
        body::body(request)
    }

    fn count_body(&self, request: &Request<'_>) -> String {
        body::count_body(request)
    }

    fn whole(&self, text: &str) -> Result<Answer, Unreadable> {
        whole::whole(text)
    }

    fn gather(&self) -> Box<dyn Gather> {
        Box::new(stream::Stream::default())
    }
}
