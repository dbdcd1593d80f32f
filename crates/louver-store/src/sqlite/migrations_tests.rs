use super::{MIGRATIONS, Migration, migrate};
use rusqlite::Connection;

/// The current schema as a file of a later version would have it.
const LATER: &[Migration] = &[
    MIGRATIONS[0],
    Migration { version: 2, sql: "ALTER TABLE decisions ADD COLUMN weight INTEGER NOT NULL DEFAULT 7" },
    Migration { version: 3, sql: "CREATE INDEX decisions_by_weight ON decisions (weight)" },
];
const BROKEN: &[Migration] = &[
    MIGRATIONS[0],
    Migration { version: 2, sql: "CREATE TABLE half (done INTEGER)" },
    Migration { version: 3, sql: "CREATE TABLE nonsense (" },
];

fn version_1() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection, &MIGRATIONS[..1]).unwrap();
    let sql = "INSERT INTO decisions (chain, upstream, model, attempt, touches, conversation, at_ms, record)
        VALUES (x'01', 'u', 'm', 0, x'02', 'c', 3, x'04')";
    connection.execute(sql, []).unwrap();
    connection
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn version_1_becomes_the_current_one_and_keeps_its_rows() {
    let mut connection = version_1();
    for _ in 0..2 {
        migrate(&mut connection, LATER).unwrap();
        assert_eq!(number(&connection, "PRAGMA user_version"), 3);
        assert_eq!(number(&connection, "SELECT sum(weight) FROM decisions WHERE conversation = 'c'"), 7);
    }
    migrate(&mut version_1(), MIGRATIONS).unwrap();
}

#[test]
fn a_step_that_fails_leaves_everything_as_it_was() {
    let mut connection = version_1();
    migrate(&mut connection, BROKEN).unwrap_err();
    assert_eq!(number(&connection, "PRAGMA user_version"), 1);
    assert_eq!(number(&connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
    assert_eq!(number(&connection, "SELECT count(*) FROM decisions"), 1);
}

#[test]
fn a_newer_schema_is_refused_in_one_sentence() {
    let mut connection = version_1();
    migrate(&mut connection, LATER).unwrap();
    let error = migrate(&mut connection, &MIGRATIONS[..1]).unwrap_err();
    assert!(error.is_newer_schema());
    let told = "this store was made by a newer version of Louver (schema 3, this one knows 1): update Louver, or name \
        another store";
    assert_eq!(error.to_string(), told);
}

#[test]
fn another_programs_database_is_left_alone() {
    for sql in ["CREATE TABLE theirs (x)", "PRAGMA user_version = 1", "PRAGMA application_id = 5"] {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(sql).unwrap();
        assert!(migrate(&mut connection, MIGRATIONS).unwrap_err().is_corrupt(), "{sql}");
        assert_eq!(number(&connection, "SELECT count(*) FROM sqlite_schema WHERE name = 'decisions'"), 0);
    }
}

#[test]
fn versions_count_up_by_one() {
    let versions: Vec<i64> = MIGRATIONS.iter().map(|migration| migration.version).collect();
    assert_eq!(versions, (1..=versions.len() as i64).collect::<Vec<_>>());
}
