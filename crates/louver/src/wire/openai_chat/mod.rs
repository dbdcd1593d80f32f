//! OpenAI Chat Completions: `messages` with roles, calls beside the content, results as messages of their own.
//!
//! What the API refuses:
//!
//! | rule | what it means |
//! |---|---|
//! | `no-messages` | the list is empty |
//! | `calls-without-results` | not every call of an assistant message is answered before the next other role |
//! | `result-without-call` | a result that answers no open call of the assistant message before it |
//!
//! Results belong to the assistant message that they directly follow. Ids repeat in real histories, so no id is ever
//! looked up further away. The older `function_call` and role `function` pair in the same way, without ids.

mod pairing;
mod rules;
mod shape;
mod write;

use super::{Pairing, Role, Rule, Shape, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of OpenAI Chat Completions.
#[derive(Clone, Copy, Debug)]
pub struct OpenAiChat;

impl Wire for OpenAiChat {
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

    fn write_result(&self, _like: &str, text: &str) -> String {
        crate::json::text::encode(text)
    }

    fn write_part(&self, text: &str) -> String {
        write::part(text)
    }

    /// Any two messages may stand together, and any may be the first or the last.
    fn bridge(&self, _before: Option<&Shape>, _after: Option<&Shape>) -> Option<Role> {
        None
    }
}
