//! The body of an answer on its way to a client.

use crate::brain::PageBody;
use crate::ending::End;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::body::Incoming;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

type BoxError = Box<dyn Error + Send + Sync>;

/// Sees an answer pass.
pub(crate) trait Witness: Send {
    /// Bytes pass that it has not seen yet.
    fn see(&mut self, bytes: &[u8]);

    /// The answer has ended.
    fn end(self: Box<Self>, end: End);
}

/// An answer's body: ours, or an upstream's, passed on frame by frame.
pub(crate) enum AnswerBody {
    Own(Full<Bytes>),
    Page(PageBody),
    Passing(Box<Passing>),
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnswerBody").finish_non_exhaustive()
    }
}

/// What an upstream sends: frames that were held back, then the rest as it comes.
pub(crate) struct Passing {
    held: VecDeque<Frame<Bytes>>,
    rest: Rest,
    idle: Duration,
    heard: Instant,
    timer: Pin<Box<Sleep>>,
    /// Why it broke off, said once what came before has been written.
    failure: Option<BoxError>,
    witness: Option<Box<dyn Witness>>,
}

/// What comes behind the held frames.
#[derive(Debug)]
pub(crate) enum Rest {
    Incoming(Incoming),
    /// The upstream broke off.
    Broken(hyper::Error),
    /// Nothing.
    Ended,
}

/// The upstream fell silent in the middle of its answer.
#[derive(Debug, thiserror::Error)]
#[error("the upstream was silent for too long")]
struct Silent;

impl AnswerBody {
    /// Passes on what an upstream sends. The witness has seen the held frames already.
    pub(crate) fn passing(held: Vec<Frame<Bytes>>, rest: Rest, idle: Duration, witness: Box<dyn Witness>) -> Self {
        let heard = Instant::now();
        let timer = Box::pin(tokio::time::sleep_until(heard + idle));
        Self::Passing(Box::new(Passing {
            held: held.into(),
            rest,
            idle,
            heard,
            timer,
            failure: None,
            witness: Some(witness),
        }))
    }
}

impl Passing {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(error) = self.failure.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(frame) = self.held.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        let polled = match &mut self.rest {
            Rest::Incoming(body) => Pin::new(body).poll_frame(context),
            Rest::Broken(_) => match std::mem::replace(&mut self.rest, Rest::Ended) {
                Rest::Broken(error) => Poll::Ready(Some(Err(error))),
                _ => Poll::Ready(None),
            },
            Rest::Ended => Poll::Ready(None),
        };
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                self.heard = Instant::now();
                if let (Some(witness), Some(data)) = (&mut self.witness, frame.data_ref()) {
                    witness.see(data);
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Poll::Ready(Some(Err(error))) => self.fail(context, error.into()),
            Poll::Ready(None) => {
                self.end(End::Whole);
                Poll::Ready(None)
            }
            Poll::Pending => self.poll_silence(context),
        }
    }

    /// The timer is only moved when it fires, not with every frame.
    fn poll_silence(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        while self.timer.as_mut().poll(context).is_ready() {
            let deadline = self.heard + self.idle;
            if deadline <= Instant::now() {
                return self.fail(context, Silent.into());
            }
            self.timer.as_mut().reset(deadline);
        }
        Poll::Pending
    }

    /// An error makes the server drop what it has not written yet, so it gets a turn to write first.
    fn fail<T>(&mut self, context: &Context<'_>, error: BoxError) -> Poll<T> {
        tracing::warn!(%error, "an answer broke off");
        self.end(End::UpstreamFailed);
        self.rest = Rest::Ended;
        self.failure = Some(error);
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn end(&mut self, end: End) {
        if let Some(witness) = self.witness.take() {
            witness.end(end);
        }
    }

    fn is_at_end(&self) -> bool {
        self.held.is_empty()
            && self.failure.is_none()
            && match &self.rest {
                Rest::Incoming(body) => body.is_end_stream(),
                Rest::Broken(_) => false,
                Rest::Ended => true,
            }
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        // Nobody asks a body for more than its announced length, so its end may never have been seen.
        let end = if self.is_at_end() { End::Whole } else { End::ClientGone };
        self.end(end);
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let never =
            |frame: Option<Result<Frame<Bytes>, Infallible>>| frame.map(|frame| frame.map_err(|never| match never {}));
        match &mut *self {
            Self::Own(body) => Pin::new(body).poll_frame(context).map(never),
            Self::Page(body) => Pin::new(body).poll_frame(context).map(never),
            Self::Passing(passing) => passing.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Own(body) => body.is_end_stream(),
            Self::Page(body) => body.is_end_stream(),
            Self::Passing(passing) => passing.is_at_end(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Own(body) => body.size_hint(),
            Self::Page(body) => body.size_hint(),
            Self::Passing(passing) if passing.held.is_empty() => match &passing.rest {
                Rest::Incoming(body) => body.size_hint(),
                Rest::Broken(_) | Rest::Ended => SizeHint::new(),
            },
            Self::Passing(_) => SizeHint::new(),
        }
    }
}
