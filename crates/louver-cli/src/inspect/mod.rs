//! What fills a window: the figures, and the table that shows them.

mod pins;
mod survey;
mod table;

pub(crate) use survey::Survey;
pub(crate) use table::{Layout, table};
