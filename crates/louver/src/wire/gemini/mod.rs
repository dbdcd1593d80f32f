//! Gemini contents.

use super::{Fix, History, Role, Shape, Violation, Wire};
use crate::json::{Cursor, JsonError};

/// The rules of Gemini contents.
#[derive(Clone, Copy, Debug)]
pub struct Gemini;

impl Wire for Gemini {
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
