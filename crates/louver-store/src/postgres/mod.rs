//! A store on a PostgreSQL server, for any number of processes on any number of machines.
//!
//! Everything is in the schema `louver` of one database; it is made and brought up to date where that is needed. What is
//! asked for is durable when a call returns. Connections are made on threads of the store's own; where one is lost, work
//! is done again on another, which changes nothing where it had been done already.

mod account;
mod address;
mod booking;
mod content;
mod decisions;
mod facts;
mod failure;
mod maintenance;
mod migrations;
mod on_chain;
mod pool;
mod put;
mod search;
mod session;
mod tls;
mod values;
mod writer;

use crate::error::{Error, Kind};
use address::Address;
use migrations::{MIGRATIONS, migrate};
use pool::Pool;
use search::Remembered;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use writer::Writer;

/// Threads that everything happens on. With one, whoever asks and the connection never wait for each other's thread.
const THREADS: usize = 1;

/// Whether an address is of a store on a PostgreSQL server.
#[must_use]
pub fn is_postgres(address: &str) -> bool {
    address.starts_with("postgres://") || address.starts_with("postgresql://")
}

/// How a [`PostgresStore`] is opened.
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    is_made: bool,
    connections: usize,
    limit: Duration,
    queue_entries: usize,
    queue_bytes: usize,
}

impl Default for PostgresOptions {
    /// Made if it is not there, 8 connections, 10 s for an answer, 10,000 entries or 64 MiB to be written behind.
    fn default() -> Self {
        Self {
            is_made: true,
            connections: 8,
            limit: Duration::from_secs(10),
            queue_entries: 10_000,
            queue_bytes: 64 << 20,
        }
    }
}

impl PostgresOptions {
    /// Whether to make the schema where it is missing.
    #[must_use]
    pub fn create(mut self, is_made: bool) -> Self {
        self.is_made = is_made;
        self
    }

    /// How many connections are made at most, beside one that writes behind and one that maintains; at least 2.
    #[must_use]
    pub fn connections(mut self, connections: usize) -> Self {
        self.connections = connections;
        self
    }

    /// How long the server may take to answer, after which a call fails with [`Error::is_busy`].
    #[must_use]
    pub fn answer_within(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// How many entries, and how many bytes of them, may wait to be written behind.
    #[must_use]
    pub fn queue(mut self, entries: usize, bytes: usize) -> Self {
        (self.queue_entries, self.queue_bytes) = (entries, bytes);
        self
    }

    /// Connects and brings the schema up to date. Blocks for as long as that takes.
    ///
    /// An address is `postgres://USER:PASSWORD@HOST:PORT/DATABASE`; the password may stand in the environment variable
    /// `PGPASSWORD` instead. To another machine the connection is encrypted and the server's certificate checked, unless
    /// the address says `?sslmode=disable`.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, does not let the user in, or its schema was made by a newer version.
    pub fn open(&self, address: &str) -> Result<PostgresStore, Error> {
        let address = Address::parse(address, std::env::var("PGPASSWORD").ok())?;
        let runtime =
            Builder::new_multi_thread().worker_threads(THREADS).thread_name("louver-store").enable_all().build();
        let failed = |cause| Error::new(Kind::Other, "no thread could be started for the store").caused_by(cause);
        let runtime = runtime.map_err(failed)?;
        let handle = runtime.handle().clone();
        let pool = Arc::new(Pool::new(address, handle.clone(), self.connections, self.limit));
        let (ending, ended) = oneshot::channel::<()>();
        let writer = Arc::new(Writer::new(self.queue_entries, self.queue_bytes, ended));
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (own_pool, own_writer, is_made) = (Arc::clone(&pool), Arc::clone(&writer), self.is_made);
        // Whoever opens may be on a runtime already, which may not be blocked by another.
        let work = move || {
            let prepared = runtime.block_on(prepare(&own_pool, is_made));
            let is_prepared = prepared.is_ok();
            let _ = ready.send(prepared);
            if is_prepared {
                runtime.block_on(own_writer.run(&own_pool));
            }
            runtime.shutdown_background();
            drop(ending);
        };
        std::thread::Builder::new().name("louver-store-write".to_owned()).spawn(work).map_err(failed)?;
        is_ready.recv().map_err(|_| pool::unanswered())??;
        let remembered = Arc::default();
        Ok(PostgresStore { pool, writer, remembered, runtime: handle, maintenance: tokio::sync::Mutex::new(()) })
    }
}

async fn prepare(pool: &Pool, is_made: bool) -> Result<(), Error> {
    let mut session = pool.connect().await?;
    let named = |error: Error| Error::new(error.kind(), format!("{}: {error}", pool.address)).caused_by(error);
    migrate(&mut session, MIGRATIONS, is_made).await.map_err(named)
}

/// A store on a PostgreSQL server.
///
/// Dropping it writes what waits, but does not wait for that; [`close`](crate::Maintenance::close) does.
#[derive(Debug)]
pub struct PostgresStore {
    pool: Arc<Pool>,
    writer: Arc<Writer>,
    remembered: Arc<Remembered>,
    runtime: Handle,
    /// Held by whoever maintains.
    maintenance: tokio::sync::Mutex<()>,
}

impl PostgresStore {
    /// Opens a database as [`PostgresOptions::default`] says.
    ///
    /// # Errors
    ///
    /// See [`PostgresOptions::open`].
    pub fn open(address: &str) -> Result<Self, Error> {
        PostgresOptions::default().open(address)
    }

    /// Where it is, without a password.
    #[must_use]
    pub fn address(&self) -> String {
        self.pool.address.to_string()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        self.writer.stop();
    }
}

/// An address as it may be shown and logged: without its password.
///
/// ```
/// use louver_store::postgres::without_password;
///
/// assert_eq!(without_password("postgres://ann:secret@db.example.com/louver"), "postgres://ann@db.example.com:5432/louver");
/// assert_eq!(without_password("postgres://ann:secret@db:not-a-port/louver"), "postgres://(unreadable)");
/// ```
#[must_use]
pub fn without_password(address: &str) -> String {
    let parsed = Address::parse(address, None);
    parsed.map_or_else(|_| "postgres://(unreadable)".to_owned(), |address| address.to_string())
}
