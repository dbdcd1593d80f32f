//! A few connections, and who may use them.
//!
//! Everything happens on threads of the store's own, so that a call that is given up comes to its end all the same, and
//! connections outlive the runtime of whoever asked first.

use super::address::Address;
use super::failure::is_race;
use super::session::Session;
use crate::error::{Error, Kind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How often something is tried again because others were faster.
const RACES: u32 = 5;

/// What a piece of work gives.
pub(super) type Answer<'s, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 's>>;

/// Something to be done with a connection, given what was asked.
pub(super) type Work<A, T> = for<'s> fn(&'s mut Session, &'s A) -> Answer<'s, T>;

/// How long something may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Requests wait for it.
    Quick,
    /// Lists and searches: only so many at once, so that a connection is left for what is quick.
    Long,
}

/// Connections to one database.
#[derive(Debug)]
pub(super) struct Pool {
    pub(super) address: Address,
    runtime: Handle,
    idle: Mutex<Vec<Session>>,
    permits: Semaphore,
    long: Semaphore,
    limit: Duration,
    is_failing: AtomicBool,
}

impl Pool {
    pub(super) fn new(address: Address, runtime: Handle, connections: usize, limit: Duration) -> Self {
        let (all, long) = (connections.max(2), (connections / 2).max(1));
        Self {
            address,
            runtime,
            idle: Mutex::default(),
            permits: Semaphore::new(all),
            long: Semaphore::new(long),
            limit,
            is_failing: AtomicBool::new(false),
        }
    }

    /// How long a question may take.
    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Does work that may be done again: where others were faster, and once where the connection was lost.
    pub(super) async fn run<A: Send + Sync + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        lane: Lane,
        asked: A,
        work: Work<A, T>,
    ) -> Result<T, Error> {
        if self.is_closed() {
            return Err(closed());
        }
        let pool = Arc::clone(self);
        let running = self.runtime.spawn(async move { pool.admitted(lane, &asked, work).await });
        running.await.map_err(|_| unanswered())?
    }

    async fn admitted<A: Sync, T: Send>(&self, lane: Lane, asked: &A, work: Work<A, T>) -> Result<T, Error> {
        let _long = match lane {
            Lane::Long => Some(self.long.acquire().await.map_err(|_| closed())?),
            Lane::Quick => None,
        };
        let waited = timeout(self.limit, self.permits.acquire()).await;
        let _permit = waited.map_err(|_| too_slow())?.map_err(|_| closed())?;
        let mut tries = 0;
        loop {
            // Where the connection was lost, the work may have been done before it was.
            let again = |error: Error| if tries > 0 { error.unclear() } else { error };
            let mut session = self.session().await.map_err(again)?;
            let done = timeout(self.limit, work(&mut session, asked)).await;
            let done = done.unwrap_or_else(|_| Err(too_slow().unclear()));
            tries += 1;
            let error = match done {
                Ok(answer) => {
                    self.put_back(session);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            let is_lost = lost(&session, &error);
            if !is_lost {
                self.clean(session).await;
            }
            match () {
                () if is_lost && tries == 1 => self.forget(),
                () if raced(&error) && tries < RACES => {}
                () if is_lost => return Err(error.unclear()),
                () => return Err(error),
            }
        }
    }

    /// A connection of its own for somebody who keeps it.
    pub(super) async fn connect(&self) -> Result<Session, Error> {
        let connected = async {
            let mut session = Session::new(self.address.connect().await?);
            session.batch(&settings(self.limit)).await?;
            Ok(session)
        };
        // Whoever accepts a connection may still never say a word.
        let connected: Result<Session, Error> =
            timeout(self.limit, connected).await.unwrap_or_else(|_| Err(too_slow()));
        self.is_failing.store(connected.is_err(), Ordering::Relaxed);
        connected
    }

    async fn session(&self) -> Result<Session, Error> {
        let idle = self.idle().pop().filter(|session| !session.client.is_closed());
        match idle {
            Some(session) => Ok(session),
            None => self.connect().await,
        }
    }

    /// Undoes what is left of work that failed.
    async fn clean(&self, mut session: Session) {
        if let Ok(Ok(())) = timeout(self.limit, session.batch("ROLLBACK")).await {
            self.put_back(session);
        }
    }

    fn put_back(&self, session: Session) {
        self.is_failing.store(false, Ordering::Relaxed);
        if !self.permits.is_closed() {
            self.idle().push(session);
        }
    }

    /// Drops connections that are likely to be as dead as the one that was just tried.
    fn forget(&self) {
        self.idle().clear();
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Session>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the server could not be reached when it was last tried.
    pub(super) fn is_failing(&self) -> bool {
        self.is_failing.load(Ordering::Relaxed)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }

    /// Lets nobody in any more.
    pub(super) fn close(&self) {
        self.permits.close();
        self.long.close();
        self.forget();
    }
}

/// Whether the connection is gone; the server may have said so before it closes.
pub(super) fn lost(session: &Session, error: &Error) -> bool {
    session.client.is_closed() || error.kind() == Kind::Io
}

/// Whether others were faster.
pub(super) fn raced(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<tokio_postgres::Error>());
    cause.and_then(tokio_postgres::Error::code).is_some_and(is_race)
}

/// What a connection is told first: a commit is durable when it is said to be, and nothing takes for ever. Helpers and compiled
/// plans are for large questions; to start them for one of ours takes twenty times what it takes to answer it.
fn settings(limit: Duration) -> String {
    let milliseconds = limit.as_millis();
    format!(
        "SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write');
        SET statement_timeout = {milliseconds}; SET lock_timeout = {milliseconds};
        SET idle_in_transaction_session_timeout = {milliseconds}; SET client_min_messages = error;
        SET max_parallel_workers_per_gather = 0; SET jit = off"
    )
}

pub(super) fn too_slow() -> Error {
    Error::new(Kind::Busy, "the store's server did not answer in time")
}

pub(super) fn closed() -> Error {
    Error::new(Kind::Closed, "the store was closed")
}

pub(super) fn unanswered() -> Error {
    Error::new(Kind::Other, "the store gave no answer: something failed inside it")
}
