//! Connections to upstreams that know whether anything has come back.

use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::error::Error;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// How often the operating system looks whether a silent connection is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// What has happened on a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Traffic(Arc<Happened>);

#[derive(Debug, Default)]
struct Happened {
    /// Whether an answer has come over it before.
    has_served: AtomicBool,
    /// Whether anything has come since something was last sent.
    has_heard: AtomicBool,
}

impl Traffic {
    pub(crate) fn note_answer(&self) {
        self.0.has_served.store(true, Ordering::Relaxed);
    }

    /// Whether it had served before and has said nothing since the last request: it was dead already, and nobody knew.
    pub(crate) fn was_dead(&self) -> bool {
        self.has_served() && !self.0.has_heard.load(Ordering::Relaxed)
    }

    pub(crate) fn has_served(&self) -> bool {
        self.0.has_served.load(Ordering::Relaxed)
    }
}

/// Makes connections, with or without TLS, within a time.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    inner: HttpsConnector<HttpConnector>,
    limit: Duration,
}

/// Why no connector can be made.
#[derive(Debug, thiserror::Error)]
#[error("TLS cannot be set up")]
pub struct TlsError(#[from] rustls::Error);

impl Connector {
    pub(crate) fn new(limit: Duration, extra_roots: &[CertificateDer<'static>]) -> Result<Self, TlsError> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(limit));
        http.set_keepalive(Some(KEEPALIVE));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots(extra_roots))
            .with_no_client_auth();
        let builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_all_versions();
        Ok(Self { inner: builder.wrap_connector(http), limit })
    }
}

/// The machine's roots of trust and those that were configured. One that cannot be read is left out.
fn roots(extra: &[CertificateDer<'static>]) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::warn!(%error, "a root of trust cannot be read");
    }
    roots.add_parsable_certificates(native.certs.into_iter().chain(extra.iter().cloned()));
    roots
}

type BoxError = Box<dyn Error + Send + Sync>;

impl tower_service::Service<http::Uri> for Connector {
    type Response = TokioIo<Watched>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Watched>, BoxError>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: http::Uri) -> Self::Future {
        let connecting = tokio::time::timeout(self.limit, self.inner.call(uri));
        Box::pin(async move {
            let io = connecting.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
            Ok(TokioIo::new(Watched { io: TokioIo::new(io), traffic: Traffic::default() }))
        })
    }
}

/// A connection that notes what happens on it, above TLS, whose own goodbye is no answer.
#[derive(Debug)]
pub(crate) struct Watched {
    io: TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>,
    traffic: Traffic,
}

impl Watched {
    fn note_sent(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.traffic.0.has_heard.store(false, Ordering::Relaxed);
        }
    }
}

impl Connection for Watched {
    fn connected(&self) -> Connected {
        self.io.inner().connected().extra(self.traffic.clone())
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(context, buffer))?;
        if buffer.filled().len() > before {
            self.traffic.0.has_heard.store(true, Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(context, bytes);
        self.note_sent(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(context, slices);
        self.note_sent(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

/// Whether a connection failed because of the certificate that was shown.
pub(crate) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
        return true;
    }
    // An error of the operating system's kind hides the one it was made of from the chain of causes.
    let within = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    within.map_or_else(|| error.source().is_some_and(is_untrusted), |within| is_untrusted(within))
}

/// Connects to an upstream, its TLS included, and asks nothing: whether it can be reached.
///
/// # Errors
///
/// Why not, in words.
pub async fn reach(
    url: &crate::config::UpstreamUrl,
    extra_roots: &[CertificateDer<'static>],
    limit: Duration,
) -> Result<(), Unreachable> {
    let said = |error: &dyn std::fmt::Display| Unreachable::NoConnection(error.to_string());
    let mut connector = Connector::new(limit, extra_roots).map_err(|error| said(&error))?;
    let uri = url.to_string().parse::<http::Uri>().map_err(|error| said(&error))?;
    match tower_service::Service::call(&mut connector, uri).await {
        Ok(_) => Ok(()),
        Err(error) if is_untrusted(&*error) => Err(Unreachable::Untrusted(error.to_string())),
        Err(error) => Err(said(&error)),
    }
}

/// Why an upstream cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// Nobody answers there.
    #[error("cannot be reached ({0}): is its address right, and is it running?")]
    NoConnection(String),
    /// Whoever answers there shows a certificate that nobody here trusts.
    #[error(
        "shows a certificate that is not trusted ({0}): if it is the right one, name its root's file in SSL_CERT_FILE"
    )]
    Untrusted(String),
}
