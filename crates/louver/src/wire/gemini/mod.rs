//! Gemini `generateContent`.
//!
//! A content is a role and its `parts`. A call turn is a model content with `functionCall` parts; the content directly
//! behind it holds as many `functionResponse` parts, in the same order. Ids are optional, so nothing is paired by them.

mod pairing;
mod rules;
mod shape;
mod write;

use super::{Pairing, Role, Rule, Shape, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of Gemini contents.
#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Wire for Gemini {
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
        write::result(text)
    }

    fn write_part(&self, text: &str) -> String {
        write::part(text)
    }

    fn bridge(&self, before: Option<&Shape>, after: Option<&Shape>) -> Option<Role> {
        write::bridge(before, after)
    }
}
