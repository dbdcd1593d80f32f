//! The PostgreSQL store on a real server: the suite, and what a server can suffer.

mod erased;
mod late;
mod plans;
mod server;
mod tls;
mod trouble;

use louver_store::{PostgresStore, Store};
use server::{Database, Server};
use std::sync::Arc;

mod suite {
    crate::suite!(crate::postgres::empty);
}

/// An empty store in a database of its own; nothing where no server is installed.
fn empty() -> Option<(Arc<dyn Store>, Database)> {
    let database = Server::shared()?.database();
    let store = PostgresStore::open(&database.address).unwrap();
    Some((Arc::new(store), database))
}
