//! What a connection has to show before its request is read: a host of this machine, and a head in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::http::HeaderMap;
use axum::http::header::HOST;

/// Whether a request's host is this machine itself. A page of the web whose name was made to point here sends its own.
pub(crate) fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_name = name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost");
    is_name || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// How far a connection is with its requests, so that time runs only while their heads are awaited.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heads(Arc<(AtomicUsize, AtomicBool)>);

impl Heads {
    /// A head has arrived, and its request is read from here on.
    pub(crate) fn arrived(&self) {
        self.0.0.fetch_add(1, Ordering::SeqCst);
        self.0.1.store(true, Ordering::SeqCst);
    }

    /// The request has been read: what comes next is another head.
    pub(crate) fn request_read(&self) {
        self.0.1.store(false, Ordering::SeqCst);
    }

    /// How many have arrived.
    pub(crate) fn count(&self) -> usize {
        self.0.0.load(Ordering::SeqCst)
    }

    /// Whether what comes now belongs to a request whose head is here.
    pub(crate) fn is_within_request(&self) -> bool {
        self.0.1.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;
    use axum::http::{HeaderMap, HeaderValue};

    #[test]
    fn only_hosts_of_this_machine_are_local() {
        let is_local = |host: &'static str| {
            is_local(&HeaderMap::from_iter([(axum::http::header::HOST, HeaderValue::from_static(host))]))
        };
        assert!(
            ["127.0.0.1:8080", "localhost", "LOCALHOST:1", "[::1]:80", "127.9.9.9", "a.localhost"]
                .into_iter()
                .all(is_local)
        );
        assert!(!["evil.example:8080", "10.0.0.1", "localhost.evil.example", "", "[::2]:80"].into_iter().any(is_local));
        assert!(!super::is_local(&HeaderMap::new()));
    }
}
