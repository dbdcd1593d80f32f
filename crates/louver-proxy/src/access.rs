//! Who may come in.

use crate::model_request::Reader;
use crate::percent::decoded;
use http::{HeaderMap, HeaderName, header};
use std::fmt;
use std::sync::Arc;

/// The header that an access token comes in. It is never forwarded.
pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-louver-token");

/// The cookie that the page gets in exchange for a token in its address; its port follows.
pub(crate) const TOKEN_COOKIE: &str = "louver_token";

/// A named access token. Only its hash is kept.
///
/// ```
/// use louver_proxy::AccessToken;
///
/// let token = AccessToken::new("alice", "a long random text");
/// assert_eq!(token.name(), "alice");
/// assert!(token.is("a long random text") && !token.is("another"));
/// assert!(!format!("{token:?}").contains("random"));
/// ```
#[derive(Clone)]
pub struct AccessToken {
    name: Arc<str>,
    hash: blake3::Hash,
    is_owner: bool,
}

impl AccessToken {
    /// A token that whoever has it shows.
    #[must_use]
    pub fn new(name: &str, secret: &str) -> Self {
        Self { name: name.into(), hash: blake3::hash(secret.as_bytes()), is_owner: false }
    }

    /// A token of the user whose process the proxy is: it opens the API to what clients without a token said.
    #[must_use]
    pub fn of_owner(secret: &str) -> Self {
        Self { is_owner: true, ..Self::new("owner", secret) }
    }

    /// Whose token it is.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is the token. Takes the same time whatever is shown: hashes are compared, in constant time.
    #[must_use]
    pub fn is(&self, shown: &str) -> bool {
        self.hash == blake3::hash(shown.as_bytes())
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessToken").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What a request has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// A token that is one of ours.
    Token(Reader),
    Nothing,
    /// A token that is none of ours.
    Wrong,
}

/// The tokens that open the door.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    tokens: Vec<AccessToken>,
}

impl Access {
    pub(crate) fn new(tokens: Vec<AccessToken>) -> Self {
        Self { tokens }
    }

    /// What the header shows.
    pub(crate) fn by_header(&self, headers: &HeaderMap) -> Shown {
        match headers.get(TOKEN_HEADER) {
            Some(value) => self.of_text(value.to_str().unwrap_or_default()),
            None => Shown::Nothing,
        }
    }

    /// What the page's cookie of this name shows.
    pub(crate) fn by_cookie(&self, headers: &HeaderMap, cookie: &str) -> Shown {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut ours = pairs.filter(|(name, _)| *name == cookie);
        ours.next().map_or(Shown::Nothing, |(_, value)| self.of_text(&decoded(value)))
    }

    /// What a text is. All tokens are compared, so that it takes the same time for each.
    pub(crate) fn of_text(&self, text: &str) -> Shown {
        let found = self.tokens.iter().fold(None, |found, token| if token.is(text) { Some(token) } else { found });
        found.map_or(Shown::Wrong, |token| {
            Shown::Token(if token.is_owner { Reader::LocalUser } else { Reader::Token(Arc::clone(&token.name)) })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    #[test]
    fn tokens_are_told_apart_by_header_and_cookie() {
        let access = Access::new(vec![AccessToken::new("a", "one"), AccessToken::new("b", "two")]);
        let shown = |name: HeaderName, value: &'static str| {
            let headers = HeaderMap::from_iter([(name, HeaderValue::from_static(value))]);
            (access.by_header(&headers), access.by_cookie(&headers, TOKEN_COOKIE))
        };
        assert_eq!(Access::new(vec![AccessToken::of_owner("mine")]).of_text("mine"), Shown::Token(Reader::LocalUser));
        let b = || Shown::Token(Reader::Token("b".into()));
        assert_eq!(shown(TOKEN_HEADER, "two"), (b(), Shown::Nothing));
        assert_eq!(shown(TOKEN_HEADER, "tw"), (Shown::Wrong, Shown::Nothing));
        assert_eq!(shown(TOKEN_HEADER, ""), (Shown::Wrong, Shown::Nothing));
        assert_eq!(shown(header::COOKIE, "x=1; louver_token=two"), (Shown::Nothing, b()));
        assert_eq!(shown(header::COOKIE, "louver_token=%74wo"), (Shown::Nothing, b()));
        assert_eq!(shown(header::COOKIE, "not_louver_token=two"), (Shown::Nothing, Shown::Nothing));
    }
}
