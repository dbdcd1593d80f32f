//! What fills a window: the table that shows it.

mod table;

pub(crate) use table::{Layout, role_style, table, told};
