//! What was had back: for people and as JSON.

mod excerpt;
mod page;
mod row;
mod snippet;

pub(crate) use excerpt::{Excerpt, excerpts};
pub(crate) use page::{Columns, hits, messages};
pub(crate) use row::{Row, rows};
