//! One pass over JSON text that keeps every byte where it is.
//!
//! Louver never re-serialises what it keeps, so it needs no tree of values: it needs to know where each value stands
//! and how long it is for a reader. [`Cursor`] walks the text once, checks that it is JSON, and counts as it goes.
//! [`text`] turns the strings it finds into Rust text and back.

mod cursor;
mod error;
mod escape;
mod scan;
pub mod text;

pub use cursor::{Cursor, Kind, Span, Str};
pub use error::{JsonError, MAX_DEPTH, Problem};
