//! OpenAI Responses.

use super::{Fix, History, Role, Shape, Violation, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of OpenAI Responses.
#[derive(Clone, Copy, Debug)]
pub struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn shape(&self, cursor: &mut Cursor<'_>) -> Result<Shape, JsonError> {
        Err(cursor.unexpected("nothing"))
    }

    fn check(&self, _: &History<'_>) -> Vec<Violation> {
        Vec::new()
    }

    fn repair(&self, _: &History<'_>) -> Vec<Fix> {
        Vec::new()
    }

    fn write(&self, _: Role, _: &str) -> String {
        String::new()
    }

    fn write_result(&self, _: &str, _: &str) -> String {
        String::new()
    }

    fn write_part(&self, _: &str) -> String {
        String::new()
    }

    fn bridge(&self, _: Option<&Shape>, _: Option<&Shape>) -> Option<Role> {
        None
    }
}
