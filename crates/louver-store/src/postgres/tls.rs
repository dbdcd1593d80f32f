//! TLS to the server, with the machine's roots of trust or those of a file.

use crate::error::{Error, Kind};
use rustls::pki_types::{InvalidDnsNameError, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Makes connections secret, to whoever shows a certificate that this machine trusts.
#[derive(Clone)]
pub(super) struct Tls(Arc<ClientConfig>);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Trusts whom the authorities in a file vouch for, or those that the machine knows.
    pub(super) fn new(authorities: Option<&Path>) -> Result<Self, Error> {
        let failed = |cause| Error::new(Kind::Other, "TLS cannot be set up").caused_by(cause);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(failed)?
            .with_root_certificates(roots(authorities)?)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

fn roots(authorities: Option<&Path>) -> Result<RootCertStore, Error> {
    let found = match authorities {
        Some(file) => rustls_native_certs::load_certs_from_paths(Some(file), None),
        None => rustls_native_certs::load_native_certs(),
    };
    for error in &found.errors {
        tracing::warn!(%error, "a root of trust cannot be read");
    }
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    match authorities {
        Some(file) if added == 0 => {
            let message = format!("{}: no certificate of an authority can be read here", file.display());
            Err(Error::new(Kind::Invalid, message))
        }
        _ => Ok(roots),
    }
}

/// What is wrong with a server's certificate, if that is what a connection failed of.
pub(super) fn distrust(error: &tokio_postgres::Error) -> Option<String> {
    let cause = std::error::Error::source(error)?.downcast_ref::<io::Error>()?;
    match cause.get_ref()?.downcast_ref::<rustls::Error>()? {
        rustls::Error::InvalidCertificate(cause) => Some(cause.to_string()),
        _ => None,
    }
}

type Socket = tokio_postgres::Socket;

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Secret;
    type TlsConnect = To;
    type Error = InvalidDnsNameError;

    fn make_tls_connect(&mut self, domain: &str) -> Result<To, InvalidDnsNameError> {
        Ok(To { name: ServerName::try_from(domain)?.to_owned(), connector: TlsConnector::from(Arc::clone(&self.0)) })
    }
}

/// A server by its name.
pub(super) struct To {
    name: ServerName<'static>,
    connector: TlsConnector,
}

impl TlsConnect<Socket> for To {
    type Stream = Secret;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Secret>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move { Ok(Secret(Box::new(self.connector.connect(self.name, socket).await?))) })
    }
}

/// A connection that nobody else can read.
pub(super) struct Secret(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Secret {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Secret {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Secret {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
