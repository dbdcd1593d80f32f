//! A request with a history: received, decided about, sent, and sent again if it was refused.

use crate::answer_body::{AnswerBody, Witness};
use crate::answers::{client_response, fail, own_headers, refuse};
use crate::brain::{AfterRefusal, Brain, Decision, OwnRefusalKind, Refused};
use crate::closing::{Attempt, Closing};
use crate::ending::{End, Said};
use crate::examine::{Examined, examine};
use crate::headers::{self, BodyChange};
use crate::limits::Limits;
use crate::model_request::{Mode, ModelRequest, Reader};
use crate::outcome::Outcome;
use crate::own_error::OwnError;
use crate::received::{self, NotReceived, Received, Room};
use crate::request_body::RequestBody;
use crate::request_headers::RequestHeaders;
use crate::route::ModelRoute;
use crate::tee::Tee;
use crate::upstream::{NoAnswer, Outgoing, UpstreamClient};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

const MODE: &str = "x-louver-mode";

/// How often a refused request is sent once more.
const MAX_RESCUES: u8 = 2;

/// When to come back after a trouble of ours.
const RETRY_AFTER_SECONDS: u32 = 20;

/// Headers under which providers name a request.
const REQUEST_IDS: [&str; 2] = ["request-id", "x-request-id"];

/// What an exchange takes beside the request itself.
pub(crate) struct Exchange<'a, B: Brain> {
    pub(crate) brain: &'a Arc<B>,
    pub(crate) upstream: &'a UpstreamClient,
    pub(crate) uri: http::Uri,
    pub(crate) model: ModelRoute,
    pub(crate) reader: Reader,
    pub(crate) room: &'a Room,
    pub(crate) limits: &'a Limits,
}

impl<B: Brain> Exchange<'_, B> {
    /// From the client's request to the client's answer.
    pub(crate) async fn run(self, request: Request<Incoming>) -> Response<AnswerBody> {
        let Self { brain, upstream, uri, model, reader, room, limits } = self;
        let ModelRoute { format, purpose, model: path_model } = model;
        let (parts, body) = request.into_parts();
        let closing = Closing::new(Arc::clone(brain), upstream.name.clone(), format, purpose);
        let mode = match mode(upstream.mode, &parts.headers) {
            Ok(mode) => mode,
            Err(error) => return refuse(closing, format, &error, Outcome::None),
        };
        let received = match received::receive(body, &parts.headers, room, limits).await {
            Ok(received) => received,
            Err(why) => return refuse(closing, format, &not_received(why, limits), Outcome::None),
        };
        let way = Way { method: parts.method, uri, extensions: parts.extensions, raw: received.raw.clone() };
        let request = ModelRequest {
            upstream: upstream.name.clone(),
            format,
            path_model,
            purpose,
            mode,
            reader,
            headers: RequestHeaders::new(parts.headers),
            body: received.text.as_ref().map(|text| text.bytes.clone()).unwrap_or_default(),
            text: received.text.as_ref().and_then(|text| text.utf8.clone()),
        };
        Trip { upstream, limits, way, request, closing }.run(received).await
    }
}

/// What stays the same over all attempts of a request.
struct Way {
    method: Method,
    uri: http::Uri,
    extensions: http::Extensions,
    raw: Bytes,
}

/// A model request on its way, as often as it takes.
struct Trip<'a, B: Brain> {
    upstream: &'a UpstreamClient,
    limits: &'a Limits,
    way: Way,
    request: ModelRequest,
    closing: Closing<B>,
}

