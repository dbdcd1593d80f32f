//! HTTP clients, as providers and MCP servers both need them.

use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Url};
use std::net::IpAddr;

/// A client in the making that has its cryptography, and goes nowhere but where it is sent: whoever a redirect names has
/// not been trusted with a key.
pub(crate) fn builder() -> ClientBuilder {
    // Without one chosen, TLS would not know which cryptography to use; a second choice changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(Policy::none())
}

/// Whether an address is on this machine.
pub(crate) fn is_local(url: &str) -> bool {
    let Some(host) = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)) else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

/// Whether what is sent to an address crosses a network unencrypted.
pub(crate) fn is_readable_on_the_way(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| url.scheme() == "http") && !is_local(url)
}
