//! What a call's arguments say about files and commands.

use crate::json::{Cursor, JsonError, Kind, text};
use crate::wire::{Message, Part};

/// The arguments of a call that a ledger tells of.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) path: Option<String>,
    pub(super) command: Option<String>,
    /// Whether something says which part of the file is meant.
    names_part: bool,
    /// Whether they hold what a file is to be.
    has_contents: bool,
    /// What the model writes down to do.
    pub(super) steps: Vec<Step>,
}

/// One of the steps that a model means to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) text: Box<str>,
    pub(super) is_done: bool,
}

/// Steps of one list that are read.
const MOST_STEPS: usize = 32;

impl Arguments {
    /// O(the arguments); nothing of what is neither JSON nor a patch.
    pub(super) fn of(message: &Message, part: &Part) -> Self {
        let value = part.text.of(message.raw());
        let decoded = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(text::decode);
        let text = decoded.as_deref().unwrap_or(value);
        Self::read(text).or_else(|| Self::patch(text)).unwrap_or_default()
    }

    /// A patch as Codex writes it: about the first file that it names.
    fn patch(text: &str) -> Option<Self> {
        text.trim_start().strip_prefix("*** Begin Patch")?.lines().find_map(|line| {
            let (change, path) = line.strip_prefix("*** ")?.split_once(" File: ")?;
            let is_new = change == "Add";
            Some(Self { path: Some(path.to_owned()), names_part: !is_new, has_contents: is_new, ..Self::default() })
        })
    }

    /// Whether the call says, or its result does, what all of a file is. Not so in doubt: what is taken for an earlier version
    /// of a file is not quoted any more.
    pub(super) fn is_whole(&self, is_written: bool) -> bool {
        !self.names_part && self.has_contents == is_written
    }

    fn read(json: &str) -> Option<Self> {
        const PATHS: [&str; 5] = ["path", "file_path", "filename", "file", "absolute_path"];
        const COMMANDS: [&str; 2] = ["command", "cmd"];
        const STEPS: [&str; 3] = ["todos", "plan", "tasks"];
        const CONTENTS: [&str; 4] = ["content", "contents", "file_text", "text"];
        const PARTS: [&str; 6] = ["pattern", "query", "regex", "range", "lines", "section"];
        let rank = |names: &[&str], key: &str| names.iter().position(|name| *name == key);
        let (mut path, mut command, mut steps) = (None, None, Vec::new());
        let (mut names_part, mut has_contents) = (false, false);
        let mut cursor = Cursor::new(json);
        if cursor.kind().ok()? != Kind::Object {
            return None;
        }
        let passed = cursor.object(|key, cursor| {
            // Line numbers, ranges and lists of edits, whatever they are called.
            names_part |= PARTS.contains(&key) || matches!(cursor.kind()?, Kind::Number | Kind::Array);
            has_contents |= CONTENTS.contains(&key);
            if STEPS.contains(&key) && cursor.kind()? == Kind::Array {
                return read_steps(cursor, &mut steps);
            }
            let found = [(rank(&PATHS, key), &mut path), (rank(&COMMANDS, key), &mut command)];
            let wanted = found.into_iter().find_map(|(rank, slot)| Some((rank?, slot)));
            match (cursor.kind()?, wanted) {
                (Kind::String, Some((rank, slot))) => better(slot, rank, cursor.text()?.into_owned()),
                _ => drop(cursor.skip()?),
            }
            Ok(())
        });
        passed.ok()?;
        let text = |found: Option<(usize, String)>| found.map(|(_, text)| text);
        Some(Self { path: text(path), command: text(command), names_part, has_contents, steps })
    }
}

/// The items of a list that say what is to be done and how far it is.
fn read_steps(cursor: &mut Cursor<'_>, steps: &mut Vec<Step>) -> Result<(), JsonError> {
    const TEXTS: [&str; 4] = ["content", "step", "title", "description"];
    cursor.array(|_, cursor| {
        if cursor.kind()? != Kind::Object {
            return cursor.skip().map(drop);
        }
        let (mut text, mut status) = (None, None);
        cursor.object(|key, cursor| {
            let slot = match key {
                "status" => Some(&mut status),
                _ if TEXTS.contains(&key) => Some(&mut text),
                _ => None,
            };
            match (cursor.kind()?, slot) {
                (Kind::String, Some(slot)) => *slot = Some(cursor.text()?.into_owned()),
                _ => drop(cursor.skip()?),
            }
            Ok(())
        })?;
        if let (Some(text), Some(status)) = (text, status)
            && steps.len() < MOST_STEPS
        {
            steps.push(Step {
                text: text.into(),
                is_done: matches!(status.as_str(), "completed" | "done" | "complete"),
            });
        }
        Ok(())
    })
}

/// Keeps the text whose key stands first in its list.
fn better(slot: &mut Option<(usize, String)>, rank: usize, text: String) {
    if slot.as_ref().is_none_or(|(known, _)| rank <= *known) {
        *slot = Some((rank, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_brings_or_writes_a_file_as_a_whole_is_whole() {
        let is_whole = |json, is_written| Arguments::read(json).is_some_and(|arguments| arguments.is_whole(is_written));
        assert!(is_whole(r#"{"path":"a.ts"}"#, false) && is_whole(r#"{"file_path":"a","content":"x"}"#, true));
        assert!(is_whole(r#"{"command":"create","path":"a","file_text":"x"}"#, true));
        for part in [
            r#"{"path":"a.ts","oldText":"x","newText":"y"}"#,
            r#"{"file_path":"a","old_string":"x","new_string":"y"}"#,
            r#"{"file_path":"a","edits":[{"old_string":"x","new_string":"y"}]}"#,
            r#"{"path":"a","insert_line":7,"text":"x"}"#,
            r#"{"command":"view","path":"a"}"#,
        ] {
            assert!(!is_whole(part, true), "{part}");
        }
        for part in [
            r#"{"path":"a","offset":825,"limit":30}"#,
            r#"{"path":"a","first":7}"#,
            r#"{"path":"a","view_range":[1,20]}"#,
            r#"{"path":"a","pattern":"x"}"#,
            r#"{"path":"a","content":"appended"}"#,
        ] {
            assert!(!is_whole(part, false), "{part}");
        }
    }

    #[test]
    fn a_patch_is_about_the_first_file_it_names() {
        let of =
            |text: &str| Arguments::patch(text).map(|patch| (patch.is_whole(true), patch.path.unwrap_or_default()));
        let updated = "*** Begin Patch\n*** Update File: src/a b.rs\n@@\n-x\n+y\n*** Add File: new.rs\n+x";
        assert_eq!(of(updated), Some((false, "src/a b.rs".to_owned())));
        assert_eq!(of("*** Begin Patch\n*** Add File: new.rs\n+x"), Some((true, "new.rs".to_owned())));
        assert_eq!((of("*** Begin Patch\n*** End Patch"), of("*** Update File: a")), (None, None));
    }

    #[test]
    fn steps_are_read_as_clients_write_them() {
        let of = |json| Arguments::read(json).map(|arguments| arguments.steps).unwrap_or_default();
        let step = |text: &str, is_done| Step { text: text.into(), is_done };
        let todos = r#"{"todos":[{"content":"Read it","status":"completed","activeForm":"Reading"},{"content":"Mend it","status":"pending"}]}"#;
        assert_eq!(of(todos), [step("Read it", true), step("Mend it", false)]);
        assert_eq!(of(r#"{"explanation":"x","plan":[{"step":"Go","status":"in_progress"}, 7]}"#), [step("Go", false)]);
        assert_eq!(of(r#"{"plan":"a text"}"#), []);
    }
}
