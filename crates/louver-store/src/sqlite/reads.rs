//! Threads that read. Small questions are answered where they are asked: waking a thread costs more than they do.

use super::place::Place;
use crate::error::{Error, Kind};
use rusqlite::Connection;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// How many questions may wait for a thread; more wait for a place.
const QUESTIONS: usize = 256;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

/// A few threads, each with a connection of its own.
#[derive(Debug)]
pub(super) struct Reads {
    place: Arc<Place>,
    queue: Arc<Queue>,
    permits: Arc<Semaphore>,
    /// For small questions; nothing once it is closed.
    here: Mutex<Option<Connection>>,
    /// One for each thread; its other end is dropped when the thread ends.
    ended: Mutex<Vec<oneshot::Receiver<()>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(Job, OwnedSemaphorePermit)>,
    is_closed: bool,
}

impl Reads {
    pub(super) fn start(place: &Arc<Place>, threads: usize) -> Result<Self, Error> {
        let permits = Arc::new(Semaphore::new(QUESTIONS));
        // Dropped on an error, it ends the threads that were started.
        let here = place.connect()?;
        // Whoever asks a small question does not wait for anything.
        here.busy_timeout(Duration::ZERO)?;
        let here = Mutex::new(Some(here));
        let mut reads = Self { place: place.clone(), queue: Arc::default(), permits, here, ended: Mutex::default() };
        for _ in 0..threads.max(1) {
            let (place, queue, mut connection) = (place.clone(), reads.queue.clone(), place.connect()?);
            let (ending, end) = oneshot::channel::<()>();
            let work = move || {
                while let Some((job, permit)) = queue.next() {
                    // The one who asked sees that no answer comes; the others are still served.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(&mut connection)));
                    drop(permit);
                }
                place.close(connection);
                drop(ending);
            };
            spawn("louver-store-read", work)?;
            reads.ended.get_mut().unwrap_or_else(PoisonError::into_inner).push(end);
        }
        Ok(reads)
    }

    /// Asks a question on one of the threads.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnMut(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| closed())?;
        let (reply, answer) = oneshot::channel();
        let place = self.place.clone();
        let job = move |connection: &mut Connection| {
            // Nobody may be waiting any more.
            let _ = reply.send(place.answer(connection, question));
        };
        self.queue.push((Box::new(job), permit))?;
        answer.await.map_err(|_| unanswered())?
    }

    /// Asks a question that takes a few microseconds on the thread of whoever asks, else as [`ask`](Self::ask).
    pub(super) async fn ask_small<T: Send + 'static>(
        &self,
        question: impl Fn(&mut Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        match self.answer_here(&question) {
            Some(answer) => answer,
            None => self.ask(question).await,
        }
    }

    /// The answer, unless somebody else is asking, another process is in the way or might have to be waited for.
    fn answer_here<T>(&self, question: &impl Fn(&mut Connection) -> Result<T, Error>) -> Option<Result<T, Error>> {
        let mut here = self.here.try_lock().ok().filter(|_| self.place.may_be_written())?;
        let connection = here.as_mut()?;
        let answer = self.place.answer(connection, question);
        Some(answer).filter(|answer| !answer.as_ref().is_err_and(Error::is_busy))
    }

    fn stop(&self) {
        self.permits.close();
        let here = self.here.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(here) = here {
            self.place.close(here);
        }
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_all();
    }

    /// Answers what was asked and ends the threads.
    pub(super) async fn close(&self) {
        self.stop();
        let ended = std::mem::take(&mut *self.ended.lock().unwrap_or_else(PoisonError::into_inner));
        for end in ended {
            let _ = end.await;
        }
    }
}

impl Drop for Reads {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: (Job, OwnedSemaphorePermit)) -> Result<(), Error> {
        let mut state = self.lock();
        if state.is_closed {
            return Err(closed());
        }
        state.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    fn next(&self) -> Option<(Job, OwnedSemaphorePermit)> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Starts a thread with a name.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<std::thread::JoinHandle<()>, Error> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|cause| Error::new(Kind::Other, "no thread could be started for the store").caused_by(cause))
}

pub(super) fn closed() -> Error {
    Error::new(Kind::Closed, "the store was closed")
}

pub(super) fn unanswered() -> Error {
    Error::new(Kind::Other, "the store gave no answer: something failed inside it")
}
