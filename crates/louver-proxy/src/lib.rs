//! Stands between a client and its provider and keeps every conversation inside the context window.

pub mod conversation;
