//! Answers on their way to the client: the upstream's, and ours.

use crate::answer_body::AnswerBody;
use crate::brain::Brain;
use crate::closing::Closing;
use crate::ending::End;
use crate::headers;
use crate::outcome::Outcome;
use crate::own_error::OwnError;
use http::{HeaderMap, HeaderName, HeaderValue, Response, Version};
use louver::Format;

const OUTCOME: HeaderName = HeaderName::from_static("x-louver-outcome");
const CONVERSATION: HeaderName = HeaderName::from_static("x-louver-conversation");
const PARENT: HeaderName = HeaderName::from_static("x-louver-parent");
const TOKENS: HeaderName = HeaderName::from_static("x-louver-tokens");

/// Ends a model request with an answer of ours.
pub(crate) fn refuse<B: Brain>(
    closing: Closing<B>,
    format: Format,
    error: &OwnError,
    outcome: Outcome,
) -> Response<AnswerBody> {
    ended(closing, format, error, outcome, End::Own)
}

/// Ends a model request for which the upstream had no answer.
pub(crate) fn fail<B: Brain>(
    closing: Closing<B>,
    format: Format,
    error: &OwnError,
    outcome: Outcome,
) -> Response<AnswerBody> {
    ended(closing, format, error, outcome, End::UpstreamFailed)
}

fn ended<B: Brain>(
    mut closing: Closing<B>,
    format: Format,
    error: &OwnError,
    outcome: Outcome,
    end: End,
) -> Response<AnswerBody> {
    closing.set_outcome(outcome);
    let mut response = own_answer(error, format);
    response.headers_mut().extend(own_headers(&closing));
    closing.end_with(error.status, outcome, end);
    response
}

pub(crate) fn own_answer(error: &OwnError, format: Format) -> Response<AnswerBody> {
    error.answer(format).map(AnswerBody::Own)
}

/// What we say about a model request in its answer.
pub(crate) fn own_headers<B: Brain>(closing: &Closing<B>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut say = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    say(OUTCOME, closing.outcome().name());
    if let Some(conversation) = closing.conversation() {
        say(CONVERSATION, &conversation.id);
        if let Some(parent) = &conversation.parent {
            say(PARENT, parent);
        }
    }
    if let Some(tokens) = closing.tokens() {
        say(TOKENS, &format!("~{}/~{}", tokens.sent, tokens.held));
    }
    headers
}

/// An upstream's answer as it goes to the client.
pub(crate) fn client_response(mut parts: http::response::Parts, body: AnswerBody) -> Response<AnswerBody> {
    parts.headers = headers::to_client(&parts.headers);
    parts.version = Version::HTTP_11;
    Response::from_parts(parts, body)
}
