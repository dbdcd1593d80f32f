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

use super::{Pairing, Role, Rule, Shape, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of OpenAI Responses.
#[derive(Clone, Copy, Debug)]
pub struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn shape(&self, cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
        shape::shape(cursor)
    }

    fn pairing(&self) -> &'static Pairing {
        &pairing::PAIRING
    }

    fn rules(&self) -> &'static [Rule] {
        &rules::RULES
    }

    fn write(&self, role: Role, text: &str) -> String {
        write::message(role, text)
    }

    fn write_result(&self, like: &str, text: &str) -> String {
        write::result(like, text)
    }

    fn write_part(&self, text: &str) -> String {
        write::part(text)
    }

    /// Any two items may stand together, and any may be the first or the last.
    fn bridge(&self, _before: Option<&Shape>, _after: Option<&Shape>) -> Option<Role> {
        None
    }
}
