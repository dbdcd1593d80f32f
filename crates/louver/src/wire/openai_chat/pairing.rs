//! Which call is answered by which result: those of an assistant message by the tool messages directly behind it.

use crate::wire::pairing::{By, Pairing, Reach};

/// The older `function_call` and role `function` have no ids and pair by having none.
pub(super) static PAIRING: Pairing = Pairing { by: By::Id, reach: Reach::Results, binds_instructions: false };
