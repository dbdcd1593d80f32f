//! Why a proxy cannot start.

use crate::connector::TlsError;
use std::io;
use std::net::SocketAddr;

/// Why a proxy cannot start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// It was to listen where others than this machine can reach it, and nobody was to show a token.
    #[error(
        "listening on {0} needs an access token, because others than this machine can reach it: name one with --token-env"
    )]
    NeedsToken(SocketAddr),
    /// Somebody else listens there.
    #[error("something listens on {0} already: name another address with --listen, as 127.0.0.1:0 for any free port")]
    InUse(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}
