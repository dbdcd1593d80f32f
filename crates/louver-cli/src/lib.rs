//! The command line of Louver.

pub mod config;
mod input;
mod output;
mod printer;
