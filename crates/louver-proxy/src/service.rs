//! Where a request is let in, and which way it takes.

use crate::access::{Access, Shown};
use crate::answer_body::{AnswerBody, Rest, Witness};
use crate::answers::{client_response, own_answer};
use crate::bind_error::BindError;
use crate::brain::Brain;
use crate::config::ProxyConfig;
use crate::connector::Connector;
use crate::ending::End;
use crate::exchange::Exchange;
use crate::headers::{self, BodyChange};
use crate::limits::Limits;
use crate::model_request::Reader;
use crate::own_error::OwnError;
use crate::pages::Pages;
use crate::received::Room;
use crate::request_body::RequestBody;
use crate::route::{ModelRoute, Route, route};
use crate::upstream::{Outgoing, UpstreamClient};
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use louver::Format;
use std::collections::HashMap;
use std::sync::Arc;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Service<B: Brain> {
    pub(crate) brain: Arc<B>,
    pub(crate) upstreams: HashMap<String, UpstreamClient>,
    pub(crate) access: Access,
    /// Whether requests need a token, because not only this machine can send them.
    pub(crate) needs_token: bool,
    pub(crate) pages: Pages,
    pub(crate) room: Room,
    pub(crate) limits: Limits,
}

/// A request that may go somewhere.
struct Admitted<'a> {
    upstream: &'a UpstreamClient,
    uri: http::Uri,
    model: Option<ModelRoute>,
    reader: Reader,
}

impl<B: Brain> Service<B> {
    /// What serves requests by these settings.
    pub(crate) fn new(config: ProxyConfig, brain: B, room: Room) -> Result<Self, BindError> {
        let needs_token = !config.listen.ip().is_loopback();
        if needs_token && config.access_tokens.is_empty() {
            return Err(BindError::NeedsToken(config.listen));
        }
        let connector = Connector::new(config.limits.connect, &config.extra_roots)?;
        let upstreams = config.upstreams.iter().map(|(name, upstream)| {
            let client = UpstreamClient::new(name.clone(), upstream, config.mode, &connector);
            (name.as_str().to_owned(), client)
        });
        Ok(Self {
            brain: Arc::new(brain),
            upstreams: upstreams.collect(),
            access: Access::new(config.access_tokens),
            needs_token,
            pages: Pages { hosts: config.page_hosts },
            room,
            limits: config.limits,
        })
    }

    /// Answers a request.
    pub(crate) async fn handle(&self, request: Request<Incoming>) -> Response<AnswerBody> {
        let path = request.uri().path().to_owned();
        let route = route(request.method(), &path, request.headers());
        if route == Route::Own {
            return self.pages.answer(&*self.brain, &self.access, self.needs_token, request).await;
        }
        let format = shape_of(&route, &path, request.headers());
        let Admitted { upstream, uri, model, reader } = match self.admit(&route, &request) {
            Ok(admitted) => admitted,
            Err(error) => return own_answer(&error, format),
        };
        match model {
            Some(model) => {
                let Self { brain, room, limits, .. } = self;
                Exchange { brain, upstream, uri, model, reader, room, limits }.run(request).await
            }
            None => self.pass(upstream, uri, request, format).await,
        }
    }

    /// Whether and where a request may go.
    fn admit(&self, route: &Route<'_>, request: &Request<Incoming>) -> Result<Admitted<'_>, OwnError> {
        let refuse = |status, message: &str| Err(OwnError::new(status, message));
        let reader = match self.access.by_header(request.headers()) {
            Shown::Token(reader) => reader,
            Shown::Nothing if !self.needs_token => Reader::LocalUser,
            Shown::Nothing => return refuse(StatusCode::UNAUTHORIZED, "the header x-louver-token is missing"),
            Shown::Wrong => return refuse(StatusCode::UNAUTHORIZED, "the access token in x-louver-token is unknown"),
        };
        if request.method() == Method::CONNECT {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "this is no forward proxy");
        }
        if is_websocket(request.headers()) {
            return refuse(StatusCode::UPGRADE_REQUIRED, "WebSockets are not supported here; use HTTP");
        }
        let (name, path, model) = match route {
            Route::Upstream { name, path, model } => (*name, *path, model),
            Route::Crooked => return refuse(StatusCode::BAD_REQUEST, "the path has segments that lead upwards"),
            Route::Nowhere | Route::Own => {
                return refuse(StatusCode::NOT_FOUND, "this path belongs to no upstream; use /up/NAME/…");
            }
        };
        let Some(upstream) = self.upstreams.get(name) else {
            let message = format!("no upstream `{name}` is configured");
            return Err(OwnError::new(StatusCode::NOT_FOUND, message));
        };
        let Some(uri) = upstream.uri(path, request.uri().query()) else {
            return refuse(StatusCode::BAD_REQUEST, "the path cannot be passed on");
        };
        Ok(Admitted { upstream, uri, model: model.clone(), reader })
    }

    /// A request without a history: passed on as it comes.
    async fn pass(
        &self,
        upstream: &UpstreamClient,
        uri: http::Uri,
        request: Request<Incoming>,
        format: Format,
    ) -> Response<AnswerBody> {
        let (parts, body) = request.into_parts();
        let method = parts.method.clone();
        let outgoing = Outgoing {
            method: parts.method,
            uri,
            headers: headers::to_upstream(&parts.headers, BodyChange::None),
            extensions: parts.extensions,
            body: RequestBody::passing(body, self.limits.upload_idle),
        };
        let answer = match upstream.send(outgoing, &self.limits).await {
            Ok(answer) => answer,
            Err(why) => return own_answer(&OwnError::new(why.status(), why.message(&upstream.name)), format),
        };
        let (answer, body) = answer.into_parts();
        let (path, status) = (parts.uri.path(), answer.status.as_u16());
        tracing::info!(target: "louver::passed", upstream = %upstream.name, %method, path, status, "passed");
        let rest = Rest::Incoming(body);
        let body = AnswerBody::passing(Vec::new(), rest, self.limits.upstream_idle, Box::new(Indifferent));
        client_response(answer, body)
    }
}

/// Sees what carries no history.
struct Indifferent;

impl Witness for Indifferent {
    fn see(&mut self, _bytes: &[u8]) {}

    fn end(self: Box<Self>, _end: End) {}
}

fn is_websocket(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::UPGRADE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|protocol| protocol.trim().eq_ignore_ascii_case("websocket"))
}

/// In whose shape errors of ours are.
fn shape_of(route: &Route<'_>, path: &str, headers: &HeaderMap) -> Format {
    match route {
        Route::Upstream { model: Some(model), .. } => model.format,
        Route::Upstream { name: "anthropic", .. } => Format::Anthropic,
        Route::Upstream { name: "gemini" | "vertex", .. } => Format::Gemini,
        _ if path.ends_with("/responses") => Format::OpenAiResponses,
        _ if headers.contains_key("anthropic-version") => Format::Anthropic,
        _ if headers.contains_key("x-goog-api-key") => Format::Gemini,
        _ => Format::OpenAiChat,
    }
}
