//! Who a request belongs to, and what was decided about it before.
//!
//! The view that goes out is a function of the client's history and of recorded decisions, and of nothing else. A history
//! is known by a [`Chain`] of hashes; what was decided is a [`ViewRecord`], which says what became of each message and
//! holds no text of the conversation.

mod chain;
mod quote;
mod record;

pub use chain::{Chain, Hash};
pub use quote::{History, Piece, Quote};
pub use record::{ApplyError, EditedPart, NewText, OurMessage, ViewRecord};
