//! The keeper behind real sockets, with a real store.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unused_imports, reason = "the tests of the data path use the rest")]
#[path = "../proxy/world/mod.rs"]
mod world;

mod api;
mod chains;
mod desk;
mod events;
mod golden;
mod mcp;
mod modes;
mod page;
mod recall;
mod rescues;
mod restarts;
mod talk;
mod trouble;
