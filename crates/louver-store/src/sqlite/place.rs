//! The file, and whether it is still the one that was opened.

use super::migrations::{MIGRATIONS, migrate};
use crate::error::{Error, Kind};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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
}

impl Place {
    /// Finds or makes the file.
    pub(super) fn find(
        path: &Path,
        is_made: bool,
        busy_timeout: Duration,
        max_bytes: Option<u64>,
    ) -> Result<Self, Error> {
        // An absolute path is never taken for a URI.
        let path = std::path::absolute(path).map_err(|cause| unusable(path, cause))?;
        if is_made {
            make(&path).map_err(|cause| unusable(&path, cause))?;
        }
        let metadata = std::fs::metadata(&path).map_err(|cause| unusable(&path, cause))?;
        if !metadata.is_file() {
            return Err(Error::new(Kind::Corrupt, format!("{} is not a file", path.display())));
        }
        Ok(Self { identity: identity(&metadata), path, busy_timeout, max_bytes })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes of the file and of the log beside it.
    pub(super) fn bytes(&self) -> u64 {
        let log = PathBuf::from(format!("{}-wal", self.path.display()));
        [&self.path, &log].into_iter().filter_map(|path| path.metadata().ok()).map(|metadata| metadata.len()).sum()
    }

    /// Whether the file is where it was: what is written to a file without a name is lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        let gone = || Error::new(Kind::Gone, format!("the store {} was moved or removed", self.path.display()));
        let metadata = std::fs::metadata(&self.path).map_err(|cause| gone().caused_by(cause))?;
        if identity(&metadata) == self.identity { Ok(()) } else { Err(gone()) }
    }

    /// Opens the file for the first time: its schema is brought up to date.
    pub(super) fn prepare(&self) -> Result<(), Error> {
        let named =
            |error: Error| Error::new(error.kind(), format!("{}: {error}", self.path.display())).caused_by(error);
        let deadline = Instant::now() + self.busy_timeout;
        loop {
            // Turning the log on does not wait for others who do the same.
            match self.connect().and_then(|mut connection| migrate(&mut connection, MIGRATIONS)) {
                Err(error) if error.is_busy() && Instant::now() < deadline => std::thread::sleep(PAUSE),
                done => return done.map_err(named),
            }
        }
    }

    /// A connection of its own for a thread.
    pub(super) fn connect(&self) -> Result<Connection, Error> {
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
        connection.pragma_update(None, "trusted_schema", "off")?;
        connection.pragma_update(None, "journal_size_limit", LOG_BYTES)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        if let Some(bytes) = self.max_bytes {
            let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
            let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page.max(1);
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        rusqlite::vtab::array::load_module(&connection)?;
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
