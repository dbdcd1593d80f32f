//! One suite for every store, and what is special about each.

mod suite;

#[cfg(feature = "sqlite")]
mod sqlite;
