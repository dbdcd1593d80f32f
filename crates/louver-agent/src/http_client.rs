//! HTTP clients, as providers and MCP servers both need them.

use reqwest::ClientBuilder;

/// A client in the making that has its cryptography.
pub(crate) fn builder() -> ClientBuilder {
    // Without one chosen, TLS would not know which cryptography to use; a second choice changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
}

/// Whether an address is on this machine.
pub(crate) fn is_local(url: &str) -> bool {
    let host = url.split_once("://").map_or("", |(_, rest)| rest);
    ["127.", "localhost", "[::1]"].iter().any(|local| host.starts_with(local))
}
