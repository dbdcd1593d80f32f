//! The proxy between real sockets: clients that send bytes, upstreams that answer bytes, and the sandbox.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod closed;
mod contract;
mod faults;
mod logs;
mod rescue;
mod stopping;
mod tls;
mod transparency;
mod world;
