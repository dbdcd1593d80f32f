//! A brain that does what a test says and remembers what it was told.

use super::eventually;
use bytes::Bytes;
use louver_proxy::{
    AfterRefusal, Answered, Brain, Decided, Decision, ModelRequest, OwnRefusal, PageBody, Reader, Refused,
};
use std::sync::{Arc, Mutex};

/// Which attempt it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(pub(crate) u8);

/// How a request ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ended {
    pub(crate) ticket: Option<Ticket>,
    pub(crate) answered: Answered,
}

type Decide = dyn Fn(&ModelRequest) -> Decision<Ticket> + Send + Sync;
type AfterRefused = dyn Fn(Ticket, Refused) -> AfterRefusal<Ticket> + Send + Sync;
type Show = dyn Fn() -> Result<(), OwnRefusal> + Send + Sync;

#[derive(Clone)]
pub(crate) struct TestBrain {
    decide: Arc<Decide>,
    refused: Arc<AfterRefused>,
    show: Arc<Show>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<ModelRequest>,
    refusals: Vec<Refused>,
    shown: Vec<(Ticket, u16)>,
    ended: Vec<Ended>,
}

impl Default for TestBrain {
    fn default() -> Self {
        Self {
            decide: Arc::new(|_| Decision::Send(Decided::passing(Ticket(1)))),
            refused: Arc::new(|ticket, _| AfterRefusal::Pass(ticket)),
            show: Arc::new(|| Ok(())),
            seen: Arc::default(),
        }
    }
}

impl TestBrain {
    pub(crate) fn deciding(
        mut self,
        decide: impl Fn(&ModelRequest) -> Decision<Ticket> + Send + Sync + 'static,
    ) -> Self {
        self.decide = Arc::new(decide);
        self
    }

    pub(crate) fn rescuing(
        mut self,
        refused: impl Fn(Ticket, Refused) -> AfterRefusal<Ticket> + Send + Sync + 'static,
    ) -> Self {
        self.refused = Arc::new(refused);
        self
    }

    pub(crate) fn showing(mut self, show: impl Fn() -> Result<(), OwnRefusal> + Send + Sync + 'static) -> Self {
        self.show = Arc::new(show);
        self
    }

    pub(crate) fn requests(&self) -> Vec<ModelRequest> {
        self.seen.lock().unwrap().requests.clone()
    }

    pub(crate) fn refusals(&self) -> Vec<Refused> {
        self.seen.lock().unwrap().refusals.clone()
    }

    /// Tickets and statuses that were about to be shown.
    pub(crate) fn shown(&self) -> Vec<(Ticket, u16)> {
        self.seen.lock().unwrap().shown.clone()
    }

    /// How the only request ended; waits until it has.
    pub(crate) async fn ended(&self) -> Ended {
        self.all_ended(1).await.remove(0)
    }

    /// How requests ended, once so many have.
    pub(crate) async fn all_ended(&self, count: usize) -> Vec<Ended> {
        eventually("every request ends", || self.seen.lock().unwrap().ended.len() >= count).await;
        let ended = self.seen.lock().unwrap().ended.clone();
        assert_eq!(ended.len(), count, "every request ends once");
        ended
    }
}

impl Brain for TestBrain {
    type Ticket = Ticket;

    async fn decide(&self, request: &ModelRequest) -> Decision<Ticket> {
        self.seen.lock().unwrap().requests.push(request.clone());
        (self.decide)(request)
    }

    async fn refused(&self, _request: &ModelRequest, ticket: Ticket, refused: Refused) -> AfterRefusal<Ticket> {
        self.seen.lock().unwrap().refusals.push(refused);
        (self.refused)(ticket, refused)
    }

    async fn before_first_byte(&self, ticket: &mut Ticket, status: http::StatusCode) -> Result<(), OwnRefusal> {
        self.seen.lock().unwrap().shown.push((*ticket, status.as_u16()));
        (self.show)()
    }

    fn answered(&self, ticket: Option<Ticket>, answered: Answered) {
        self.seen.lock().unwrap().ended.push(Ended { ticket, answered });
    }

    fn ready(&self) -> Result<(), String> {
        Err("the store is away".to_owned())
    }

    async fn page(&self, request: http::Request<Bytes>, reader: &Reader) -> Option<http::Response<PageBody>> {
        use http_body_util::{BodyExt, Full};
        let text = format!("{} {} {reader:?} {}", request.method(), request.uri(), request.body().len());
        let is_known = request.uri().path().starts_with("/louver/api/") || request.uri().path() == "/louver/";
        is_known.then(|| http::Response::new(Full::from(text).boxed_unsync()))
    }
}
