//! What is written without anybody waiting for it.

use crate::account::Queued;
use crate::error::Error;
use rusqlite::Connection;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many entries go into one transaction, and how many bytes: whoever asks for a decision waits no longer than that.
const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 256 << 10;
/// How long an entry waits for others: a transaction costs much more than an entry.
const LINGER: Duration = Duration::from_millis(200);

/// One entry.
pub(super) enum Behind {
    /// Something to write, as often as it takes, and about how many bytes it has.
    Write { write: Write, bytes: usize },
    /// Somebody waits for everything before it.
    Flush(oneshot::Sender<Result<(), Error>>),
}

/// Writes an entry.
type Write = Box<dyn Fn(&Connection) -> Result<(), Error> + Send>;

impl Behind {
    pub(super) fn write(bytes: usize, write: impl Fn(&Connection) -> Result<(), Error> + Send + 'static) -> Self {
        Self::Write { write: Box::new(write), bytes }
    }

    pub(super) fn apply(&self, connection: &Connection) -> Result<(), Error> {
        match self {
            Self::Write { write, .. } => write(connection),
            Self::Flush(_) => Ok(()),
        }
    }

    pub(super) fn is_flush(&self) -> bool {
        matches!(self, Self::Flush(_))
    }

    /// Tells whoever waits.
    pub(super) fn answer(self, outcome: Result<(), Error>) {
        if let Self::Flush(reply) = self {
            let _ = reply.send(outcome);
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Write { bytes, .. } => *bytes,
            Self::Flush(_) => 0,
        }
    }
}

/// Entries that wait, in their order; only so many, and so large.
pub(super) struct Pending {
    entries: VecDeque<Behind>,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    lost: u64,
    /// When those that wait are written although they are few.
    due: Option<Instant>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("entries", &self.entries.len())
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl Pending {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, max_entries, max_bytes, lost: 0, due: None }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// When what waits is to be written; nothing where nothing waits.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.is_empty())
    }

    /// Takes an entry if there is room. It is due at once where enough wait for a transaction, or the room runs short.
    pub(super) fn push(&mut self, entry: Behind, is_closing: bool) -> Queued {
        let bytes = entry.bytes();
        if is_closing || self.entries.len() >= self.max_entries || self.bytes + bytes > self.max_bytes {
            self.lost += 1;
            return Queued::Lost;
        }
        let due = self.due();
        self.bytes += bytes;
        self.entries.push_back(entry);
        let is_full = self.bytes >= TOGETHER_BYTES.min(self.max_bytes / 2);
        let is_enough = is_full || self.len() >= TOGETHER.min(self.max_entries / 2);
        let now = Instant::now();
        let own = if is_enough { now } else { now + LINGER };
        self.due = Some(due.map_or(own, |due| due.min(own)));
        Queued::Waiting
    }

    /// There is always room for somebody who waits: they are as many as there are callers.
    pub(super) fn flush(&mut self, reply: oneshot::Sender<Result<(), Error>>) {
        self.entries.push_back(Behind::Flush(reply));
        self.due = Some(Instant::now());
    }

    /// The next entries for one transaction.
    pub(super) fn take(&mut self) -> Vec<Behind> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some(entry) = self.entries.pop_front() {
            bytes += entry.bytes();
            taken.push(entry);
            if taken.len() >= TOGETHER || bytes >= TOGETHER_BYTES {
                break;
            }
        }
        self.bytes -= bytes.min(self.bytes);
        taken
    }

    /// Keeps what could not be written for the next time, if there is one; whoever waits is told now.
    pub(super) fn put_back(&mut self, entries: Vec<Behind>, error: &Error, is_closing: bool) {
        for entry in entries.into_iter().rev() {
            self.bytes += entry.bytes();
            self.entries.push_front(entry);
        }
        let is_kept = |entry: &Behind| !is_closing && !entry.is_flush();
        for entry in std::mem::take(&mut self.entries) {
            if is_kept(&entry) {
                self.entries.push_back(entry);
            } else {
                self.bytes -= entry.bytes();
                self.lose(vec![entry], error);
            }
        }
    }

    /// Counts what will never be written.
    pub(super) fn lose(&mut self, entries: Vec<Behind>, error: &Error) {
        self.lost += entries.iter().filter(|entry| !entry.is_flush()).count() as u64;
        entries.into_iter().for_each(|entry| entry.answer(Err(error.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::{Behind, LINGER, Pending, Queued, TOGETHER};
    use std::time::Instant;
    use tokio::sync::oneshot;

    fn entry() -> Behind {
        Behind::write(10, |_| Ok(()))
    }

    fn is_due(pending: &Pending) -> bool {
        pending.due().is_some_and(|due| due <= Instant::now())
    }

    fn filled(pending: &mut Pending, entries: usize) {
        (0..entries).for_each(|_| assert_eq!(pending.push(entry(), false), Queued::Waiting));
    }

    #[test]
    fn an_entry_waits_for_others_and_they_do_not_make_it_wait_longer() {
        let mut pending = Pending::new(10_000, 1 << 20);
        assert_eq!(pending.due(), None);
        let before = Instant::now();
        filled(&mut pending, 1);
        let due = pending.due();
        assert!(due >= Some(before + LINGER));
        filled(&mut pending, TOGETHER - 2);
        assert_eq!(pending.due(), due);
    }

    #[test]
    fn enough_entries_or_somebody_who_waits_are_due_at_once() {
        for (room, enough) in [(10_000, TOGETHER), (6, 3), (1, 1)] {
            let mut pending = Pending::new(room, 1 << 20);
            filled(&mut pending, enough);
            assert!(is_due(&pending), "{room}");
            assert_eq!(pending.take().len(), enough);
            assert_eq!(pending.due(), None);
        }
        let mut pending = Pending::new(10_000, 30);
        filled(&mut pending, 2);
        assert!(is_due(&pending), "bytes");
        let mut pending = Pending::new(10_000, 1 << 20);
        filled(&mut pending, 1);
        pending.flush(oneshot::channel().0);
        assert!(is_due(&pending), "flush");
    }
}
