//! What is written without anybody waiting for it.

use super::booking::{conversation_number, insert, reader_number};
use super::decisions::version;
use super::pool::{Pool, closed, lost, raced, too_slow, unanswered};
use super::put::put;
use super::session::Session;
use crate::account::{ConversationInfo, Queued, RequestEntry};
use crate::behind::{Behind, Pending};
use crate::content::NewContent;
use crate::error::{Error, Kind};
use crate::maintenance::Status;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

/// How long after a failure what is written behind is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the server is asked whether it is there, where nobody else asks it.
const HEARTBEAT: Duration = Duration::from_secs(2);
/// How often something is tried again at once because others were faster.
const RACES: u32 = 5;

/// How often whoever closes the store asks what became of a commit.
const CLOSING_TRIES: u32 = 60;

/// Something to write.
pub(super) enum Entry {
    Request(Box<(ConversationInfo, RequestEntry)>),
    Content(Box<NewContent>),
}

impl Entry {
    fn conversation(&self) -> &str {
        match self {
            Self::Request(request) => request.0.id.as_str(),
            Self::Content(content) => content.conversation.id.as_str(),
        }
    }

    async fn write(&self, session: &mut Session) -> Result<(), Error> {
        match self {
            Self::Request(request) => insert(session, &request.0, &request.1).await,
            Self::Content(content) => {
                let reader = reader_number(session, content.conversation.reader.as_str()).await?;
                let conversation = conversation_number(session, &content.conversation, content.at).await?;
                put(session, content, reader, conversation).await.map(drop)
            }
        }
    }
}

/// The other end of whoever writes.
#[derive(Debug)]
pub(super) struct Writer {
    state: Mutex<State>,
    changed: Notify,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

struct State {
    behind: Pending<Entry>,
    /// When it may be tried again.
    again: Option<Instant>,
    /// Whether trouble with it was told since it last went well.
    is_told: bool,
    is_closing: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("behind", &self.behind).finish_non_exhaustive()
    }
}

enum Turn {
    Write(Vec<Behind<Entry>>),
    Wait(Duration),
    End,
}

impl Writer {
    pub(super) fn new(entries: usize, bytes: usize, ended: oneshot::Receiver<()>) -> Self {
        let behind = Pending::new(entries, bytes);
        let state = State { behind, again: None, is_told: false, is_closing: false };
        Self { state: Mutex::new(state), changed: Notify::new(), ended: Mutex::new(Some(ended)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets something be written soon, with what else comes until then.
    pub(super) fn push(&self, bytes: usize, entry: Entry) -> Queued {
        let mut state = self.lock();
        let (is_closing, due) = (state.is_closing, state.behind.due());
        let queued = state.behind.push(Behind::Write { write: entry, bytes }, is_closing);
        if state.behind.due() != due {
            self.changed.notify_one();
        }
        queued
    }

    /// Waits for what was pushed before.
    pub(super) async fn flush(&self) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.lock();
            if state.is_closing {
                return Err(closed());
            }
            state.behind.flush(reply);
            // Somebody wants to know now.
            state.again = None;
        }
        self.changed.notify_one();
        answer.await.map_err(|_| unanswered())?
    }

    pub(super) fn status(&self, is_pool_failing: bool) -> Status {
        let state = self.lock();
        let is_failing = state.again.is_some() || is_pool_failing;
        Status { waiting: state.behind.len(), lost: state.behind.lost(), is_failing }
    }

    pub(super) fn stop(&self) {
        self.lock().is_closing = true;
        self.changed.notify_one();
    }

    /// Waits until everything is written and the thread has ended.
    pub(super) async fn close(&self) {
        self.stop();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            // The other end is dropped when the thread ends.
            let _ = ended.await;
        }
    }

    fn next(&self) -> Turn {
        let mut state = self.lock();
        let now = Instant::now();
        let due = state.behind.due().map(|due| state.again.map_or(due, |again| again.max(due)));
        match due {
            Some(due) if state.is_closing || due <= now => Turn::Write(state.behind.take()),
            Some(due) => Turn::Wait(due.saturating_duration_since(now).min(HEARTBEAT)),
            None if state.is_closing => Turn::End,
            None => Turn::Wait(HEARTBEAT),
        }
    }

    /// Writes until the store is closed.
    pub(super) async fn run(&self, pool: &Arc<Pool>) {
        let mut writing = Writing { pool, session: None, writer: self };
        let mut heard = Instant::now();
        loop {
            match self.next() {
                Turn::Write(entries) => writing.write(entries).await,
                Turn::Wait(time) => drop(tokio::time::timeout(time, self.changed.notified()).await),
                Turn::End => return,
            }
            if heard.elapsed() >= HEARTBEAT {
                heard = Instant::now();
                // Whether it can be reached is noted where connections are made.
                let _ = pool.run(super::pool::Lane::Quick, (), |session, ()| Box::pin(version(session))).await;
            }
        }
    }
}

/// Whoever writes, and with which connection.
struct Writing<'w> {
    pool: &'w Arc<Pool>,
    session: Option<Session>,
    writer: &'w Writer,
}

