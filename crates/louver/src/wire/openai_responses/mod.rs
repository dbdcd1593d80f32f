//! OpenAI Responses: `input` items, a message being one kind among many.
//!
//! What the API refuses:
//!
//! | rule | what it means |
//! |---|---|
//! | `call-without-output` | no later output answers the call |
//! | `output-without-call` | the output answers no open call before it |
//! | `reasoning-without-item` | a reasoning item with an id, and no item of the model after it |
//!
//! A call and its output need not be neighbours and ids repeat: the first open call of an id is the one that an output
//! of that id answers. An empty list is legal, since the rest of the request may hold the history.

mod pairing;
mod rules;
mod shape;
mod write;

use super::Wire;

/// The rules of OpenAI Responses.
pub(super) static WIRE: Wire = Wire {
    shape: shape::shape,
    pairing: &pairing::PAIRING,
    rules: &rules::RULES,
    advice: &[],
    write: write::message,
    write_result: write::result,
    write_part: write::part,
    // Any two items may stand together, and any may be the first or the last.
    bridge: |_, _| None,
};
