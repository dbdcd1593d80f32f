//! What a proxy is told before it starts.

use crate::access::AccessToken;
use crate::limits::Limits;
use crate::model_request::{Mode, UpstreamName};
use http::Uri;
use http::uri::{Authority, Scheme};
use rustls::pki_types::CertificateDer;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

/// The port where none is named.
const PORT: u16 = 8787;

/// The upstreams that are there without being configured.
const DEFAULT_UPSTREAMS: [(&str, &str); 4] = [
    ("anthropic", "https://api.anthropic.com"),
    ("openai", "https://api.openai.com"),
    ("chatgpt", "https://chatgpt.com/backend-api/codex"),
    ("gemini", "https://generativelanguage.googleapis.com"),
];

/// Everything a proxy is told before it starts.
///
/// ```
/// use louver_proxy::{ProxyConfig, UpstreamUrl};
///
/// let config = ProxyConfig::default().upstream("gateway", UpstreamUrl::parse("https://gateway.example/llm")?);
/// let names: Vec<&str> = config.upstreams.keys().map(|name| name.as_str()).collect();
/// assert_eq!(names, ["anthropic", "chatgpt", "gateway", "gemini", "openai"]);
/// # Ok::<(), louver_proxy::BadUrl>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProxyConfig {
    /// Where it listens. Any address but loopback needs access tokens.
    pub listen: SocketAddr,
    /// The only hosts it ever connects to.
    pub upstreams: BTreeMap<UpstreamName, Upstream>,
    /// The mode of upstreams that have none of their own.
    pub mode: Mode,
    /// Who may come in, where that is not everybody on this machine; and who may see the page and its API.
    pub access_tokens: Vec<AccessToken>,
    /// Names under which the page may be asked for, beside `localhost` and addresses in figures. Other names are refused:
    /// they could be somebody else's that point here.
    pub page_hosts: Vec<String>,
    /// Roots of trust for upstreams, beside the machine's own.
    pub extra_roots: Vec<CertificateDer<'static>>,
    /// The bounds of everything.
    pub limits: Limits,
}

impl Default for ProxyConfig {
    /// Loopback, the four providers' own addresses, mode `keep`.
    fn default() -> Self {
        let upstreams = DEFAULT_UPSTREAMS.into_iter().filter_map(|(name, url)| {
            let url = UpstreamUrl::parse(url).ok()?;
            Some((UpstreamName::new(name), Upstream { url, mode: None }))
        });
        Self {
            listen: (Ipv4Addr::LOCALHOST, PORT).into(),
            upstreams: upstreams.collect(),
            mode: Mode::default(),
            access_tokens: Vec::new(),
            page_hosts: Vec::new(),
            extra_roots: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl ProxyConfig {
    /// The same with an upstream more, or with another address for one.
    #[must_use]
    pub fn upstream(mut self, name: &str, url: UpstreamUrl) -> Self {
        self.upstreams.insert(UpstreamName::new(name), Upstream { url, mode: None });
        self
    }
}

/// A host that requests go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// What the request's path is appended to.
    pub url: UpstreamUrl,
    /// Its mode, where it has one of its own.
    pub mode: Option<Mode>,
}

/// The address of an upstream: scheme, host and the beginning of the path.
///
/// ```
/// use louver_proxy::UpstreamUrl;
///
/// assert_eq!(UpstreamUrl::parse("https://gateway.example/llm/")?.to_string(), "https://gateway.example/llm");
/// assert!(UpstreamUrl::parse("ftp://gateway.example").is_err());
/// assert!(UpstreamUrl::parse("https://user:password@gateway.example").is_err());
/// # Ok::<(), louver_proxy::BadUrl>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamUrl {
    scheme: Scheme,
    authority: Authority,
    base: String,
}

/// An address that no upstream can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    /// It is no address with a scheme and a host.
    #[error("an upstream's address looks like https://host/path")]
    Malformed,
    /// Its scheme is neither `http` nor `https`.
    #[error("an upstream's address begins with http:// or https://")]
    Scheme,
    /// It has a user name or a password.
    #[error("an upstream's address has no user name and no password; clients bring their own credentials")]
    UserInfo,
    /// It has a query.
    #[error("an upstream's address has no query")]
    Query,
}

impl UpstreamUrl {
    /// Reads an address.
    ///
    /// # Errors
    ///
    /// See [`BadUrl`].
    pub fn parse(text: &str) -> Result<Self, BadUrl> {
        let parts = text.parse::<Uri>().map_err(|_| BadUrl::Malformed)?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(BadUrl::Malformed) };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(BadUrl::Scheme);
        }
        if authority.as_str().contains('@') {
            return Err(BadUrl::UserInfo);
        }
        let path = parts.path_and_query;
        if path.as_ref().is_some_and(|path| path.query().is_some()) {
            return Err(BadUrl::Query);
        }
        let base = path.as_ref().map_or("", |path| path.path()).trim_end_matches('/').to_owned();
        Ok(Self { scheme, authority, base })
    }

    pub(crate) fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    pub(crate) fn authority(&self) -> &Authority {
        &self.authority
    }

    /// What the request's path is appended to, without a slash at its end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }
}

impl std::fmt::Display for UpstreamUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.base)
    }
}
