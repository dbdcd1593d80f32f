//! What fills a window: the figures, and the table that shows them.

mod figures;
mod pins;
mod table;

pub(crate) use figures::{Figures, Piece, pieces};
pub(crate) use table::{Layout, role_style, table, told};
