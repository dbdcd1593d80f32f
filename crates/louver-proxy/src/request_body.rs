//! The body of a request on its way to an upstream.

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// A request's body: in memory, or passed on as it comes.
#[derive(Debug)]
pub(crate) enum RequestBody {
    /// All of it. Taken when it is sent.
    Whole(Option<Bytes>),
    /// As it comes from the client.
    Passing(Box<Upload>),
}

impl RequestBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    /// What a client sends; nothing, if it sends nothing.
    pub(crate) fn passing(body: Incoming, idle: Duration) -> Self {
        if body.is_end_stream() {
            return Self::Whole(None);
        }
        let timer = Box::pin(tokio::time::sleep(idle));
        Self::Passing(Box::new(Upload { body, idle, timer }))
    }

    /// The same once more, if it is in memory.
    pub(crate) fn again(&self) -> Option<Self> {
        match self {
            Self::Whole(bytes) => Some(Self::Whole(bytes.clone())),
            Self::Passing(_) => None,
        }
    }
}

/// A body that comes from a client, within its patience.
#[derive(Debug)]
pub(crate) struct Upload {
    body: Incoming,
    idle: Duration,
    timer: Pin<Box<Sleep>>,
}

/// The client stopped sending.
#[derive(Debug, thiserror::Error)]
#[error("the client sent nothing for too long")]
pub(crate) struct UploadStalled;

impl Upload {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => {
                self.timer.as_mut().reset(Instant::now() + self.idle);
                Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
            }
            Poll::Pending => {
                ready!(self.timer.as_mut().poll(context));
                Poll::Ready(Some(Err(UploadStalled.into())))
            }
        }
    }
}

type BoxError = Box<dyn Error + Send + Sync>;

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut *self {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Passing(upload) => upload.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Passing(upload) => upload.body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Passing(upload) => upload.body.size_hint(),
        }
    }
}
