//! The tools, on real folders and with real processes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod escape;
mod fixture;
mod list_files;
mod mcp;
mod read_file;
mod run_command;
mod search_files;
mod tool_set;
mod write_file;
