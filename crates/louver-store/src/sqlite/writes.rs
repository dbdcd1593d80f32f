//! The one thread that writes.
//!
//! What is asked for is written first, as much as waits in one transaction: a disk is asked to be sure once for all of it.
//! What is written behind goes in between, a little later, so that more of it shares a transaction.

use super::place::Place;
use super::reads::{closed, spawn, unanswered};
use crate::account::Queued;
use crate::behind::{Behind, Pending};
use crate::error::{Error, Kind};
use crate::maintenance::Status;
use rusqlite::{Connection, TransactionBehavior};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// How many writes may wait; more wait for a place.
const WRITES: usize = 1024;
/// How many go into one transaction.
const TOGETHER: usize = 128;
/// How long after a failure what is written behind is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Something that is written behind, as often as it takes.
pub(super) type WriteBehind = Box<dyn Fn(&Connection) -> Result<(), Error> + Send>;

/// An entry of about so many bytes.
pub(super) fn behind(
    bytes: usize,
    write: impl Fn(&Connection) -> Result<(), Error> + Send + 'static,
) -> Behind<WriteBehind> {
    Behind::Write { write: Box::new(write), bytes }
}

/// The thread's other end.
#[derive(Debug)]
pub(super) struct Writes {
    shared: Arc<Shared>,
    permits: Arc<Semaphore>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

#[derive(Debug)]
struct Shared {
    place: Arc<Place>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    asked: VecDeque<Box<dyn Write>>,
    behind: Pending<WriteBehind>,
    /// Whether it is the turn of what is written behind.
    is_behinds_turn: bool,
    /// When it may be tried again.
    again: Option<Instant>,
    /// Whether trouble with it was told since it last went well.
    is_told: bool,
    is_closing: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("asked", &self.asked.len()).field("behind", &self.behind).finish_non_exhaustive()
    }
}

/// A write that somebody waits for.
trait Write: Send {
    /// Writes inside a transaction. It may be called again after the transaction was undone.
    fn run(&mut self, connection: &Connection) -> Result<(), Error>;

    /// Tells whoever waits, after the transaction.
    fn answer(self: Box<Self>, outcome: Result<(), Error>);
}

struct Asked<T, F> {
    work: F,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, Error>>,
    _permit: OwnedSemaphorePermit,
}

impl<T: Send, F: FnMut(&Connection) -> Result<T, Error> + Send> Write for Asked<T, F> {
    fn run(&mut self, connection: &Connection) -> Result<(), Error> {
        let work = AssertUnwindSafe(|| (self.work)(connection));
        self.result = Some(catch_unwind(work).unwrap_or_else(|_| Err(unanswered()))?);
        Ok(())
    }

    fn answer(self: Box<Self>, outcome: Result<(), Error>) {
        let result = self.result;
        // Nobody may be waiting any more.
        let _ = self.reply.send(outcome.and_then(|()| result.ok_or_else(unanswered)));
    }
}

enum Turn {
    Asked(Vec<Box<dyn Write>>),
    Behind(Vec<Behind<WriteBehind>>),
    End,
}

impl Writes {
    pub(super) fn start(place: &Arc<Place>, entries: usize, bytes: usize) -> Result<Self, Error> {
        let state = State {
            asked: VecDeque::new(),
            behind: Pending::new(entries, bytes),
            is_behinds_turn: false,
            again: None,
            is_told: false,
            is_closing: false,
        };
        let shared = Arc::new(Shared { place: place.clone(), state: Mutex::new(state), changed: Condvar::new() });
        let mut thread = Thread { connection: place.connect()?, shared: shared.clone() };
        let (ending, ended) = oneshot::channel();
        spawn("louver-store-write", move || {
            thread.run();
            thread.shared.place.close(thread.connection);
            drop(ending);
        })?;
        Ok(Self { shared, permits: Arc::new(Semaphore::new(WRITES)), ended: Mutex::new(Some(ended)) })
    }

    /// Writes inside a transaction and waits until it is durable. The work may be run again after it was undone.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnMut(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            if state.is_closing {
                return Err(closed());
            }
            state.asked.push_back(Box::new(Asked { work, result: None, reply, _permit: permit }));
            self.shared.changed.notify_one();
        }
        answer.await.map_err(|_| unanswered())?
    }

    /// Lets something be written soon, with what else comes until then.
    pub(super) fn push(&self, entry: Behind<WriteBehind>) -> Queued {
        let mut state = self.shared.lock();
        let (is_closing, due) = (state.is_closing, state.behind.due());
        let queued = state.behind.push(entry, is_closing);
        // The thread need not be woken for one more of what it waits for already.
        if state.behind.due() != due {
            self.shared.changed.notify_one();
        }
        queued
    }

    /// Waits for what was pushed before.
    pub(super) async fn flush(&self) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            if state.is_closing {
                return Err(closed());
            }
            state.behind.flush(reply);
            // Somebody wants to know now.
            state.again = None;
            self.shared.changed.notify_one();
        }
        answer.await.map_err(|_| unanswered())?
    }

    pub(super) fn status(&self) -> Status {
        let state = self.shared.lock();
        Status { waiting: state.behind.len(), lost: state.behind.lost(), is_failing: state.again.is_some() }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.shared.lock().is_closing
    }

    fn stop(&self) {
        self.permits.close();
        self.shared.lock().is_closing = true;
        self.shared.changed.notify_all();
    }

    /// Writes what waits and ends the thread.
    pub(super) async fn close(&self) {
        self.stop();
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            // The other end is dropped when the thread ends.
            let _ = ended.await;
        }
    }
}

