//! The seam between the data path, which moves bytes, and whoever knows conversations and decides about them.

use crate::ending::Answered;
use crate::model_request::{ModelRequest, Reader};
use crate::outcome::Outcome;
use bytes::Bytes;
use http::StatusCode;
use http_body_util::combinators::UnsyncBoxBody;
use louver::refusal::Refusal;
use std::convert::Infallible;
use std::sync::Arc;

/// Knows conversations and decides what is sent.
///
/// The data path asks in this order, for every request that carries a history:
///
/// 1. [`decide`](Self::decide), once;
/// 2. [`refused`](Self::refused), at most twice, each time the provider says no in a way that can be helped and nothing
///    has gone to the client yet;
/// 3. [`before_first_byte`](Self::before_first_byte), once, if there is an answer of the provider to show;
/// 4. [`answered`](Self::answered), exactly once, whatever happened: also where a client was gone before anything was
///    decided, and where the brain itself panicked.
///
/// Every future may be dropped at any await point, because clients go away. What has to be finished all the same belongs
/// into a task of its own. Decisions that take long to compute belong off the threads that move bytes.
///
/// A panic is survived: one in `decide` or `before_first_byte` answers the client with a 503, one in `refused` passes the
/// refusal on. A brain that wants to do better catches it itself.
pub trait Brain: Send + Sync + 'static {
    /// What it remembers of one attempt, from the decision until the answer has ended.
    type Ticket: Send + 'static;

    /// What goes to the provider.
    fn decide(&self, request: &ModelRequest) -> impl Future<Output = Decision<Self::Ticket>> + Send;

    /// The provider refused an attempt, and nothing of that has been shown. The new attempt's ticket takes the place of
    /// the old one.
    fn refused(
        &self,
        request: &ModelRequest,
        ticket: Self::Ticket,
        refused: Refused,
    ) -> impl Future<Output = AfterRefusal<Self::Ticket>> + Send;

    /// The provider's answer to this attempt is about to be shown: marks it. An answer can be an error of the provider's,
    /// as its status says; what a client sees of a view then is nothing. Not called before an overflow or binding refusal
    /// is passed on.
    ///
    /// # Errors
    ///
    /// Where the answer must not be shown, what the client is told instead.
    fn before_first_byte(
        &self,
        ticket: &mut Self::Ticket,
        status: StatusCode,
    ) -> impl Future<Output = Result<(), OwnRefusal>> + Send;

    /// The request has ended, well or not. Without a ticket nothing was decided. Must return at once.
    fn answered(&self, ticket: Option<Self::Ticket>, answered: Answered);

    /// Why new requests had better go elsewhere, if they had: `/louver/readyz` says it.
    ///
    /// # Errors
    ///
    /// The reason, in one sentence without secrets.
    fn ready(&self) -> Result<(), String>;

    /// The proxy takes no more connections and waits for running answers to end: those of pages that would go on for ever
    /// have to end now.
    fn stopping(&self) {}

    /// Everything under `/louver/` but health. Host, Origin and token have been checked; `None` is a 404.
    fn page(
        &self,
        request: http::Request<Bytes>,
        reader: &Reader,
    ) -> impl Future<Output = Option<http::Response<PageBody>>> + Send;
}

/// The body of a page, in one piece or as a stream.
pub type PageBody = UnsyncBoxBody<Bytes, Infallible>;

/// What a brain wants done with a request.
#[derive(Debug)]
pub enum Decision<T> {
    /// Send it.
    Send(Decided<T>),
    /// Do not send it, and tell the client why.
    Refuse(OwnRefusal),
}

/// An attempt: what is sent, and what the client and the log are told about it.
#[derive(Debug)]
pub struct Decided<T> {
    /// What goes out in the place of the request's body; `None` sends the original bytes in their original encoding.
    pub body: Option<Bytes>,
    /// How the request ends unless the provider refuses it: [`Passed`](Outcome::Passed), [`Kept`](Outcome::Kept),
    /// [`Cut`](Outcome::Cut) or [`Rescued`](Outcome::Rescued).
    pub outcome: Outcome,
    /// The conversation it belongs to, where one is known.
    pub conversation: Option<Conversation>,
    /// Estimated tokens, where they were counted.
    pub tokens: Option<Tokens>,
    /// Whether status, headers and leading events without content wait for the first event that matters, so that a
    /// refusal inside the stream can still be answered.
    pub holds_leading_events: bool,
    /// What the brain wants back with the answer.
    pub ticket: T,
}

impl<T> Decided<T> {
    /// An attempt that changes nothing and says nothing.
    #[must_use]
    pub fn passing(ticket: T) -> Self {
        Self {
            body: None,
            outcome: Outcome::Passed,
            conversation: None,
            tokens: None,
            holds_leading_events: false,
            ticket,
        }
    }
}

/// A conversation's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id; `x-louver-conversation` says it.
    pub id: Arc<str>,
    /// The conversation it is a fork of.
    pub parent: Option<Arc<str>>,
}

/// Estimated tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// What goes to the provider.
    pub sent: u64,
    /// What the client holds.
    pub held: u64,
}

/// A refusal of the provider that can be helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// The status it came with; 200 where it was an event of a stream.
    pub status: StatusCode,
    /// Which attempt was refused, counted from 1.
    pub attempt: u8,
}

/// What a brain wants done after a refusal.
#[derive(Debug)]
pub enum AfterRefusal<T> {
    /// Send this instead.
    Again(Decided<T>),
    /// Pass the refusal on exactly as it came.
    Pass(T),
}

/// A refusal of our own. The client reads it in its provider's shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRefusal {
    /// What kind of refusal it is.
    pub kind: OwnRefusalKind,
    /// One sentence for people.
    pub message: String,
}

/// Kinds of refusals that a brain can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnRefusalKind {
    /// The request is too long and cannot be made shorter: a 400 that clients understand, outcome
    /// [`Refused`](Outcome::Refused).
    PromptTooLong,
    /// It cannot be sent now: a 503 that asks for patience, outcome [`None`](Outcome::None).
    Unavailable {
        /// When to try again.
        retry_after_seconds: u32,
    },
}

/// Decides nothing: every request goes out as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passing;

impl Brain for Passing {
    type Ticket = ();

    async fn decide(&self, _request: &ModelRequest) -> Decision<()> {
        Decision::Send(Decided::passing(()))
    }

    async fn refused(&self, _request: &ModelRequest, ticket: (), _refused: Refused) -> AfterRefusal<()> {
        AfterRefusal::Pass(ticket)
    }

    async fn before_first_byte(&self, _ticket: &mut (), _status: StatusCode) -> Result<(), OwnRefusal> {
        Ok(())
    }

    fn answered(&self, _ticket: Option<()>, _answered: Answered) {}

    fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    async fn page(&self, _request: http::Request<Bytes>, _reader: &Reader) -> Option<http::Response<PageBody>> {
        None
    }
}
