//! Sending to one upstream.

use crate::config::{Upstream, UpstreamUrl};
use crate::connector::{Connector, Traffic, is_untrusted};
use crate::limits::Limits;
use crate::model_request::{Mode, UpstreamName};
use crate::request_body::{RequestBody, UploadStalled};
use http::uri::{PathAndQuery, Scheme};
use http::{Extensions, HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::error::Error;
use std::time::Duration;

/// How long an idle connection is kept. Servers without TLS are mostly local ones, which close theirs after five seconds.
const POOL_IDLE_PLAIN: Duration = Duration::from_secs(4);
const POOL_IDLE_TLS: Duration = Duration::from_secs(30);

/// How many idle connections are kept.
const POOL_SIZE: usize = 128;

/// How often, and for how long, a connection with several streams is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// A configured upstream with its connections.
#[derive(Debug)]
pub(crate) struct UpstreamClient {
    pub(crate) name: UpstreamName,
    pub(crate) mode: Mode,
    url: UpstreamUrl,
    pooled: Client<Connector, RequestBody>,
    /// Makes a new connection for every request.
    fresh: Client<Connector, RequestBody>,
}

/// A request, ready to be sent to an upstream.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    /// What HTTP itself remembers of the client's request, such as how its headers were spelled.
    pub(crate) extensions: Extensions,
    pub(crate) body: RequestBody,
}

impl Outgoing {
    fn again(&self) -> Option<Self> {
        let Self { method, uri, headers, extensions, body } = self;
        Some(Self {
            method: method.clone(),
            uri: uri.clone(),
            headers: headers.clone(),
            extensions: extensions.clone(),
            body: body.again()?,
        })
    }

    fn into_request(self) -> Request<RequestBody> {
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.headers_mut() = self.headers;
        *request.extensions_mut() = self.extensions;
        request
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// No connection: nothing was sent.
    Unreachable,
    /// No connection: whoever answers there shows a certificate that nobody here trusts.
    Untrusted,
    /// The connection broke before the answer began.
    Broken,
    /// The upstream was silent for too long.
    Silent,
    /// The client stopped sending its body.
    UploadStalled,
}

impl NoAnswer {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Unreachable | Self::Untrusted | Self::Broken => StatusCode::BAD_GATEWAY,
            Self::Silent => StatusCode::GATEWAY_TIMEOUT,
            Self::UploadStalled => StatusCode::REQUEST_TIMEOUT,
        }
    }

    pub(crate) fn message(self, upstream: &UpstreamName) -> String {
        match self {
            Self::Unreachable => format!("the upstream {upstream} cannot be reached; `louver proxy --check` tries it"),
            Self::Untrusted => format!("the certificate of the upstream {upstream} is not trusted; nothing was sent"),
            Self::Broken => format!("the connection to the upstream {upstream} broke before it answered"),
            Self::Silent => format!("the upstream {upstream} did not answer in time"),
            Self::UploadStalled => "the request's body did not arrive in time".to_owned(),
        }
    }
}

impl UpstreamClient {
    pub(crate) fn new(name: UpstreamName, upstream: &Upstream, mode: Mode, connector: &Connector) -> Self {
        let is_plain = *upstream.url.scheme() == Scheme::HTTP;
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(if is_plain { POOL_IDLE_PLAIN } else { POOL_IDLE_TLS })
            .pool_max_idle_per_host(POOL_SIZE)
            .http1_preserve_header_case(true)
            .http2_adaptive_window(true)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PING);
        let pooled = builder.build(connector.clone());
        let fresh = builder.pool_max_idle_per_host(0).build(connector.clone());
        Self { name, mode: upstream.mode.unwrap_or(mode), url: upstream.url.clone(), pooled, fresh }
    }

    /// The address of a path at this upstream. Scheme and host are the configured ones, whatever the path looks like.
    pub(crate) fn uri(&self, path: &str, query: Option<&str>) -> Option<Uri> {
        let query = query.map_or_else(String::new, |query| format!("?{query}"));
        let text = format!("{}{path}{query}", self.url.base());
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.url.scheme().clone());
        parts.authority = Some(self.url.authority().clone());
        parts.path_and_query = Some(PathAndQuery::try_from(text).ok()?);
        Uri::from_parts(parts).ok()
    }

    /// Sends and waits for the head of the answer. A connection from the pool that turns out to be dead is replaced by a
    /// new one, once, if the body is in memory.
    pub(crate) async fn send(&self, outgoing: Outgoing, limits: &Limits) -> Result<Response<Incoming>, NoAnswer> {
        let patience = limits.first_byte.max(announced_patience(&outgoing.headers));
        let sending = async {
            let again = outgoing.again();
            match self.pooled.request(outgoing.into_request()).await {
                Ok(answer) => Ok(answer),
                Err(error) if is_dead_connection(&error) => match again {
                    Some(again) => {
                        tracing::debug!(upstream = %self.name, "a pooled connection was dead; a new one is made");
                        self.fresh.request(again.into_request()).await
                    }
                    None => Err(error),
                },
                Err(error) => Err(error),
            }
        };
        let answer = match tokio::time::timeout(patience, sending).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(no_answer(&error, &self.name)),
            Err(_) => return Err(NoAnswer::Silent),
        };
        if let Some(traffic) = answer.extensions().get::<Traffic>() {
            traffic.note_answer();
        }
        Ok(answer)
    }
}

/// How long the client says that it waits, and a little more, so that its own limit is the one that ends it.
fn announced_patience(headers: &HeaderMap) -> Duration {
    let seconds = headers.get("x-stainless-timeout").and_then(|value| value.to_str().ok()?.parse::<u32>().ok());
    seconds.map_or(Duration::ZERO, |seconds| Duration::from_secs(u64::from(seconds) + 10))
}

/// Whether a request failed because a connection that had served before was gone, and no byte of an answer came.
fn is_dead_connection(error: &ClientError) -> bool {
    let Some(connected) = error.connect_info() else { return false };
    let mut extras = Extensions::new();
    connected.get_extras(&mut extras);
    let Some(traffic) = extras.get::<Traffic>() else { return false };
    if connected.is_negotiated_h2() { traffic.has_served() && is_lost_connection(error) } else { traffic.was_dead() }
}

/// Whether a connection with several streams is gone, or has refused to take one more; not: one stream was reset.
fn is_lost_connection(error: &ClientError) -> bool {
    match cause::<h2::Error>(error) {
        Some(error) => error.is_go_away() || error.is_io() || error.reason() == Some(h2::Reason::REFUSED_STREAM),
        None => cause::<hyper::Error>(error).is_some_and(|error| error.is_canceled() || error.is_closed()),
    }
}

fn no_answer(error: &ClientError, name: &UpstreamName) -> NoAnswer {
    // The chain of causes has no address and no header, only what the network said.
    let because = causes(error).map(ToString::to_string).collect::<Vec<_>>().join(": ");
    tracing::warn!(upstream = %name, because, "no answer from the upstream");
    if is_untrusted(error) {
        NoAnswer::Untrusted
    } else if error.is_connect() {
        NoAnswer::Unreachable
    } else if cause::<UploadStalled>(error).is_some() {
        NoAnswer::UploadStalled
    } else {
        NoAnswer::Broken
    }
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| error.source())
}

fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    causes(error).find_map(|cause| cause.downcast_ref::<T>())
}
