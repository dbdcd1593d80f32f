//! SQLite's errors in our words.

use crate::error::{Error, Kind};
use rusqlite::ErrorCode;

/// The file is no longer under its name (`SQLITE_READONLY_DBMOVED`).
const MOVED: i32 = rusqlite::ffi::SQLITE_READONLY_DBMOVED;
/// What stands beside the log is half written, and who may only read cannot mend it: most often its writer is just at it.
const NOT_YET: [i32; 2] = [rusqlite::ffi::SQLITE_READONLY_RECOVERY, rusqlite::ffi::SQLITE_READONLY_CANTINIT];

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        let (kind, message) = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => told(failure),
            _ => (Kind::Other, "the store answered something unexpected"),
        };
        Self::new(kind, message).caused_by(error)
    }
}

fn told(failure: &rusqlite::ffi::Error) -> (Kind, &'static str) {
    if failure.extended_code == MOVED {
        return (Kind::Gone, "the store's file was moved or removed");
    }
    if NOT_YET.contains(&failure.extended_code) {
        let told = "the store's log was changed while it was read, or was left behind by a process that was killed: ask \
                    again, or let `louver archive list` open it once where it may be written";
        return (Kind::Busy, told);
    }
    match failure.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            (Kind::Busy, "another process holds the store and did not finish in time")
        }
        ErrorCode::DiskFull => (Kind::Full, "there is no room for the store to grow: the disk or its quota is full"),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => (Kind::ReadOnly, "the store may not be written"),
        ErrorCode::SystemIoFailure => (Kind::Io, "the store's disk failed"),
        ErrorCode::CannotOpen => (Kind::Io, "the store's file cannot be opened"),
        ErrorCode::DatabaseCorrupt => (Kind::Corrupt, "the store's file is damaged"),
        ErrorCode::NotADatabase => (Kind::Corrupt, "the file is no store of Louver"),
        ErrorCode::TooBig => (Kind::TooLarge, "what was given is too large for the store"),
        _ => (Kind::Other, "the store could not do what was asked"),
    }
}
