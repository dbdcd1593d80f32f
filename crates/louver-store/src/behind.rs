//! What is written without anybody waiting for it.

use crate::account::Queued;
use crate::error::Error;
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many entries go into one transaction, and how many bytes: whoever asks for a decision waits no longer than that.
pub(crate) const TOGETHER: usize = 256;
const TOGETHER_BYTES: usize = 256 << 10;
/// How long an entry waits for others: a transaction costs much more than an entry.
const LINGER: Duration = Duration::from_millis(200);

/// One entry.
pub(crate) enum Behind<W> {
    /// Something to write, as often as it takes, and about how many bytes it has.
    Write { write: W, bytes: usize },
    /// Somebody waits for everything before it.
    Flush(oneshot::Sender<Result<(), Error>>),
}

impl<W> Behind<W> {
    /// What there is to write.
    pub(crate) fn to_write(&self) -> Option<&W> {
        match self {
            Self::Write { write, .. } => Some(write),
            Self::Flush(_) => None,
        }
    }

    pub(crate) fn is_flush(&self) -> bool {
        matches!(self, Self::Flush(_))
    }

    /// Tells whoever waits.
    pub(crate) fn answer(self, outcome: Result<(), Error>) {
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
pub(crate) struct Pending<W> {
    entries: VecDeque<Behind<W>>,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    lost: u64,
    /// How many were left behind those that were taken last.
    untried: usize,
    /// When those that wait are written although they are few.
    due: Option<Instant>,
}

impl<W> std::fmt::Debug for Pending<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("entries", &self.entries.len())
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl<W> Pending<W> {
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, max_entries, max_bytes, lost: 0, untried: 0, due: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// When what waits is to be written; nothing where nothing waits.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| !self.is_empty())
    }

    /// Takes an entry if there is room. It is due at once where enough wait for a transaction, or the room runs short.
    pub(crate) fn push(&mut self, entry: Behind<W>, is_closing: bool) -> Queued {
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
    pub(crate) fn flush(&mut self, reply: oneshot::Sender<Result<(), Error>>) {
        self.entries.push_back(Behind::Flush(reply));
        self.due = Some(Instant::now());
    }

    /// The next entries for one transaction.
    pub(crate) fn take(&mut self) -> Vec<Behind<W>> {
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
        self.untried = self.entries.len();
        taken
    }

    /// Keeps what could not be written for the next time, if there is one. Whoever waited before it was tried is told now;
    /// whoever came meanwhile waits for a try of their own.
    pub(crate) fn put_back(&mut self, entries: Vec<Behind<W>>, error: &Error, is_closing: bool) {
        let tried = entries.len() + self.untried;
        self.bytes += entries.iter().map(Behind::bytes).sum::<usize>();
        let all = entries.into_iter().chain(std::mem::take(&mut self.entries));
        for (position, entry) in all.enumerate() {
            if is_closing || (entry.is_flush() && position < tried) {
                self.bytes -= entry.bytes();
                self.lose(vec![entry], error);
            } else {
                self.entries.push_back(entry);
            }
        }
    }

    /// Whether somebody waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.entries.iter().any(Behind::is_flush)
    }

    /// Counts what will never be written.
    pub(crate) fn lose(&mut self, entries: Vec<Behind<W>>, error: &Error) {
        self.lost += entries.iter().filter(|entry| !entry.is_flush()).count() as u64;
        entries.into_iter().for_each(|entry| entry.answer(Err(error.clone())));
    }
}

#[cfg(test)]
mod tests {
    use super::{Behind, LINGER, Pending, Queued, TOGETHER};
    use crate::error::{Error, Kind};
    use std::time::Instant;
    use tokio::sync::oneshot;

    fn entry() -> Behind<()> {
        Behind::Write { write: (), bytes: 10 }
    }

    fn is_due(pending: &Pending<()>) -> bool {
        pending.due().is_some_and(|due| due <= Instant::now())
    }

    fn filled(pending: &mut Pending<()>, entries: usize) {
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

    #[test]
    fn whoever_comes_while_something_is_tried_is_not_told_that_it_failed() {
        let mut pending = Pending::new(10_000, 1 << 20);
        let (first, second) = (oneshot::channel(), oneshot::channel());
        let (mut told, mut waits) = (first.1, second.1);
        filled(&mut pending, 2);
        pending.flush(first.0);
        let tried = pending.take();
        filled(&mut pending, 1);
        pending.flush(second.0);
        let error = Error::new(Kind::Io, "gone");
        pending.put_back(tried, &error, false);
        assert!(told.try_recv().unwrap().is_err());
        assert!(waits.try_recv().is_err() && pending.is_awaited() && is_due(&pending));
        assert_eq!((pending.len(), pending.lost()), (4, 0));
        let tried = pending.take();
        pending.put_back(tried, &error, true);
        assert!(waits.try_recv().unwrap().is_err());
        assert_eq!((pending.len(), pending.lost(), pending.bytes), (0, 3, 0));
    }

    #[test]
    fn whoever_waits_behind_more_than_is_tried_at_once_is_told() {
        let mut pending = Pending::new(10_000, 1 << 20);
        let (reply, mut told) = oneshot::channel();
        filled(&mut pending, TOGETHER + 1);
        pending.flush(reply);
        let tried = pending.take();
        assert_eq!(tried.len(), TOGETHER);
        pending.put_back(tried, &Error::new(Kind::Full, "full"), false);
        assert!(told.try_recv().unwrap().is_err() && !pending.is_awaited());
        assert_eq!(pending.len(), TOGETHER + 1);
    }
}
