//! Who a request belongs to, and what was decided about it before.
//!
//! The view that goes out is a function of the client's history and of recorded decisions, and of nothing else. A history
//! is known by a [`Chain`] of hashes; what was decided is a [`ViewRecord`], which says what became of each message and
//! holds no text of the conversation. What is sent is always a record applied to the history at hand, also at the request
//! that made the record: so there is nothing that a restart, another machine or another version could do otherwise.

mod applied;
mod chain;
mod quote;
mod record;
mod recorder;
mod texts;

pub use applied::{AppliedView, Item};
pub(crate) use applied::{extend, window_of};
pub use chain::Chain;
pub(crate) use chain::link;
pub(crate) use quote::Piece;
pub use record::{ApplyError, ViewRecord};

#[cfg(test)]
mod corpus_tests;
