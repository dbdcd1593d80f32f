//! A store in one SQLite file, for any number of processes on one machine.
//!
//! One thread writes, a few read; calls are handed to them and wait in bounded queues, but for the smallest questions. What
//! is asked for is on disk when a call returns (write-ahead log, `synchronous=FULL`); calls that wait at the same time share
//! one turn of the disk. A file that is moved or removed while it is open is noticed, and nothing more is written to it.

mod account;
mod content;
mod decisions;
mod erase;
mod facts;
mod failure;
mod maintenance;
mod migrations;
mod on_chain;
mod place;
mod reads;
mod search;
mod values;
mod writes;

use crate::error::Error;
use place::{Access, Place};
use reads::Reads;
use search::Remembered;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use writes::Writes;

/// How a [`SqliteStore`] is opened.
///
/// ```
/// use louver_store::sqlite::SqliteOptions;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("store.db");
/// let error = SqliteOptions::default().create(false).open(&path).unwrap_err();
/// assert!(error.is_gone());
/// assert!(SqliteOptions::default().readers(1).open(&path).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct SqliteOptions {
    access: Access,
    busy_timeout: Duration,
    readers: usize,
    max_bytes: Option<u64>,
    queue_entries: usize,
    queue_bytes: usize,
}

impl Default for SqliteOptions {
    /// Made if it is not there, 5 s for other processes to finish, 2 readers, no limit of the file's size, 10,000 entries or
    /// 64 MiB to be written behind.
    fn default() -> Self {
        Self {
            access: Access::Write { is_made: true },
            busy_timeout: Duration::from_secs(5),
            readers: 2,
            max_bytes: None,
            queue_entries: 10_000,
            queue_bytes: 64 << 20,
        }
    }
}

impl SqliteOptions {
    /// Whether to make the file, for its owner alone, and the folders above it that are missing.
    #[must_use]
    pub fn create(mut self, is_made: bool) -> Self {
        self.access = Access::Write { is_made };
        self
    }

    /// Only reads, from a file that is there: neither it nor anything beside it is made, changed or locked for writing, so
    /// it may be where nothing can be written. Whatever would write fails with [`Error::is_read_only`].
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::Read;
        self
    }

    /// How long to wait for another process that writes.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// How many threads read.
    #[must_use]
    pub fn readers(mut self, threads: usize) -> Self {
        self.readers = threads;
        self
    }

    /// How large the file may grow; more is refused with [`Error::is_full`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = Some(bytes);
        self
    }

    /// How many entries, and how many bytes of them, may wait to be written behind.
    #[must_use]
    pub fn queue(mut self, entries: usize, bytes: usize) -> Self {
        (self.queue_entries, self.queue_bytes) = (entries, bytes);
        self
    }

    /// Opens the file and brings its schema up to date where it may be written. Blocks for as long as that takes.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, is no store, or was made by a newer version.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteStore, Error> {
        let place = Place::find(path.as_ref(), self.access, self.busy_timeout, self.max_bytes)?;
        place.prepare()?;
        let place = Arc::new(place);
        let reads = Reads::start(&place, self.readers)?;
        let writes = Writes::start(&place, self.queue_entries, self.queue_bytes)?;
        let remembered = Arc::default();
        Ok(SqliteStore { place, reads, writes, remembered, maintenance: tokio::sync::Mutex::new(()) })
    }
}

/// A store in one SQLite file.
///
/// Dropping it writes what waits, but does not wait for that; [`close`](crate::Maintenance::close) does.
#[derive(Debug)]
pub struct SqliteStore {
    place: Arc<Place>,
    reads: Reads,
    writes: Writes,
    remembered: Arc<Remembered>,
    /// Held by whoever maintains.
    maintenance: tokio::sync::Mutex<()>,
}

impl SqliteStore {
    /// Opens a file as [`SqliteOptions::default`] says.
    ///
    /// # Errors
    ///
    /// See [`SqliteOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        SqliteOptions::default().open(path)
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.place.path()
    }
}
