//! PostgreSQL's errors in our words.

use crate::error::{Error, Kind};
use tokio_postgres::error::SqlState;

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let (kind, message) = match error.code() {
            Some(state) => told(state),
            // Nothing came from the server, so it is the connection.
            None if error.is_closed() => (Kind::Io, "the store's server closed the connection"),
            None if is_connection(&error) => (Kind::Io, "the store's server cannot be reached"),
            None => (Kind::Other, "the store answered something unexpected"),
        };
        Self::new(kind, message).caused_by(error)
    }
}

fn is_connection(error: &tokio_postgres::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = std::error::Error::source(error);
    while let Some(found) = cause {
        if found.is::<std::io::Error>() {
            return true;
        }
        cause = found.source();
    }
    // The only other ones without a cause in reach.
    error.to_string().contains("connect")
}

fn told(state: &SqlState) -> (Kind, &'static str) {
    let class = &state.code()[..2];
    match (class, state) {
        (_, state) if is_race(state) => {
            (Kind::Busy, "others changed the same rows of the store and did not finish in time")
        }
        (_, &SqlState::DISK_FULL) => (Kind::Full, "there is no room for the store to grow: the server's disk is full"),
        (_, &SqlState::TOO_MANY_CONNECTIONS) => (Kind::Busy, "the store's server has no connection left"),
        (_, &SqlState::QUERY_CANCELED | &SqlState::LOCK_NOT_AVAILABLE) => {
            (Kind::Busy, "the store's server did not answer in time")
        }
        (_, &SqlState::READ_ONLY_SQL_TRANSACTION) => {
            (Kind::Io, "the store's server takes no writes: it is a standby, or was made read-only")
        }
        (_, &SqlState::INSUFFICIENT_PRIVILEGE) => (Kind::ReadOnly, "the store may not be written by this user"),
        (_, &SqlState::INVALID_CATALOG_NAME) => (Kind::Gone, "there is no such database on the store's server"),
        (_, &SqlState::UNDEFINED_TABLE | &SqlState::INVALID_SCHEMA_NAME | &SqlState::UNDEFINED_FUNCTION) => {
            (Kind::Gone, "the store is no longer in its database")
        }
        ("28", _) => (Kind::ReadOnly, "the store's server does not let this user in: name another, or set PGPASSWORD"),
        ("08" | "57" | "58", _) => (Kind::Io, "the store's server is stopping, starting or in trouble"),
        ("53", _) => (Kind::Busy, "the store's server has no resources left"),
        ("54", _) => (Kind::TooLarge, "what was given is too large for the store"),
        ("XX", _) => (Kind::Corrupt, "the store's server says that its files are damaged"),
        _ => (Kind::Other, "the store could not do what was asked"),
    }
}

/// Whether somebody else was faster, so that the same thing can be tried again at once.
pub(super) fn is_race(state: &SqlState) -> bool {
    [
        &SqlState::T_R_SERIALIZATION_FAILURE,
        &SqlState::T_R_DEADLOCK_DETECTED,
        &SqlState::FOREIGN_KEY_VIOLATION,
        &SqlState::UNIQUE_VIOLATION,
    ]
    .contains(&state)
}
