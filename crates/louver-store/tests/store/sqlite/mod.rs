//! The SQLite store: the suite, and what a file can suffer.

use louver_store::{SqliteStore, Store};
use std::sync::Arc;
use tempfile::TempDir;

mod suite {
    crate::suite!(crate::sqlite::empty);
}

fn empty() -> (Arc<dyn Store>, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("store.db")).unwrap();
    (Arc::new(store), folder)
}
