//! What a window still knows of what the recorded answers needed.
//!
//! Everything that does not depend on a policy is found once per conversation: the identifiers and lines of each
//! message ([`NamesAndLines`]), and what each recorded answer refers to ([`Reference`]). A policy's view then keeps running
//! counts ([`Presence`]) as messages enter and leave it, so that a look costs O(1) per reference.

mod names_and_lines;
mod pattern;
mod presence;
mod references;
mod retrieval;
mod tally;

pub use names_and_lines::{NamesAndLines, Numbering};
pub use pattern::identifiers;
pub use presence::Presence;
pub use references::{Age, Reference, references};
pub use retrieval::{Retrieval, query};
pub use tally::{Outcome, Share, Tally};
