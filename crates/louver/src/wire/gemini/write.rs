//! Contents of our own.

use crate::json::text;
use crate::wire::{PartKind, Role, Shape, or_placeholder};

/// A content with one text part. What is not the model's is the user's.
pub(super) fn message(role: Role, text: &str) -> String {
    let role = if role == Role::Assistant { "model" } else { "user" };
    format!(r#"{{"role":"{role}","parts":[{}]}}"#, part(text))
}

/// The `response` of a function response, which has to be an object.
pub(super) fn result(text: &str) -> String {
    format!(r#"{{"output":{}}}"#, text::encode(or_placeholder(text)))
}

/// A text part.
pub(super) fn part(text: &str) -> String {
    format!(r#"{{"text":{}}}"#, text::encode(or_placeholder(text)))
}

/// A history starts with the user, and a call turn follows a turn of the user.
pub(super) fn bridge(before: Option<&Shape>, after: Option<&Shape>) -> Option<Role> {
    let after = after.filter(|after| after.is_from_model())?;
    let is_refused = match before {
        None => true,
        Some(before) => before.is_from_model() && after.has(PartKind::ToolCall),
    };
    is_refused.then_some(Role::User)
}
