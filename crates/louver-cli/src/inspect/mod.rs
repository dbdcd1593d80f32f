//! What fills a window: the figures, and the table that shows them.

mod pins;
mod survey;
mod table;

pub(crate) use survey::{Piece, Survey, pieces};
pub(crate) use table::{Layout, role_style, table, told};