impl<B: Brain> Trip<'_, B> {
    async fn run(mut self, received: Received) -> Response<AnswerBody> {
        let format = self.request.format;
        let mut attempt = match self.first_attempt(received.text.is_some()).await {
            Ok(attempt) => attempt,
            Err((error, outcome)) => return refuse(self.closing, format, &error, outcome),
        };
        loop {
            self.closing.set_outcome(attempt.outcome);
            let examined = match self.send(attempt).await {
                Ok(examined) => examined,
                Err(why) => {
                    let was_sent = !matches!(why, NoAnswer::Unreachable | NoAnswer::Untrusted);
                    let outcome = if was_sent { self.closing.outcome() } else { Outcome::None };
                    let error = OwnError::new(why.status(), why.message(&self.upstream.name));
                    return fail(self.closing, format, &error, outcome);
                }
            };
            let Some(refusal) = examined.refusal else { return self.show(examined).await };
            let attempts = self.closing.rescues() + 1;
            let refused = Refused { refusal, status: examined.parts.status, attempt: attempts };
            match self.after(refused).await {
                Some(next) => attempt = next,
                None => {
                    self.closing.set_outcome(Outcome::Refused);
                    return self.into_answer(examined);
                }
            }
        }
    }

    /// What the brain wants sent. A body that nobody can read is sent as it is, and the brain is not asked.
    async fn first_attempt(&mut self, is_readable: bool) -> Result<Attempt, (OwnError, Outcome)> {
        if !is_readable {
            tracing::warn!(upstream = %self.upstream.name, "a request's body cannot be decoded and passes as it is");
            return Ok(Attempt { body: None, outcome: Outcome::Passed, holds_leading_events: false });
        }
        let brain = Arc::clone(self.closing.brain());
        match AssertUnwindSafe(brain.decide(&self.request)).catch_unwind().await {
            Ok(Decision::Send(decided)) => Ok(self.closing.attempt(decided)),
            Ok(Decision::Refuse(refusal)) => {
                let outcome = match refusal.kind {
                    OwnRefusalKind::PromptTooLong => Outcome::Refused,
                    OwnRefusalKind::Unavailable { .. } => Outcome::None,
                };
                Err((refusal.into(), outcome))
            }
            Err(_) => Err((panicked(), Outcome::None)),
        }
    }

    async fn send(&mut self, attempt: Attempt) -> Result<Examined, NoAnswer> {
        let change = if attempt.body.is_some() { BodyChange::Replaced } else { BodyChange::None };
        let outgoing = Outgoing {
            method: self.way.method.clone(),
            uri: self.way.uri.clone(),
            headers: headers::to_upstream(self.request.headers.raw(), change),
            extensions: self.way.extensions.clone(),
            body: RequestBody::whole(attempt.body.unwrap_or_else(|| self.way.raw.clone())),
        };
        let limits = self.limits;
        let answer = self.upstream.send(outgoing, limits).await?;
        Ok(examine(answer, self.request.format, attempt.holds_leading_events, limits).await)
    }

    /// What to send after a refusal; `None` passes it on.
    async fn after(&mut self, refused: Refused) -> Option<Attempt> {
        let ticket = self.closing.ticket().take()?;
        if self.closing.rescues() >= MAX_RESCUES {
            *self.closing.ticket() = Some(ticket);
            return None;
        }
        let brain = Arc::clone(self.closing.brain());
        let asked = AssertUnwindSafe(brain.refused(&self.request, ticket, refused)).catch_unwind().await;
        match asked {
            Ok(AfterRefusal::Again(decided)) => {
                tracing::info!(upstream = %self.upstream.name, refusal = ?refused.refusal, "a refused request is sent again");
                self.closing.note_rescue();
                Some(self.closing.attempt(decided))
            }
            Ok(AfterRefusal::Pass(ticket)) => {
                *self.closing.ticket() = Some(ticket);
                None
            }
            Err(_) => {
                tracing::error!("deciding about a refusal panicked; it is passed on");
                None
            }
        }
    }

    async fn show(mut self, examined: Examined) -> Response<AnswerBody> {
        let brain = Arc::clone(self.closing.brain());
        let status = examined.parts.status;
        let marked = match self.closing.ticket() {
            Some(ticket) => AssertUnwindSafe(brain.before_first_byte(ticket, status)).catch_unwind().await,
            None => Ok(Ok(())),
        };
        let error = match marked {
            Ok(Ok(())) => return self.into_answer(examined),
            Ok(Err(refusal)) => refusal.into(),
            Err(_) => panicked(),
        };
        let outcome = self.closing.outcome();
        refuse(self.closing, self.request.format, &error, outcome)
    }

    /// The provider's answer. The request is let go; nothing is sent again from here.
    fn into_answer(self, examined: Examined) -> Response<AnswerBody> {
        let Self { limits, mut closing, .. } = self;
        let Examined { parts, held, rest, tee, .. } = examined;
        closing.note_first_byte(parts.status);
        let request_id = REQUEST_IDS.iter().find_map(|name| parts.headers.get(*name)?.to_str().ok()).map(str::to_owned);
        let own = own_headers(&closing);
        let witness = Box::new(Account { closing, tee, request_id });
        let body = AnswerBody::passing(held, rest, limits.upstream_idle, witness);
        let mut response = client_response(parts, body);
        response.headers_mut().extend(own);
        response
    }
}

/// Reads along a model's answer.
struct Account<B: Brain> {
    closing: Closing<B>,
    tee: Tee,
    request_id: Option<String>,
}

impl<B: Brain> Witness for Account<B> {
    fn see(&mut self, bytes: &[u8]) {
        self.tee.push(bytes);
    }

    fn end(self: Box<Self>, end: End) {
        let said = Said { request_id: self.request_id, ..self.tee.finish() };
        self.closing.end(end, said);
    }
}

/// The mode that a request asks for, else the upstream's.
fn mode(upstream: Mode, headers: &HeaderMap) -> Result<Mode, OwnError> {
    let Some(value) = headers.get(MODE) else { return Ok(upstream) };
    let wrong = || OwnError::new(StatusCode::BAD_REQUEST, "x-louver-mode is keep, observe, rescue or off");
    value.to_str().ok().and_then(|name| name.parse().ok()).ok_or_else(wrong)
}

fn not_received(why: NotReceived, limits: &Limits) -> OwnError {
    match why {
        NotReceived::TooLarge => {
            let message = format!("the request is larger than {} bytes", limits.max_body_bytes);
            OwnError::new(StatusCode::PAYLOAD_TOO_LARGE, message)
        }
        NotReceived::Slow => OwnError::new(StatusCode::REQUEST_TIMEOUT, "the request's body did not arrive in time"),
        NotReceived::NoRoom => OwnError::unavailable("too many large requests at once", RETRY_AFTER_SECONDS),
        NotReceived::Gone => OwnError::new(StatusCode::BAD_REQUEST, "the request's body broke off"),
    }
}

fn panicked() -> OwnError {
    tracing::error!("deciding about a request panicked");
    OwnError::unavailable("this request could not be decided about", RETRY_AFTER_SECONDS)
}
