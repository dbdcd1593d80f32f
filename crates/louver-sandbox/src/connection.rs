//! Connections that can be reset, not only closed.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

use crate::guard::Heads;

/// Once thrown, the connection ends with a reset instead of a goodbye.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResetSwitch(Arc<AtomicBool>);

impl ResetSwitch {
    pub(crate) fn throw(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_thrown(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What a request's handler has of its connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Line {
    pub(crate) reset: ResetSwitch,
    pub(crate) heads: Heads,
}

impl Connected<IncomingStream<'_, Listening>> for Line {
    fn connect_info(stream: IncomingStream<'_, Listening>) -> Self {
        stream.io().line.clone()
    }
}

/// A listener whose connections have a [`ResetSwitch`] and end where a head does not arrive.
pub(crate) struct Listening {
    pub(crate) listener: TcpListener,
    pub(crate) read_timeout: Duration,
}

impl Listener for Listening {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Without this, small answers wait for the client's delayed acknowledgement.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection keeps its delay");
        }
        let deadline = Some(Box::pin(tokio::time::sleep(self.read_timeout)));
        (Connection { stream, line: Line::default(), read_timeout: self.read_timeout, heads: 0, deadline }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// One connection.
pub(crate) struct Connection {
    stream: TcpStream,
    line: Line,
    read_timeout: Duration,
    /// How many heads had arrived when the time was last looked at.
    heads: usize,
    /// Until when a head has to be here: from the start, and from the first byte of every later one.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Connection {
    /// Keeps the deadline for what was read, or was not.
    fn keep_time(&mut self, context: &mut Context<'_>, has_bytes: bool) -> Poll<io::Result<()>> {
        let heads = self.line.heads.count();
        if std::mem::replace(&mut self.heads, heads) != heads {
            self.deadline = None;
        }
        if self.line.heads.is_within_request() {
            return Poll::Pending;
        }
        if has_bytes && self.deadline.is_none() {
            self.deadline = Some(Box::pin(tokio::time::sleep(self.read_timeout)));
        }
        match &mut self.deadline {
            Some(deadline) if !has_bytes => {
                deadline.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
            }
            _ => Poll::Pending,
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.line.reset.is_thrown()
            && let Err(error) = self.stream.set_zero_linger()
        {
            tracing::debug!(%error, "a connection is closed instead of reset");
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        match Pin::new(&mut self.stream).poll_read(context, buffer) {
            Poll::Pending => self.keep_time(context, false),
            Poll::Ready(read) => {
                let has_bytes = buffer.filled().len() > before;
                // It never says more than that time runs.
                let _ = self.keep_time(context, has_bytes);
                Poll::Ready(read)
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// A goodbye before a reset would turn the reset into an ordinary end.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.line.reset.is_thrown() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
