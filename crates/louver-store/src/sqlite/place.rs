//! The file, and whether it is still the one that was opened.

use super::migrations::{MIGRATIONS, check_readable, migrate};
use crate::error::{Error, Kind};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How large the log beside the file may stay after it was emptied.
const LOG_BYTES: i64 = 32 << 20;
/// Pages in memory for each connection, in kibibytes.
const CACHE_KIB: i64 = 8 << 10;
/// Prepared statements for each connection.
const STATEMENTS: usize = 64;
/// Between two attempts at what SQLite itself does not wait for.
const PAUSE: Duration = Duration::from_millis(10);

/// A store's file and how it is opened.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    identity: Option<(u64, u64)>,
    busy_timeout: Duration,
    max_bytes: Option<u64>,
    access: Access,
    /// Held by whoever closes a connection.
    closing: Mutex<()>,
}

/// What may be done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// All; where the file is missing, it may be made.
    Write { is_made: bool },
    /// It is read, and neither it nor anything beside it is touched.
    Read,
}

/// What a file is known by while nobody writes to it: its length, and when that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Still {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl Place {
    /// Finds or makes the file.
    pub(super) fn find(
        path: &Path,
        access: Access,
        busy_timeout: Duration,
        max_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        // An absolute path is never taken for a URI.
        let path = std::path::absolute(path).map_err(|cause| unusable(path, cause))?;
        if access == (Access::Write { is_made: true }) {
            make(&path).map_err(|cause| unusable(&path, cause))?;
        }
        let metadata = std::fs::metadata(&path).map_err(|cause| unusable(&path, cause))?;
        if !metadata.is_file() {
            return Err(Error::new(Kind::Corrupt, format!("{} is not a file", path.display())));
        }
        Ok(Self { identity: identity(&metadata), path, busy_timeout, max_bytes, access, closing: Mutex::default() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file and of the log beside it.
    pub(super) fn bytes(&self) -> u64 {
        let file = self.path.metadata().map_or(0, |metadata| metadata.len());
        file + self.log_bytes()
    }

    fn log_bytes(&self) -> u64 {
        self.beside("-wal").metadata().map_or(0, |metadata| metadata.len())
    }

    /// A file that SQLite keeps beside this one.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        name.into()
    }

    /// Whether the file is where it was: what is written to a file without a name is lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        let gone = || Error::new(Kind::Gone, format!("the store {} was moved or removed", self.path.display()));
        let metadata = std::fs::metadata(&self.path).map_err(|cause| gone().caused_by(cause))?;
        if identity(&metadata) == self.identity { Ok(()) } else { Err(gone()) }
    }

    /// Answers a question, from a file that is still the one that was opened.
    pub(super) fn answer<T>(
        &self,
        connection: &mut Connection,
        mut question: impl FnMut(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.check()?;
        if self.may_be_written() {
            return question(connection);
        }
        self.patiently(|| self.answer_unchanged(connection, &mut question))
    }

    /// Answers a question from a file that nobody changes meanwhile, or that keeps a log.
    fn answer_unchanged<T>(
        &self,
        connection: &mut Connection,
        question: impl FnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Somebody may have begun to write, or have ended: either is another way to read.
        let still = self.still()?;
        *connection = self.connect_to_read(still.is_some())?;
        let answer = question(connection);
        if still.is_some() && self.still()? != still {
            return Err(changing());
        }
        answer
    }

    /// Tries again, for as long as others may be waited for.
    fn patiently<T>(&self, mut attempt: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        let deadline = Instant::now() + self.busy_timeout;
        loop {
            match attempt() {
                Err(error) if error.is_busy() && Instant::now() < deadline => std::thread::sleep(PAUSE),
                done => return done,
            }
        }
    }

    pub(super) fn may_be_written(&self) -> bool {
        self.access != Access::Read
    }

    /// What the file is known by, if all that was written stands in it and not in the log.
    fn still(&self) -> Result<Option<Still>, Error> {
        let metadata = std::fs::metadata(&self.path).map_err(|cause| unusable(&self.path, cause))?;
        let still = Still { bytes: metadata.len(), changed: metadata.modified().ok() };
        Ok((self.log_bytes() == 0).then_some(still))
    }

    /// Opens the file for the first time: its schema is brought up to date, where it may be written.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let named =
            |error: Error| Error::new(error.kind(), format!("{}: {error}", self.path.display())).caused_by(error);
        let ready = |mut connection: Connection| match self.access {
            Access::Write { .. } => migrate(&mut connection, MIGRATIONS),
            Access::Read => check_readable(&connection, MIGRATIONS),
        };
        // Turning the log on does not wait for others who do the same.
        self.patiently(|| self.connect().and_then(ready)).map_err(named)
    }

    /// A connection of its own for a thread.
    pub(super) fn connect(&self) -> Result<Connection, Error> {
        match self.access {
            Access::Write { .. } => self.connect_to_write(),
            Access::Read => self.patiently(|| self.connect_to_read(self.still()?.is_some())),
        }
    }

    /// Gives a connection back, one after the other: the last one takes the log into the file, and of two that close at
    /// once neither is the last.
    pub(super) fn close(&self, connection: Connection) {
        let _turn = self.closing.lock().unwrap_or_else(PoisonError::into_inner);
        drop(connection);
    }

    /// Reads the log along where there is one. Where there is none, SQLite would make it, so it is told that nobody writes;
    /// [`answer`](Self::answer) makes sure that this was so.
    fn connect_to_read(&self, is_still: bool) -> Result<Connection, Error> {
        if !is_still && !self.beside("-shm").exists() {
            if self.still()?.is_some() {
                return Err(changing());
            }
            let message = "its log was not taken into it and cannot be read here: let `louver archive list` open it once \
                           where it may be written";
            return Err(Error::new(Kind::ReadOnly, message));
        }
        let setting = if is_still { "immutable=1" } else { "readonly_shm=1" };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let address = format!("file:{}?{setting}", in_address(&self.path));
        let connection = Connection::open_with_flags(address, flags).map_err(|cause| self.unopened(cause))?;
        connection.busy_timeout(self.busy_timeout)?;
        furnish(&connection)?;
        Ok(connection)
    }

    fn connect_to_write(&self) -> Result<Connection, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags).map_err(|cause| self.unopened(cause))?;
        connection.busy_timeout(self.busy_timeout)?;
        if connection.is_readonly("main")? {
            return Err(Error::new(Kind::ReadOnly, "the store may not be written"));
        }
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
        if mode != "wal" {
            return Err(Error::new(Kind::Io, "the store's folder does not allow the log that SQLite keeps beside it"));
        }
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "secure_delete", "on")?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        if let Some(bytes) = self.max_bytes {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        furnish(&connection)?;
        Ok(connection)
    }

    /// SQLite does not say why a file cannot be opened. It is only opened here where SQLite could not: closing it would
    /// give up the locks that this process has on it.
    fn unopened(&self, cause: rusqlite::Error) -> Error {
        match File::open(&self.path) {
            Err(error) if cause.sqlite_error_code() == Some(ErrorCode::CannotOpen) => unusable(&self.path, error),
            _ => cause.into(),
        }
    }
}

/// Somebody begins or ends to write while the file is read.
fn changing() -> Error {
    Error::new(Kind::Busy, "the store was written while it was read: ask again")
}

/// What every connection has.
fn furnish(connection: &Connection) -> Result<(), Error> {
    connection.pragma_update(None, "trusted_schema", "off")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    rusqlite::vtab::array::load_module(connection)?;
    Ok(())
}

/// Makes the file for its owner alone, and the folders above it that are missing.
fn make(path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    match made(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

fn made(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// What of a path stands for something else in an address, or might.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_').remove(b'~');

/// A path as it stands in an address.
fn in_address(path: &Path) -> String {
    percent_encode(path.as_os_str().as_encoded_bytes(), ESCAPED).to_string()
}

fn unusable(path: &Path, cause: std::io::Error) -> Error {
    use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    let (kind, told) = match cause.kind() {
        NotFound => (Kind::Gone, "there is no store at"),
        PermissionDenied | ReadOnlyFilesystem => (Kind::ReadOnly, "the store may not be written:"),
        StorageFull => (Kind::Full, "there is no room for the store"),
        _ => (Kind::Io, "the store cannot be opened:"),
    };
    Error::new(kind, format!("{told} {}", path.display())).caused_by(cause)
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