impl Writing<'_> {
    /// All in one transaction. What the store cannot take at all is dropped and counted, what it cannot take now is kept.
    async fn write(&mut self, entries: Vec<Behind<Entry>>) {
        match self.apply(&entries).await {
            Ok(()) => self.settle(entries, None),
            Err(error) if error.is_transient() => self.settle(entries, Some(error)),
            Err(error) if entries.len() == 1 => self.lose(entries, &error),
            Err(_) => self.write_each(entries).await,
        }
    }

    /// Each in its own transaction, up to the first that the store cannot take now: the rest waits behind it.
    async fn write_each(&mut self, entries: Vec<Behind<Entry>>) {
        let mut rest = entries.into_iter();
        while let Some(entry) = rest.next() {
            let mut entry = vec![entry];
            match self.apply(&entry).await {
                Ok(()) => self.settle(entry, None),
                Err(error) if error.is_transient() => {
                    entry.extend(rest);
                    return self.settle(entry, Some(error));
                }
                Err(error) => self.lose(entry, &error),
            }
        }
    }

    async fn apply(&mut self, entries: &[Behind<Entry>]) -> Result<(), Error> {
        let mut entries: Vec<&Entry> = entries.iter().filter_map(Behind::to_write).collect();
        // In one order for everybody, so that nobody waits for somebody who waits.
        entries.sort_by_key(|entry| entry.conversation().to_owned());
        if entries.is_empty() {
            return Ok(());
        }
        let mut tries = 0;
        loop {
            tries += 1;
            // A connection that has lain idle may be dead.
            let is_used = self.session.is_some();
            // A message that our own reading of it cannot take ends nobody else's writing.
            let done = AssertUnwindSafe(self.transact(&entries)).catch_unwind().await;
            match done.unwrap_or_else(|_| Err(unanswered())) {
                Err(error) if raced(&error) && tries < RACES => {}
                Err(error) if error.kind() == Kind::Io && is_used && tries == 1 => {}
                done => return done,
            }
        }
    }

    /// Writes in a transaction; after an error nothing of it is left.
    async fn transact(&mut self, entries: &[&Entry]) -> Result<(), Error> {
        let mut session = match self.session.take() {
            Some(session) if !session.client.is_closed() => session,
            _ => self.pool.connect().await?,
        };
        let begun = begin_and_write(&mut session, entries).await;
        let number = match begun {
            Ok(number) => number,
            Err(error) => {
                if session.batch("ROLLBACK").await.is_ok() {
                    self.session = Some(session);
                }
                return Err(error);
            }
        };
        // A standby that has to confirm may be away for as long as it likes.
        match timeout(self.pool.limit(), session.batch("COMMIT")).await {
            Err(_) => self.read_back(&number, too_slow()).await,
            Ok(Err(error)) if lost(&session, &error) => self.read_back(&number, error).await,
            Ok(done) => {
                self.session = Some(session);
                done
            }
        }
    }

    /// No answer came while it was committed: nobody but the server knows whether it was. It is asked until it says so,
    /// because what is written twice counts twice; only whoever closes does not wait for it for long.
    async fn read_back(&self, number: &str, error: Error) -> Result<(), Error> {
        let mut left = CLOSING_TRIES;
        while left > 0 {
            left -= u32::from(self.writer.lock().is_closing);
            let asked = async {
                let mut session = self.pool.connect().await?;
                let sql = "SELECT pg_xact_status($1::text::xid8)";
                Ok::<Option<String>, Error>(session.query_one(sql, &[&number]).await?.try_get(0)?)
            };
            match timeout(self.pool.limit(), asked).await.as_ref().map(|asked| asked.as_ref().map(Option::as_deref)) {
                Ok(Ok(Some("committed"))) => return Ok(()),
                Ok(Ok(Some("aborted"))) => return Err(error),
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
        Err(error)
    }

    fn settle(&self, entries: Vec<Behind<Entry>>, failure: Option<Error>) {
        let mut state = self.writer.lock();
        let Some(error) = failure else {
            (state.again, state.is_told) = (None, false);
            entries.into_iter().for_each(|entry| entry.answer(Ok(())));
            return;
        };
        let is_closing = state.is_closing;
        if !std::mem::replace(&mut state.is_told, true) {
            tracing::warn!(%error, waiting = state.behind.len() + entries.len(), "the archive cannot be written now");
        }
        state.behind.put_back(entries, &error, is_closing);
        let pause = if state.behind.is_awaited() { Duration::ZERO } else { PAUSE };
        state.again = Some(Instant::now() + pause);
    }

    fn lose(&self, entries: Vec<Behind<Entry>>, error: &Error) {
        let mut state = self.writer.lock();
        if !std::mem::replace(&mut state.is_told, true) {
            tracing::warn!(%error, "what the archive cannot take is lost");
        }
        state.behind.lose(entries, error);
    }
}

/// Everything but the commit; says by which number the server knows the transaction.
async fn begin_and_write(session: &mut Session, entries: &[&Entry]) -> Result<String, Error> {
    session.batch("BEGIN").await?;
    for entry in entries {
        entry.write(session).await?;
    }
    Ok(session.query_one("SELECT pg_current_xact_id()::text", &[]).await?.try_get(0)?)
}
