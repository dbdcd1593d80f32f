//! The page at `/louver/` and what it asks for under `/louver/api/`: conversations, their cuts, what was left out, money, and
//! what happens now.
//!
//! Everything is asked for as a reader, who sees nothing of others. Lists come in pages, each with a limit.

mod account;
mod asked;
mod cuts;
mod difference;
mod events;
mod files;
mod messages;
mod search;

pub(crate) use events::Events;

use crate::archive::Archive;
use crate::brain::PageBody;
use crate::model_request::Reader;
use asked::Query;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use louver_store::{ConversationAccount, Error, ReaderId, Store, Whose};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Where a list goes on, if it does.
const NEXT: HeaderName = HeaderName::from_static("x-louver-next");

/// How many histories are read as a whole at a time; further ones wait.
const WHOLE_HISTORIES: usize = 2;

/// What all pages of a process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) events: Arc<Events>,
    whole_histories: Semaphore,
}

impl Default for Shared {
    fn default() -> Self {
        Self { events: Arc::default(), whole_histories: Semaphore::new(WHOLE_HISTORIES) }
    }
}

/// The page as one reader sees it.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    store: Arc<dyn Store>,
    shared: Arc<Shared>,
    archive: Archive,
    /// Whose account is shown.
    whose: Whose,
    /// Whose text is: nobody but the one who said it reads it.
    reader: ReaderId,
}

/// Why there is no answer.
enum Fault {
    /// There is no such thing, or it is another's.
    Missing,
    /// What was asked for cannot be meant.
    Invalid(String),
    Store(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if error.is_invalid() { Self::Invalid(error.to_string()) } else { Self::Store(error) }
    }
}

type Answered = Result<Response<PageBody>, Fault>;

impl Page {
    /// The page of a store, for whoever showed a token; `user` is who clients without one are.
    pub(crate) fn new(
        store: Arc<dyn Store>,
        shared: Arc<Shared>,
        archive: Archive,
        reader: &Reader,
        user: &ReaderId,
    ) -> Self {
        let (whose, reader) = match reader {
            Reader::Token(name) => (Whose::Only(ReaderId::from(&**name)), ReaderId::from(&**name)),
            Reader::LocalUser => (Whose::Everybody, user.clone()),
        };
        Self { store, shared, archive, whose, reader }
    }

    /// The answer to a request; nothing where there is no such page.
    pub(crate) async fn answer(&self, request: &Request<Bytes>) -> Option<Response<PageBody>> {
        if request.method() != Method::GET {
            return None;
        }
        let path = request.uri().path();
        let Some(rest) = path.strip_prefix("/louver/api/") else { return files::file(path) };
        let query = Query::of(request.uri().query().unwrap_or_default());
        match self.api(rest, &query, request).await {
            Ok(answer) => Some(answer),
            Err(Fault::Missing) => None,
            Err(Fault::Invalid(why)) => Some(failed(StatusCode::BAD_REQUEST, &why)),
            Err(Fault::Store(error)) => Some(failed(StatusCode::SERVICE_UNAVAILABLE, &error.to_string())),
        }
    }

    async fn api(&self, path: &str, query: &Query, request: &Request<Bytes>) -> Answered {
        let parts: Vec<&str> = path.split('/').collect();
        let value = match parts[..] {
            ["about"] => self.about(),
            ["events"] => return Ok(self.events(request.headers())),
            ["conversations"] => return self.conversations(query).await,
            ["conversations", id] => self.conversation(id, query).await?,
            ["conversations", id, "cuts"] => self.cuts(id, query).await?,
            ["conversations", id, "cuts", cut] => self.cut(id, cut, query).await?,
            ["conversations", id, "messages", index] => self.message(id, index, query).await?,
            ["search"] => self.search(query).await?,
            ["money"] => self.money(query).await?,
            _ => return Err(Fault::Missing),
        };
        Ok(json_answer(&value))
    }

    /// What the page has to know before it asks for anything.
    fn about(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "archive": self.archive.name(),
            "reader": self.reader.as_str(),
            "is_owner": self.whose == Whose::Everybody,
        })
    }

    /// A conversation, if this reader may see its account.
    async fn account(&self, id: &str) -> Result<ConversationAccount, Fault> {
        self.store.flush().await?;
        let found = self.store.conversation(id.into()).await?.ok_or(Fault::Missing)?;
        match &self.whose {
            Whose::Only(reader) if *reader != found.info.reader => Err(Fault::Missing),
            _ => Ok(found),
        }
    }

    /// Whether what was said in a conversation is this reader's to read.
    fn may_read(&self, account: &ConversationAccount) -> bool {
        account.info.reader == self.reader
    }
}

fn json_answer(value: &Value) -> Response<PageBody> {
    answer(StatusCode::OK, "application/json", value.to_string())
}

fn failed(status: StatusCode, why: &str) -> Response<PageBody> {
    answer(status, "application/json", json!({ "error": why }).to_string())
}

/// An answer in one piece.
pub(crate) fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<PageBody> {
    let mut response = Response::new(Full::new(text.into()).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}
