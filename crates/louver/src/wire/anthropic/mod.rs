//! Anthropic Messages.
//!
//! A message is a role and its `content`: a string, or an array of blocks. What the API calls a tool turn is two
//! neighbours: an assistant message with `tool_use` blocks and, directly behind it, a user message whose content starts
//! with their `tool_result` blocks. Tools that Anthropic runs itself keep call and result in one assistant message.

mod pairing;
mod rules;
mod shape;
mod write;

use super::{Advice, Pairing, Role, Rule, Shape, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of Anthropic Messages.
#[derive(Clone, Copy, Debug)]
pub struct Anthropic;

impl Wire for Anthropic {
    fn shape(&self, cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
        shape::shape(cursor)
    }

    fn pairing(&self) -> &'static Pairing {
        &pairing::PAIRING
    }

    fn rules(&self) -> &'static [Rule] {
        &rules::RULES
    }

    fn advice(&self) -> &'static [Advice] {
        &rules::ADVICE
    }

    fn write(&self, role: Role, text: &str) -> String {
        write::message(role, text)
    }

    fn write_result(&self, _like: &str, text: &str) -> String {
        write::result(text)
    }

    fn write_part(&self, text: &str) -> String {
        write::part(text)
    }

    fn bridge(&self, before: Option<&Shape>, after: Option<&Shape>) -> Option<Role> {
        write::bridge(before, after)
    }
}
