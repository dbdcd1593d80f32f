//! One suite for every store, and what is special about each.
#![expect(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
#![allow(clippy::print_stdout, reason = "tests say what they skip, and children what they did")]

mod suite;

#[cfg(all(feature = "postgres", unix))]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
