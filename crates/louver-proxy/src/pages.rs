//! What the proxy serves of its own, under `/louver/`.

use crate::access::{Access, Shown, TOKEN_COOKIE};
use crate::answer_body::AnswerBody;
use crate::brain::Brain;
use crate::model_request::Reader;
use crate::percent::{decoded, encoded};
use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;

/// The largest body that a page takes.
const MAX_BODY: usize = 1 << 20;

/// Nothing from elsewhere, nothing inline, no frames.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What somebody without a token reads.
const NO_TOKEN: &str = "This needs a token: open /louver/?token=TOKEN once, with the token that `louver proxy` printed when it \
                        started or that you were given, or send it as the header x-louver-token.";

/// Answers what is asked of the proxy itself.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Names under which it may be asked, beside `localhost` and addresses in figures.
    pub(crate) hosts: Vec<String>,
}

impl Pages {
    pub(crate) async fn answer<B: Brain>(
        &self,
        brain: &B,
        access: &Access,
        needs_token: bool,
        request: Request<Incoming>,
    ) -> Response<AnswerBody> {
        let mut response = match self.checked(brain, access, needs_token, request).await {
            Ok(response) => response,
            Err(StatusCode::UNAUTHORIZED) => plain(StatusCode::UNAUTHORIZED, NO_TOKEN),
            Err(status) => plain(status, status.canonical_reason().unwrap_or_default()),
        };
        harden(response.headers_mut());
        response
    }

    async fn checked<B: Brain>(
        &self,
        brain: &B,
        access: &Access,
        needs_token: bool,
        request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, StatusCode> {
        let host = host(&request).ok_or(StatusCode::BAD_REQUEST)?;
        if !self.is_known(&host) || !is_same_origin(request.headers(), &host) {
            return Err(StatusCode::FORBIDDEN);
        }
        // Also where a cookie would do: a token does not stay in an address, and whose it is counts.
        if let Some(exchanged) = by_address(access, &request, &host) {
            return Ok(exchanged);
        }
        let path = request.uri().path();
        let is_open = !needs_token && matches!(path, "/louver/healthz" | "/louver/readyz" | "/louver/metrics");
        let reader = match shown(access, &request, &host) {
            Shown::Token(reader) => reader,
            Shown::Nothing if is_open => Reader::LocalUser,
            Shown::Nothing | Shown::Wrong => return Err(StatusCode::UNAUTHORIZED),
        };
        match path {
            "/louver/healthz" => Ok(plain(StatusCode::OK, "ok")),
            "/louver/readyz" => Ok(match brain.ready() {
                Ok(()) => plain(StatusCode::OK, "ready"),
                Err(reason) => plain(StatusCode::SERVICE_UNAVAILABLE, &reason),
            }),
            _ => page(brain, request, &reader).await,
        }
    }

    /// Whether the host is one that nobody else can have: a name from elsewhere could point here.
    fn is_known(&self, host: &str) -> bool {
        let name = name_of(host);
        let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        is_address
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
    }
}

/// Header and address may both name a host; they have to agree.
fn host(request: &Request<Incoming>) -> Option<String> {
    let mut lines = request.headers().get_all(header::HOST).iter();
    let by_header = lines.next().map(|line| line.to_str().ok());
    if lines.next().is_some() {
        return None;
    }
    let by_address = request.uri().authority().map(|authority| authority.as_str());
    match (by_header, by_address) {
        (Some(host), None) => host.map(str::to_owned),
        (None, Some(host)) => Some(host.to_owned()),
        (Some(Some(host)), Some(address)) if host == address => Some(host.to_owned()),
        _ => None,
    }
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Whether the request comes from a page of ours, or from no page at all.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let origin = origin.to_str().unwrap_or_default();
    ["http://", "https://"].iter().any(|scheme| origin.strip_prefix(scheme) == Some(host))
}

fn shown(access: &Access, request: &Request<Incoming>, host: &str) -> Shown {
    match access.by_header(request.headers()) {
        Shown::Nothing => access.by_cookie(request.headers(), &cookie_at(host)),
        shown => shown,
    }
}

/// The page's cookie. Browsers tell hosts apart and not their ports, so that two proxies of one host would share one.
fn cookie_at(host: &str) -> String {
    match host[name_of(host).len()..].strip_prefix(':') {
        Some(port) => format!("{TOKEN_COOKIE}_{port}"),
        None => TOKEN_COOKIE.to_owned(),
    }
}

/// A token in the address of a page is exchanged for a cookie, so that it does not stay in the address.
fn by_address(access: &Access, request: &Request<Incoming>, host: &str) -> Option<Response<AnswerBody>> {
    if request.method() != Method::GET {
        return None;
    }
    let token = request.uri().query()?.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    let token = decoded(token);
    let Shown::Token(_) = access.of_text(&token) else { return None };
    let mut response = plain(StatusCode::SEE_OTHER, "");
    let cookie = format!("{}={}; HttpOnly; SameSite=Strict; Path=/louver", cookie_at(host), encoded(&token));
    let mut cookie = HeaderValue::from_str(&cookie).ok()?;
    cookie.set_sensitive(true);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_str(request.uri().path()).ok()?);
    Some(response)
}

async fn page<B: Brain>(
    brain: &B,
    request: Request<Incoming>,
    reader: &Reader,
) -> Result<Response<AnswerBody>, StatusCode> {
    let (mut parts, body) = request.into_parts();
    let body = Limited::new(body, MAX_BODY).collect().await.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    if let Some(path) = parts.uri.path_and_query() {
        parts.uri = Uri::from(path.clone());
    }
    let asked = brain.page(Request::from_parts(parts, body.to_bytes()), reader);
    match AssertUnwindSafe(asked).catch_unwind().await {
        Ok(Some(response)) => Ok(response.map(AnswerBody::Page)),
        Ok(None) => Err(StatusCode::NOT_FOUND),
        Err(_) => Err(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn plain(status: StatusCode, text: &str) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Own(Full::new(Bytes::from(format!("{text}\n")))));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

fn harden(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
