//! Items of our own in Responses.

use crate::json::text::encode;
use crate::json::{Cursor, Kind};
use crate::wire::Role;

/// A message that holds `text`. An output would need a call to answer, so a tool's is written as the user's.
pub(super) fn message(role: Role, text: &str) -> String {
    let (role, part) = match role {
        Role::Assistant => (Role::Assistant, "output_text"),
        Role::Tool => (Role::User, "input_text"),
        other => (other, "input_text"),
    };
    let text = encode(text);
    format!(r#"{{"type":"message","role":"{}","content":[{{"type":"{part}","text":{text}}}]}}"#, role.name())
}

/// A content part that holds `text`.
pub(super) fn part(text: &str) -> String {
    format!(r#"{{"type":"input_text","text":{}}}"#, encode(text))
}

/// What takes the place of an output: a string, or for a shell, which takes none, a list of one run.
pub(super) fn result(like: &str, text: &str) -> String {
    let text = encode(text);
    match shell_outcome(like) {
        Some(outcome) => format!(r#"[{{"stdout":{text},"stderr":"","outcome":{outcome}}}]"#),
        None => text,
    }
}

/// How the last command of a shell's output ended, if `like` is one.
fn shell_outcome(like: &str) -> Option<&str> {
    let mut outcome = None;
    let mut cursor = Cursor::new(like);
    if cursor.kind().ok()? != Kind::Array {
        return None;
    }
    let runs = cursor.array(|_, cursor| {
        cursor.object(|key, cursor| {
            let value = cursor.skip()?;
            if key == "outcome" {
                outcome = Some(value.of(like));
            }
            Ok(())
        })
    });
    runs.ok().and(outcome)
}
