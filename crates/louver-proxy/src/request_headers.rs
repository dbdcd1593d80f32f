//! A request's headers without its secrets.

use http::{HeaderMap, HeaderName, header};
use std::fmt;

/// Headers that are never logged, stored or shown.
const SECRET: [&str; 11] = [
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "chatgpt-account-id",
    "cookie",
    "set-cookie",
    "x-codex-turn-state",
    "x-amz-security-token",
    "x-louver-token",
];

/// Headers that say who pays, in the order in which they are looked for.
const CREDENTIALS: [HeaderName; 4] = [
    header::AUTHORIZATION,
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("x-goog-api-key"),
    HeaderName::from_static("api-key"),
];

/// Whether a header's value is a secret.
#[must_use]
pub(crate) fn is_secret(name: &HeaderName) -> bool {
    SECRET.contains(&name.as_str())
}

/// A request's headers to read from. Secrets cannot be had, and printing it shows names only.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use louver_proxy::RequestHeaders;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-claude-code-session-id", HeaderValue::from_static("s-1"));
/// headers.insert("x-api-key", HeaderValue::from_static("sk-secret"));
/// let headers = RequestHeaders::new(headers);
/// assert_eq!(headers.get("x-claude-code-session-id"), Some("s-1"));
/// assert_eq!(headers.get("x-api-key"), None);
/// assert!(!format!("{headers:?}").contains("sk-secret"));
/// assert!(headers.credential(&[7; 32]).is_some());
/// ```
#[derive(Clone)]
pub struct RequestHeaders(HeaderMap);

impl RequestHeaders {
    /// Hides the secrets of a request's headers.
    #[must_use]
    pub fn new(headers: HeaderMap) -> Self {
        Self(headers)
    }

    /// The first value of a header, if it is text and no secret.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok().filter(|name| !is_secret(name))?;
        self.0.get(name)?.to_str().ok()
    }

    /// A keyed hash of the credential: who pays, without saying who. The same credential has another hash under another
    /// key.
    #[must_use]
    pub fn credential(&self, key: &[u8; 32]) -> Option<[u8; 32]> {
        let credential = CREDENTIALS.iter().find_map(|name| self.0.get(name))?;
        Some(*blake3::keyed_hash(key, credential.as_bytes()).as_bytes())
    }

    /// All of them, for the one who forwards them.
    pub(crate) fn raw(&self) -> &HeaderMap {
        &self.0
    }
}

impl fmt::Debug for RequestHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
