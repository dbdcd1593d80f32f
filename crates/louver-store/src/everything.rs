//! What is remembered of everything that a reader has archived, from one search over it to the next.
//!
//! How rare a term is and what stands beside a hit depends on all messages, and most of them are the same as they were at the
//! search before. A store says which were added since, and whether any was removed: then all are read again.

use crate::postings::{Log, LogMessage};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many messages are remembered, of all readers together; of the last one who asked, all are.
const MESSAGES: usize = 1_000_000;
/// How many common terms are remembered of a reader.
const COMMON_TERMS: usize = 10_000;

/// All messages of a reader at one moment.
#[derive(Debug)]
pub(crate) struct Everything<M> {
    /// The reader's number.
    pub(crate) reader: i64,
    pub(crate) log: Arc<Log>,
    /// Terms that were too common to matter; they stay so until messages are removed.
    pub(crate) common: Arc<CommonTerms>,
    /// When that was, as the store tells moments apart.
    pub(crate) moment: M,
}

impl<M> Everything<M> {
    /// All messages of a reader, by their ids.
    pub(crate) fn new(reader: i64, messages: &[LogMessage], moment: M) -> Self {
        Self { reader, log: Arc::new(Log::new(messages)), common: Arc::default(), moment }
    }

    /// The same at a later moment, with the messages that were added since.
    pub(crate) fn with(&self, added: &[LogMessage], moment: M) -> Self {
        let log = if added.is_empty() { Arc::clone(&self.log) } else { Arc::new(self.log.with(added)) };
        Self { reader: self.reader, log, common: Arc::clone(&self.common), moment }
    }
}

/// Terms that stand in more passages than are ever read for one.
#[derive(Debug, Default)]
pub(crate) struct CommonTerms(Mutex<HashSet<String>>);

impl CommonTerms {
    pub(crate) fn contains(&self, term: &str) -> bool {
        locked(&self.0).contains(term)
    }

    pub(crate) fn insert(&self, term: &str) {
        let mut terms = locked(&self.0);
        if terms.len() < COMMON_TERMS {
            terms.insert(term.to_owned());
        }
    }
}

/// What is remembered of each reader, those who asked last at the end.
#[derive(Debug)]
pub(crate) struct Remembered<M>(Mutex<Vec<(String, Arc<Everything<M>>)>>);

impl<M> Default for Remembered<M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<M> Remembered<M> {
    /// What is remembered of a reader. Whoever goes on from it must look at the store afterwards, not before.
    pub(crate) fn get(&self, reader: &str) -> Option<Arc<Everything<M>>> {
        let known = locked(&self.0);
        known.iter().find(|(name, _)| name == reader).map(|(_, everything)| Arc::clone(everything))
    }

    /// Remembers what was seen last.
    pub(crate) fn put(&self, reader: &str, everything: Arc<Everything<M>>) {
        let mut known = locked(&self.0);
        known.retain(|(name, _)| name != reader);
        known.push((reader.to_owned(), everything));
        let mut messages = 0;
        let kept = known.iter().rev().take_while(|(_, everything)| {
            messages += everything.log.len();
            messages <= MESSAGES
        });
        let forgotten = known.len() - kept.count().max(1);
        known.drain(..forgotten);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
