//! Routes, keys and bodies: the way from a socket to an exchange and back.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Path, Request as HttpRequest, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};

use crate::anthropic::ANTHROPIC;
use crate::connection::Line;
use crate::exchange::{Exchange, Incoming, Outcome, check_key};
use crate::gemini::GEMINI;
use crate::openai_chat::OPENAI_CHAT;
use crate::openai_responses::OPENAI_RESPONSES;
use crate::outgoing::{self, Lease};
use crate::provider::Provider;
use crate::refusal::{ErrorReply, Refusal};
use crate::{Format, guard, listing};

const REQUEST_ID: &str = "request-id";

/// What all connections share.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) permits: Arc<Semaphore>,
    pub(crate) stopping: watch::Receiver<bool>,
    pub(crate) max_body_bytes: usize,
    pub(crate) read_timeout: Duration,
}

pub(crate) fn router(server: Server) -> Router {
    let answered = |provider: &'static Provider, is_count: bool| {
        post(move |State(server): State<Server>, request: HttpRequest| {
            server.handle(provider, Aim { is_count, ..Aim::default() }, request)
        })
    };
    Router::new()
        .route("/v1/messages", answered(&ANTHROPIC, false))
        .route("/v1/messages/count_tokens", answered(&ANTHROPIC, true))
        .route("/v1/chat/completions", answered(&OPENAI_CHAT, false))
        .route("/v1/responses", answered(&OPENAI_RESPONSES, false))
        .route("/v1/responses/input_tokens", answered(&OPENAI_RESPONSES, true))
        .route("/v1/models", get(list_models))
        // Google's own SDKs leave the `beta` out.
        .route("/v1/models/{action}", post(gemini).get(one_model))
        .route("/v1beta/models", get(list_models))
        .route("/v1beta/models/{action}", post(gemini).get(one_model))
        .route("/_sandbox/journal", get(journal))
        .method_not_allowed_fallback(unknown)
        .fallback(unknown)
        .layer(middleware::from_fn_with_state(server.clone(), admit))
        .with_state(server)
}

/// Lets requests to this machine pass, and notes that their head is here.
async fn admit(State(server): State<Server>, request: HttpRequest, next: Next) -> Response {
    let line = line(&request);
    line.heads.arrived();
    let response = match guard::is_local(request.headers()) {
        true => next.run(request).await,
        false => server.error(&(provider_of(&request).error)(&Refusal::ForeignHost, server.exchange.next_serial())),
    };
    line.heads.request_read();
    response
}

fn line(request: &HttpRequest) -> Line {
    request.extensions().get::<ConnectInfo<Line>>().map(|info| info.0.clone()).unwrap_or_default()
}

/// What the path says about a request.
#[derive(Default)]
struct Aim {
    model: Option<String>,
    is_stream: Option<bool>,
    is_count: bool,
    /// Whether the answer is one element of an array, as a Gemini stream without `alt=sse` is.
    is_array: bool,
}

async fn gemini(State(server): State<Server>, Path(action): Path<String>, request: HttpRequest) -> Response {
    let (model, verb) = action.rsplit_once(':').unwrap_or((&action, ""));
    let model = Some(model.to_owned());
    let is_sse = request.uri().query().is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
    let whole = Aim { model, is_stream: Some(false), ..Aim::default() };
    let aim = match verb {
        "generateContent" => whole,
        "streamGenerateContent" => Aim { is_stream: Some(is_sse), is_array: !is_sse, ..whole },
        "countTokens" => Aim { is_count: true, ..whole },
        _ => return unknown(State(server), request).await,
    };
    server.handle(&GEMINI, aim, request).await
}

async fn list_models(State(server): State<Server>, request: HttpRequest) -> Response {
    let provider = provider_of(&request);
    server.list(provider, &request, Ok(listing::all(provider.format)))
}

async fn one_model(State(server): State<Server>, Path(id): Path<String>, request: HttpRequest) -> Response {
    let provider = provider_of(&request);
    let model = listing::one(provider.format, &id).ok_or(Refusal::UnknownModel { model: id });
    server.list(provider, &request, model)
}

async fn journal(State(server): State<Server>) -> Response {
    json_response(StatusCode::OK, &json!(server.exchange.journal()))
}

async fn unknown(State(server): State<Server>, request: HttpRequest) -> Response {
    let refusal = Refusal::UnknownPath { method: request.method().to_string(), path: request.uri().path().to_owned() };
    server.error(&(provider_of(&request).error)(&refusal, server.exchange.next_serial()))
}

