//! The schema, and how an older one becomes the current one.

use super::session::Session;
use crate::error::{Error, Kind};

/// One step of the schema. Steps only add, so that the version before goes on beside this one: a published one never
/// changes.
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
    Migration { version: 4, sql: include_str!("migrations/0004.sql") },
];

/// Who migrates holds this, so that only one does: `Louv`.
const LOCK: i64 = 0x4c6f_7576;

/// The oldest server that has everything that is asked of it.
const OLDEST_SERVER: i32 = 130_000;

/// Brings a database up to date. All steps happen, or none.
pub(super) async fn migrate(session: &mut Session, migrations: &[Migration], is_made: bool) -> Result<(), Error> {
    check_server(session).await?;
    let latest = migrations.last().map_or(0, |migration| migration.version);
    if usable(version(session).await?, latest)? {
        return Ok(());
    }
    if !is_made && version(session).await?.is_none() {
        return Err(Error::new(Kind::Gone, "there is no store of Louver in this database"));
    }
    session.batch("BEGIN").await?;
    match step_by_step(session, migrations, latest).await {
        Ok(()) => session.batch("COMMIT").await,
        Err(error) => {
            session.batch("ROLLBACK").await?;
            Err(error)
        }
    }
}

async fn step_by_step(session: &mut Session, migrations: &[Migration], latest: i64) -> Result<(), Error> {
    session.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    // Somebody else may have done it while we waited.
    let before = version(session).await?;
    if usable(before, latest)? {
        return Ok(());
    }
    if before.is_none() {
        session.batch("CREATE SCHEMA louver").await?;
    }
    for migration in migrations.iter().filter(|migration| migration.version > before.unwrap_or_default()) {
        session.batch(migration.sql).await?;
    }
    let sql = "INSERT INTO louver.schema_version (version) VALUES ($1)
        ON CONFLICT (only_row) DO UPDATE SET version = excluded.version";
    session.execute(sql, &[&latest]).await.map(drop)
}

/// Whether nothing has to be done. Steps only add, so the version before the current one can go on with it.
fn usable(version: Option<i64>, latest: i64) -> Result<bool, Error> {
    match version {
        Some(version) if version > latest + 1 => Err(Error::new(
            Kind::NewerSchema,
            format!(
                "this store was made by a newer version of Louver (schema {version}, this one knows {latest}): update \
                 Louver, or name another store"
            ),
        )),
        Some(version) => Ok(version >= latest),
        None => Ok(false),
    }
}

/// The version of the schema; nothing where there is none yet.
async fn version(session: &mut Session) -> Result<Option<i64>, Error> {
    // The catalogue itself is asked: what a session remembers of it can be older than a lock that it waited for.
    let sql = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'louver'),
        EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = 'louver' AND c.relname = 'schema_version')";
    let row = session.query_one(sql, &[]).await?;
    match (row.try_get(0)?, row.try_get(1)?) {
        (_, true) => {
            let row = session.query_one("SELECT version FROM louver.schema_version", &[]).await?;
            Ok(Some(row.try_get(0)?))
        }
        (false, false) => Ok(None),
        (true, false) => {
            Err(Error::new(Kind::Corrupt, "the schema `louver` of this database is another program's: name another"))
        }
    }
}

async fn check_server(session: &mut Session) -> Result<(), Error> {
    let sql = "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')";
    let row = session.query_one(sql, &[]).await?;
    let (version, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    if version < OLDEST_SERVER {
        return Err(Error::new(
            Kind::Invalid,
            format!("PostgreSQL 13 or later is needed, this is {}", version / 10_000),
        ));
    }
    if encoding != "UTF8" {
        let message = format!("the database's encoding is {encoding}: name one that is UTF8");
        return Err(Error::new(Kind::Invalid, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{MIGRATIONS, usable};

    #[test]
    fn versions_count_up_by_one() {
        let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
        assert_eq!(versions, (1..=versions.len() as i64).collect::<Vec<_>>());
    }

    #[test]
    fn neighbours_go_on_beside_each_other_and_a_newer_schema_is_refused_in_one_sentence() {
        assert!(!usable(None, 2).unwrap() && !usable(Some(1), 2).unwrap());
        assert!(usable(Some(2), 2).unwrap() && usable(Some(3), 2).unwrap());
        let error = usable(Some(4), 2).unwrap_err();
        assert!(error.is_newer_schema());
        let told = "this store was made by a newer version of Louver (schema 4, this one knows 2): update Louver, or name \
            another store";
        assert_eq!(error.to_string(), told);
    }
}
