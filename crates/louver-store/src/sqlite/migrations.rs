//! The schema, and how an older one becomes the current one.

use crate::error::{Error, Kind};
use rusqlite::{Connection, TransactionBehavior};

/// Says in the file's header that it is ours: `Louv`.
const APPLICATION: i64 = 0x4c6f_7576;

/// One step of the schema. Steps only add: a published one never changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Migration {
    /// The version that it leads to.
    pub(super) version: i64,
    pub(super) sql: &'static str,
}

/// Every step, in their order.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("migrations/0001.sql") },
    Migration { version: 2, sql: include_str!("migrations/0002.sql") },
    Migration { version: 3, sql: include_str!("migrations/0003.sql") },
];

/// The oldest version that has everything that is read; a step that adds more than indices raises it.
const READABLE: i64 = 1;

/// Whether a file that may not be written can be read as it is.
pub(super) fn check_readable(connection: &Connection, migrations: &[Migration]) -> Result<(), Error> {
    let latest = migrations.last().map_or(0, |migration| migration.version);
    if version_now(connection, latest)? >= READABLE {
        return Ok(());
    }
    let message = "this store is older than what can be read without changing it: let `louver archive list` open it once \
                   where it may be written";
    Err(Error::new(Kind::ReadOnly, message))
}

/// Brings a file up to date. All steps happen, or none.
pub(super) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), Error> {
    let latest = migrations.last().map_or(0, |migration| migration.version);
    if version_now(connection, latest)? == latest {
        return Ok(());
    }
    // Somebody else may have done it while we waited.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version = version(&transaction, latest)?;
    for migration in migrations.iter().filter(|migration| migration.version > version) {
        transaction.execute_batch(migration.sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", latest)?;
    Ok(transaction.commit()?)
}

/// [`version`] as of one moment: while somebody else makes the file, its marks and its tables come together.
fn version_now(connection: &Connection, latest: i64) -> Result<i64, Error> {
    version(&*connection.unchecked_transaction()?, latest)
}

/// The version of a file's schema; 0 where it has none yet. Asked inside a transaction.
fn version(connection: &Connection, latest: i64) -> Result<i64, Error> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (application == APPLICATION, version) {
        (true, version) if version > latest => Err(Error::new(
            Kind::NewerSchema,
            format!(
                "this store was made by a newer version of Louver (schema {version}, this one knows {latest}): update \
                 Louver, or name another store"
            ),
        )),
        (true, version) => Ok(version),
        (false, 0) if tables == 0 && application == 0 => Ok(0),
        _ => Err(Error::new(Kind::Corrupt, "the file is a database of another program, no store of Louver")),
    }
}

#[cfg(test)]
#[path = "migrations_tests.rs"]
mod tests;
