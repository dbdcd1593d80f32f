//! What fills a window, in figures: for the command line's table, and for every other face.

mod figures;
mod pins;

pub use figures::{CounterUsed, Figures, Outer, Piece, Row, Subject, pieces};
