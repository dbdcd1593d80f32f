//! Messages of our own.

use crate::json::text;
use crate::wire::{PartKind, Role, Shape, or_placeholder};

/// A message with one text block. What is not the model's is the user's.
pub(super) fn message(role: Role, text: &str) -> String {
    let role = if role == Role::Assistant { "assistant" } else { "user" };
    format!(r#"{{"role":"{role}","content":[{}]}}"#, part(text))
}

/// The content of a tool result. A string may be empty here, but an empty one says less than a placeholder.
pub(super) fn result(text: &str) -> String {
    text::encode(or_placeholder(text))
}

/// A text block.
pub(super) fn part(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, text::encode(or_placeholder(text)))
}

/// A history starts with the user, and a system entry has the user before it and the assistant behind it. Neighbours of
/// one role are merged: harmless for the user's, but an assistant turn that has to start with its thinking would start
/// with what stands before it, such as a summary. A compaction is a start of its own: what stands before it is not read,
/// and the turn begins behind it.
pub(super) fn bridge(before: Option<&Shape>, after: Option<&Shape>) -> Option<Role> {
    let after = after?;
    if begins_with_compaction(after) {
        return None;
    }
    match (before, after.role) {
        (None, role) => (role != Role::User).then_some(Role::User),
        (Some(before), Role::System) => (!may_precede_system(before)).then_some(Role::User),
        (Some(before), Role::User) => before.is_instruction().then_some(Role::Assistant),
        (Some(before), Role::Assistant) => {
            (before.is_from_model() && !before.ends_in(PartKind::Compaction)).then_some(Role::User)
        }
        _ => None,
    }
}

/// Whether the model's turn starts anew here: it reads nothing that stands before a compaction.
pub(super) fn begins_with_compaction(shape: &Shape) -> bool {
    shape.is_from_model() && shape.begins_with(PartKind::Compaction)
}

/// Whether a system entry may follow: the user does, or an assistant that ends in server tool use.
pub(super) fn may_precede_system(shape: &Shape) -> bool {
    let last = shape.parts.iter().rfind(|part| !part.nested);
    match shape.role {
        Role::User => true,
        Role::Assistant => {
            last.is_some_and(|part| matches!(part.kind, PartKind::ServerToolCall | PartKind::ServerToolResult))
        }
        _ => false,
    }
}
