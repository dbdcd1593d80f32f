//! Messages of our own in Chat Completions.

use crate::json::text::encode;
use crate::wire::Role;

/// A message that holds `text`. A tool message would need a call to answer, so it is written as the user's.
pub(super) fn message(role: Role, text: &str) -> String {
    let role = match role {
        Role::Tool => Role::User,
        other => other,
    };
    format!(r#"{{"role":"{}","content":{}}}"#, role.name(), encode(text))
}

/// A content part that holds `text`.
pub(super) fn part(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, encode(text))
}
