//! The SQLite store: the suite, and what a file can suffer.

mod erased;
mod faults;
mod files;
mod processes;
mod queue;
mod read_only;

use louver_store::{SqliteStore, Store};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

mod suite {
    crate::suite!(crate::sqlite::empty);
}

fn empty() -> Option<(Arc<dyn Store>, TempDir)> {
    let (folder, path) = place();
    Some((Arc::new(SqliteStore::open(path).unwrap()), folder))
}

/// Where a store can be made.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    (folder, path)
}

/// Another process that holds the file's lock for writing.
struct Lock(rusqlite::Connection);

impl Lock {
    fn hold(path: &std::path::Path) -> Self {
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        Self(connection)
    }

    fn release(self) {
        self.0.execute_batch("ROLLBACK").unwrap();
    }
}
