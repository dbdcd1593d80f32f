use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::connection::{Line, Listening};
use crate::exchange::Exchange;
use crate::server::{self, Server};
use crate::{Builder, Counter, JournalEntry, Limits, Scenario, SystemClock};

/// How long connections may take to end once the sandbox shuts down.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// A stand-in for the four APIs, not yet listening. See [`Sandbox::builder`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Sandbox;

impl Sandbox {
    /// Starts describing a sandbox: by default the `demo` scenario, each model's own context window, the machine's clock,
    /// four characters to a token.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::io::Result<()> {
    /// use louver_sandbox::{Sandbox, Scenario};
    ///
    /// let running = Sandbox::builder().scenario(Scenario::named("echo").unwrap()).start("127.0.0.1:0").await?;
    /// assert!(running.addr().ip().is_loopback());
    /// assert!(running.journal().is_empty());
    /// running.shutdown().await;
    /// # Ok(()) }
    /// ```
    pub fn builder() -> Builder {
        Builder {
            scenario: Scenario::named("demo").expect("the demo scenario is built in"),
            context_window: None,
            overflow_in_stream: false,
            any_model: false,
            counter: Counter::default(),
            clock: Arc::new(SystemClock::default()),
            limits: Limits::default(),
        }
    }
}

impl Builder {
    /// Listens on an address and serves from a task of the current runtime. Port 0 picks a free one.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on, or is not of this machine alone: the sandbox has no business elsewhere.
    pub async fn start(self, address: impl tokio::net::ToSocketAddrs) -> io::Result<Running> {
        self.serve(TcpListener::bind(address).await?)
    }

    /// Serves a listener from a task of the current runtime.
    ///
    /// # Errors
    ///
    /// If the listener's address cannot be read or is not a loopback address.
    pub fn serve(self, listener: TcpListener) -> io::Result<Running> {
        let addr = listener.local_addr()?;
        if !addr.ip().is_loopback() {
            let message = format!("the sandbox only listens on loopback addresses, and {addr} is none");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let (stop, stopping) = watch::channel(false);
        let permits = Arc::new(Semaphore::new(self.limits.max_concurrent_requests));
        let (max_body_bytes, read_timeout) = (self.limits.max_body_bytes, self.limits.read_timeout);
        let exchange = Arc::new(Exchange::new(self));
        let exchanging = Arc::clone(&exchange);
        let server = Server { exchange: exchanging, permits, stopping: stopping.clone(), max_body_bytes, read_timeout };
        let task = tokio::spawn(run(listener, server, stopping));
        Ok(Running { addr, exchange, stop, task })
    }
}

async fn run(listener: TcpListener, server: Server, mut stopping: watch::Receiver<bool>) {
    let stopped = async move {
        // An error means that the handle is gone, and that ends the sandbox, too.
        let _ = stopping.wait_for(|stopping| *stopping).await;
    };
    let listening = Listening { listener, read_timeout: server.read_timeout };
    let router = server::router(server).into_make_service_with_connect_info::<Line>();
    if let Err(error) = axum::serve(listening, router).with_graceful_shutdown(stopped).await {
        tracing::error!(%error, "the sandbox stopped serving");
    }
}

/// A sandbox that serves. Dropping it stops it.
pub struct Running {
    addr: SocketAddr,
    exchange: Arc<Exchange>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// The address it listens on.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The base URL for clients, without a slash at its end. Clients of OpenAI's API add `/v1` to it.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The requests judged so far, oldest first.
    pub fn journal(&self) -> Vec<JournalEntry> {
        self.exchange.journal()
    }

    /// Stops listening, ends stalled streams, and waits up to two seconds for connections to close.
    pub async fn shutdown(self) {
        self.stop.send_replace(true);
        if !self.task.is_finished() && tokio::time::timeout(SHUTDOWN_GRACE, self.task).await.is_err() {
            tracing::warn!("connections were still open when the sandbox shut down");
        }
    }

    /// Waits until the sandbox stops serving by itself, which it only does if its listener fails. To be raced against
    /// whatever else ends the program.
    pub async fn stopped(&mut self) {
        if !self.task.is_finished() {
            // An error means that the task panicked, and then it has stopped, too.
            let _ = (&mut self.task).await;
        }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("addr", &self.addr).finish_non_exhaustive()
    }
}
