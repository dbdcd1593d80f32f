//! The proxy itself: listens, serves, stops.

use crate::bind_error::BindError;
use crate::brain::Brain;
use crate::client_io::ClientIo;
use crate::config::ProxyConfig;
use crate::keeper::Keeper;
use crate::limits::Limits;
use crate::received::Room;
use crate::reloader::Reloader;
use crate::service::Service;
use futures_util::future::BoxFuture;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// How long to wait after the operating system has no more connections to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often a client with several streams on one connection is asked whether it is still there.
const PING: Duration = Duration::from_secs(20);

/// A proxy that listens. It serves once [`serve`](Self::serve) is awaited.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use louver_proxy::{Passing, Proxy, ProxyConfig};
///
/// let config = ProxyConfig { listen: "127.0.0.1:0".parse()?, ..ProxyConfig::default() };
/// let proxy = Proxy::bind(config, Passing).await?;
/// let address = proxy.local_addr();
/// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
/// let serving = tokio::spawn(proxy.serve(async { drop(stopped.await) }));
/// assert!(tokio::net::TcpStream::connect(address).await.is_ok());
/// drop(stop);
/// serving.await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Proxy<B: Brain> {
    listener: TcpListener,
    address: SocketAddr,
    current: Reloader<B>,
}

impl<B: Brain> Proxy<B> {
    /// Listens on the configured address. Port 0 picks a free one.
    ///
    /// # Errors
    ///
    /// See [`BindError`].
    pub async fn bind(config: ProxyConfig, brain: B) -> Result<Self, BindError> {
        let listen = config.listen;
        let room = Room::new(config.limits.max_buffered_bytes);
        let service = Service::new(config, brain, room)?;
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AddrInUse => BindError::InUse(listen),
            _ => BindError::Listen { address: listen, source },
        };
        let listener = TcpListener::bind(listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, current: Reloader::new(listen, service) })
    }

    /// What gives it other settings while it runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader<B> {
        self.current.clone()
    }

    /// The address it listens on.
    #[must_use]
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `shutdown` is done; then takes no more connections, lets running answers end within the configured
    /// grace, and drops the rest.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) {
        let Self { listener, current, .. } = self;
        let limits = current.service().limits.clone();
        let server = Arc::new(server(&limits));
        let permits = Arc::new(Semaphore::new(limits.max_connections));
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        let mut shutdown = std::pin::pin!(shutdown);
        loop {
            let (stream, permit) = tokio::select! {
                accepted = accept(&listener, &permits) => accepted,
                () = &mut shutdown => break,
            };
            while connections.try_join_next().is_some() {}
            let serving = serve_connection(&server, stream, &current, &graceful);
            connections.spawn(async move {
                serving.await;
                drop(permit);
            });
        }
        drop(listener);
        current.service().brain.stopping();
        if tokio::time::timeout(limits.shutdown_grace, graceful.shutdown()).await.is_err() {
            tracing::warn!(connections = connections.len(), "answers were still running when the proxy stopped");
        }
        connections.shutdown().await;
    }
}

impl Proxy<Keeper> {
    /// [`serve`](Self::serve) for the brain that everybody runs, compiled with this crate: what is generic is compiled with
    /// whoever names its types, and a command line that is built for size would serve every request with small, slow code.
    pub fn keep(self, shutdown: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
        self.keep_until(Box::pin(shutdown))
    }

    fn keep_until(self, shutdown: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        Box::pin(self.serve(shutdown))
    }
}

/// The next connection, once there is room for one.
async fn accept(listener: &TcpListener, permits: &Arc<Semaphore>) -> (TcpStream, Option<OwnedSemaphorePermit>) {
    // The semaphore is never closed.
    let permit = Arc::clone(permits).acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, permit),
            Err(error) => {
                tracing::warn!(%error, "a connection cannot be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn server(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut server = auto::Builder::new(TokioExecutor::new());
    server
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.client_idle)
        .preserve_header_case(true)
        .auto_date_header(false);
    server.http2().timer(TokioTimer::new()).keep_alive_interval(PING).keep_alive_timeout(PING).auto_date_header(false);
    server
}

fn serve_connection<B: Brain>(
    server: &Arc<auto::Builder<TokioExecutor>>,
    stream: TcpStream,
    current: &Reloader<B>,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + use<B> {
    // Without this, small frames of a stream wait for the client's delayed acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection keeps its delay");
    }
    let io = TokioIo::new(ClientIo::new(stream, current.service().limits.client_stall));
    let current = current.clone();
    let handler = service_fn(move |request| {
        let service = current.service();
        async move { Ok::<_, Infallible>(service.handle(request).await) }
    });
    let connection = graceful.watch(server.serve_connection(io, handler).into_owned());
    async move {
        if let Err(error) = connection.await {
            tracing::debug!(error = %error, "a client's connection ended");
        }
    }
}
