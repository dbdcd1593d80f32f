//! The block `proxy`.

use super::proxy::{ARCHIVES, MODES};
use super::walk::{Block, Walk, is_url, is_variable};
use super::{Proxy, ProxyUpstream};
use std::collections::BTreeMap;

/// Every key of `proxy`.
const PROXY: &[&str] = &["listen", "hosts", "mode", "context_window", "archive", "store", "upstreams", "access_tokens"];
/// Every key of an upstream.
const UPSTREAM: &[&str] = &["url", "mode"];

/// What is said of a host that is more than a name.
const NOT_A_NAME: &str = "must be a name alone, without http:// and port";

/// What is said where a name is wanted; the text itself may be the secret.
const NOT_A_VALUE: &str = "must be the name of an environment variable, not the token itself";

impl Walk {
    pub(super) fn proxy(&mut self, top: &Block<'_>) -> Proxy {
        let Some(block) = self.inner(top, "proxy", PROXY) else {
            return Proxy::default();
        };
        let is_address = |text: &str| text.parse::<std::net::SocketAddr>().is_ok();
        Proxy {
            listen: self.text_that(&block, "listen", is_address, "must be an address and a port, as 127.0.0.1:8787"),
            hosts: self.texts(&block, "hosts", "names", |name| name.contains(['/', ':']).then_some(NOT_A_NAME)),
            mode: self.name_of(&block, "mode", &MODES),
            context_window: self.whole(&block, "context_window", 1..=u64::MAX),
            archive: self.name_of(&block, "archive", &ARCHIVES),
            store: self.text_that(&block, "store", |text| !text.trim().is_empty(), "must name a file or a database"),
            upstreams: self.upstreams(&block),
            access_tokens: self.access_tokens(&block),
        }
    }

    fn name_of(&mut self, block: &Block<'_>, key: &str, names: &[&str]) -> Option<String> {
        self.choice(block, key, names).map(|at| names[at].to_owned())
    }

    fn upstreams(&mut self, block: &Block<'_>) -> BTreeMap<String, ProxyUpstream> {
        let Some(node) = block.get("upstreams") else { return BTreeMap::new() };
        let upstreams = self.open_block(node, block.path_of("upstreams"));
        let mut found = BTreeMap::new();
        for name in upstreams.keys() {
            let Some(node) = upstreams.get(name) else { continue };
            let one = self.block(node, upstreams.path_of(name), UPSTREAM);
            let url = self.text_that(&one, "url", is_url, "must start with http:// or https://");
            let mode = self.name_of(&one, "mode", &MODES);
            found.insert(name.to_owned(), ProxyUpstream { url, mode });
        }
        found
    }

    fn access_tokens(&mut self, block: &Block<'_>) -> BTreeMap<String, String> {
        let Some(node) = block.get("access_tokens") else { return BTreeMap::new() };
        let tokens = self.open_block(node, block.path_of("access_tokens"));
        let mut found = BTreeMap::new();
        for name in tokens.keys() {
            if let Some(variable) = self.text_that(&tokens, name, is_variable, NOT_A_VALUE) {
                found.insert(name.to_owned(), variable);
            }
        }
        found
    }
}
