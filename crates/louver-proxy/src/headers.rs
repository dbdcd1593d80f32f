//! Which headers pass.

use http::header::{self, HeaderMap, HeaderName};

/// Headers that concern one connection alone.
const HOP_BY_HOP: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// How the names of our own headers begin.
const OWN: &str = "x-louver-";

/// What of a request's body changed, so that its headers have to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyChange {
    /// It goes out as it came.
    None,
    /// It goes out decoded and with another length.
    Replaced,
}

/// A request's headers as they go to the upstream: in their order, without Host, what concerns the client's connection,
/// and our own.
pub(crate) fn to_upstream(headers: &HeaderMap, change: BodyChange) -> HeaderMap {
    passing(headers, |name| {
        let is_of_body = name == header::CONTENT_ENCODING || name == header::CONTENT_LENGTH;
        name == header::HOST || (is_of_body && change == BodyChange::Replaced)
    })
}

/// An answer's headers as they go to the client.
pub(crate) fn to_client(headers: &HeaderMap) -> HeaderMap {
    passing(headers, |_| false)
}

/// A copy rather than removals, which would change the order of what stays.
fn passing(headers: &HeaderMap, is_left_out: impl Fn(&HeaderName) -> bool) -> HeaderMap {
    let listed = listed_by_connection(headers);
    let mut passing = HeaderMap::with_capacity(headers.len() + 4);
    for (name, value) in headers {
        let stays = HOP_BY_HOP.contains(name) || name.as_str().starts_with(OWN) || listed.contains(name);
        if !stays && !is_left_out(name) {
            passing.append(name.clone(), value.clone());
        }
    }
    passing
}

/// The headers that `Connection` names.
fn listed_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let names = values.flat_map(|value| value.split(',')).map(str::trim);
    names.filter_map(|name| HeaderName::from_bytes(name.as_bytes()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn what_concerns_one_connection_stays_and_the_rest_keeps_its_order() {
        let came = headers(&[
            ("host", "127.0.0.1:8787"),
            ("z-first", "1"),
            ("connection", "keep-alive, X-Private"),
            ("keep-alive", "timeout=5"),
            ("anthropic-beta", "b,a"),
            ("x-private", "p"),
            ("x-louver-mode", "off"),
            ("content-encoding", "gzip"),
            ("content-length", "5"),
            ("anthropic-beta", "c"),
            ("te", "trailers"),
            ("a-last", "2"),
        ]);
        let passed = headers(&[
            ("z-first", "1"),
            ("anthropic-beta", "b,a"),
            ("content-encoding", "gzip"),
            ("content-length", "5"),
            ("anthropic-beta", "c"),
            ("a-last", "2"),
        ]);
        let out = to_upstream(&came, BodyChange::None);
        assert_eq!(out, passed);
        assert_eq!(
            out.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["z-first", "anthropic-beta", "content-encoding", "content-length", "a-last"]
        );
        let replaced = to_upstream(&came, BodyChange::Replaced);
        assert_eq!(
            replaced.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["z-first", "anthropic-beta", "a-last"]
        );
    }
}