impl Drop for Writes {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for something to do.
    fn next(&self) -> Turn {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            let due = state.behind.due().map(|due| state.again.map_or(due, |again| again.max(due)));
            let may_write_behind = due.is_some_and(|due| state.is_closing || due <= now);
            if may_write_behind && (state.is_behinds_turn || state.asked.is_empty()) {
                state.is_behinds_turn = false;
                return Turn::Behind(state.behind.take());
            }
            if !state.asked.is_empty() {
                state.is_behinds_turn = true;
                let count = state.asked.len().min(TOGETHER);
                return Turn::Asked(state.asked.drain(..count).collect());
            }
            if state.is_closing {
                return Turn::End;
            }
            state = match due.map(|due| due.saturating_duration_since(now)) {
                Some(pause) => self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0,
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

struct Thread {
    connection: Connection,
    shared: Arc<Shared>,
}

impl Thread {
    fn run(&mut self) {
        loop {
            match self.shared.next() {
                Turn::Asked(writes) => self.write_asked(writes),
                Turn::Behind(entries) => self.write_behind(entries),
                Turn::End => return,
            }
        }
    }

    /// All in one transaction; where one of them fails, each in its own.
    fn write_asked(&mut self, mut writes: Vec<Box<dyn Write>>) {
        let mut is_one_to_blame = false;
        let outcome = self.transact(|connection| {
            writes.iter_mut().try_for_each(|write| write.run(connection)).inspect_err(|_| is_one_to_blame = true)
        });
        if outcome.is_err() && is_one_to_blame && writes.len() > 1 {
            for mut write in writes {
                let outcome = self.transact(|connection| write.run(connection));
                write.answer(outcome);
            }
            return;
        }
        writes.into_iter().for_each(|write| write.answer(outcome.clone()));
    }

    /// All in one transaction. What the store cannot take at all is dropped and counted, what it cannot take now is kept.
    fn write_behind(&mut self, entries: Vec<Behind<WriteBehind>>) {
        let outcome = self.apply(&entries);
        match outcome {
            Ok(()) => self.settle(entries, None),
            Err(error) if error.is_transient() => self.settle(entries, Some(error)),
            Err(error) if entries.len() == 1 => self.lose(entries, &error),
            Err(_) => self.write_each(entries),
        }
    }

    /// Each in its own transaction, up to the first that the store cannot take now: the rest waits behind it.
    fn write_each(&mut self, entries: Vec<Behind<WriteBehind>>) {
        let mut rest = entries.into_iter();
        while let Some(entry) = rest.next() {
            let mut entry = vec![entry];
            match self.apply(&entry) {
                Ok(()) => self.settle(entry, None),
                Err(error) if error.is_transient() => {
                    entry.extend(rest);
                    return self.settle(entry, Some(error));
                }
                Err(error) => self.lose(entry, &error),
            }
        }
    }

    fn apply(&mut self, entries: &[Behind<WriteBehind>]) -> Result<(), Error> {
        if entries.iter().all(Behind::is_flush) {
            return Ok(());
        }
        self.transact(|connection| entries.iter().filter_map(Behind::to_write).try_for_each(|write| write(connection)))
    }

    fn settle(&mut self, entries: Vec<Behind<WriteBehind>>, failure: Option<Error>) {
        let mut state = self.shared.lock();
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

    fn lose(&mut self, entries: Vec<Behind<WriteBehind>>, error: &Error) {
        let mut state = self.shared.lock();
        if !std::mem::replace(&mut state.is_told, true) {
            tracing::warn!(%error, "what the archive cannot take is lost");
        }
        state.behind.lose(entries, error);
    }

    /// Does work in a transaction; after an error nothing of it is left.
    fn transact(&mut self, work: impl FnOnce(&Connection) -> Result<(), Error>) -> Result<(), Error> {
        self.shared.place.check()?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let work = AssertUnwindSafe(|| work(&transaction));
        catch_unwind(work).unwrap_or_else(|_| Err(Error::new(Kind::Other, "something failed inside the store")))?;
        Ok(transaction.commit()?)
    }
}