/// Whose words an answer is in, where the path alone does not say it.
fn provider_of(request: &HttpRequest) -> &'static Provider {
    let path = request.uri().path();
    let headers = request.headers();
    if path.starts_with("/v1beta") {
        &GEMINI
    } else if path.starts_with("/v1/messages") || headers.contains_key("anthropic-version") {
        &ANTHROPIC
    } else if path.starts_with("/v1/responses") {
        &OPENAI_RESPONSES
    } else {
        &OPENAI_CHAT
    }
}

impl Server {
    /// Answers a request and gives the answer the id under which both providers' clients report it.
    async fn handle(self, provider: &Provider, aim: Aim, request: HttpRequest) -> Response {
        let id = format!("req_sbx{:016}", self.exchange.next_serial());
        let mut response = self.respond(provider, aim, request).await;
        if !response.headers().contains_key(REQUEST_ID) {
            identify(&mut response, &id);
        }
        response
    }

    async fn respond(self, provider: &Provider, aim: Aim, request: HttpRequest) -> Response {
        let path = request.uri().path().to_owned();
        let key = key(provider.format, request.headers(), request.uri().query());
        let Line { reset, .. } = line(&request);
        let (parts, body) = request.into_parts();
        let body = match tokio::time::timeout(self.read_timeout, to_bytes(body, self.max_body_bytes)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) => return self.refuse(provider, &path, &Refusal::TooLarge { limit: self.max_body_bytes }),
            Err(_) => return self.refuse(provider, &path, &Refusal::TooSlow),
        };
        // Only now: whoever does not send the rest of a body takes nobody's place.
        let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
            return self.refuse(provider, &path, &Refusal::Overloaded);
        };
        let incoming = Incoming {
            path,
            headers: parts.headers,
            key,
            body: body.to_vec(),
            model: aim.model,
            is_stream: aim.is_stream,
            is_count: aim.is_count,
        };
        let lease = Lease { _permit: permit, stopping: self.stopping.clone(), reset };
        match self.exchange.answer(provider, incoming) {
            Outcome::Error(error) => self.error(&error),
            Outcome::Whole(body, fault) => {
                let body = if aim.is_array { json!([body]) } else { body };
                response(StatusCode::OK, "application/json", outgoing::whole(&body.to_string(), fault, lease))
            }
            Outcome::Events { events, error_event, fault } => {
                let body = outgoing::events(events, error_event, fault, lease);
                response(StatusCode::OK, "text/event-stream; charset=utf-8", body)
            }
        }
    }

    /// A listing, for whoever has a key.
    fn list(&self, provider: &Provider, request: &HttpRequest, list: Result<Value, Refusal>) -> Response {
        let key = key(provider.format, request.headers(), request.uri().query());
        let listed = check_key(key).and(list);
        match listed {
            Ok(list) => json_response(StatusCode::OK, &list),
            Err(refusal) => self.error(&(provider.error)(&refusal, self.exchange.next_serial())),
        }
    }

    fn refuse(&self, provider: &Provider, path: &str, refusal: &Refusal) -> Response {
        self.error(&self.exchange.refuse(provider, path, refusal))
    }

    fn error(&self, error: &ErrorReply) -> Response {
        let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = json_response(status, &error.body);
        if let Some(id) = error.body["request_id"].as_str() {
            identify(&mut response, id);
        }
        if let Some(seconds) = error.retry_after_seconds {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Puts a request's id where Anthropic's and OpenAI's clients look for it.
fn identify(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id.clone());
        response.headers_mut().insert("x-request-id", id);
    }
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    response(status, "application/json", Body::from(body.to_string()))
}

fn response(status: StatusCode, content_type: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The API key, from wherever the API carries it.
fn key(format: Format, headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bearer = || {
        let line = headers.get(AUTHORIZATION)?.to_str().ok()?;
        line.strip_prefix("Bearer ").map(|key| key.trim().to_owned())
    };
    match format {
        Format::Anthropic => header("x-api-key").or_else(bearer),
        Format::OpenAiChat | Format::OpenAiResponses => bearer(),
        Format::Gemini => header("x-goog-api-key").or_else(|| query_key(query)).or_else(bearer),
    }
}

fn query_key(query: Option<&str>) -> Option<String> {
    query?.split('&').find_map(|pair| pair.strip_prefix("key=")).map(str::to_owned)
}
