//! What a window still knows of what the recorded answers needed.
//!
//! Everything that does not depend on a policy is found once per conversation: the identifiers and lines of each
//! message ([`NamesAndLines`]), and what each recorded answer refers to ([`Reference`]). A policy's view then keeps running
//! counts ([`Presence`]) as messages enter and leave it, so that a look costs O(1) per reference.

mod names_and_lines;
mod pattern;
mod presence;
mod recalls;
mod references;
mod retrieval;
mod tally;

pub use names_and_lines::{NamesAndLines, Numbering, Occurrence, TEXT_END};
pub use pattern::identifiers;
pub use presence::Presence;
pub use recalls::{Lost, Recalls};
pub use references::{Age, Reference, references};
pub use retrieval::{Retrieval, Retrieved, query};
pub use tally::{Outcome, Share, Tally};
