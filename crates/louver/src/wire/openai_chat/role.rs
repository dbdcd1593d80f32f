//! The `role` of a message, which may turn out to be none of ours.

use crate::json::{Cursor, JsonError, Kind};
use crate::wire::Role;

/// A role that was passed. Whether it is a fault depends on what else the message holds.
#[derive(Clone, Copy, Debug)]
pub(in crate::wire) struct RoleField {
    /// The role, if it is one that OpenAI knows.
    pub(in crate::wire) named: Option<Role>,
    offset: usize,
}

impl RoleField {
    /// Passes a role's name.
    pub(in crate::wire) fn read(cursor: &mut Cursor<'_>) -> Result<Self, JsonError> {
        cursor.expect(Kind::String)?;
        let offset = cursor.offset();
        let named = match &*cursor.text()? {
            "system" => Some(Role::System),
            "developer" => Some(Role::Developer),
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "tool" | "function" => Some(Role::Tool),
            _ => None,
        };
        Ok(Self { named, offset })
    }

    /// The error of a message that cannot have this role.
    pub(in crate::wire) fn refused(self, expected: &str) -> JsonError {
        JsonError::shape(format!("expected one of {expected}"), self.offset).inside_key("role")
    }
}
