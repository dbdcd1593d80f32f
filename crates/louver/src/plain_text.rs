//! What is said in a message as plain text, and who says it.

use crate::wire::{Message, Part, PartKind, Role};
use serde_json::Value;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// The person, or the application in their place.
    User,
    /// A tool's result.
    Tool,
    /// The model itself.
    Own,
}

impl Speaker {
    /// All speakers.
    pub const ALL: [Self; 3] = [Self::User, Self::Tool, Self::Own];

    /// The name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Tool => "tool",
            Self::Own => "own",
        }
    }
}

/// Calls `each` with every decoded text of a message and the part it stands in. Arguments are decoded to the strings in
/// them; signatures, encrypted content and base64 are left out.
///
/// ```
/// use louver::plain_text::{Speaker, plain_texts};
/// use louver::wire::{Format, Message};
///
/// let raw = r#"{"role":"assistant","content":"Reading.","tool_calls":[{"id":"c","type":"function",
///     "function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}}]}"#;
/// let message = Message::parse(Format::OpenAiChat, raw).unwrap();
/// let mut said = Vec::new();
/// plain_texts(&message, |speaker, _, text| said.push((speaker, text.to_owned())));
/// assert_eq!(said, [(Speaker::Own, "Reading.".to_owned()), (Speaker::Own, "a.rs".to_owned())]);
/// ```
pub fn plain_texts(message: &Message, mut each: impl FnMut(Speaker, &Part, &str)) {
    let mut is_result = false;
    for part in &message.shape().parts {
        if !part.nested {
            is_result = matches!(part.kind, PartKind::ToolResult | PartKind::ServerToolResult);
        }
        if part.chars == 0 || matches!(part.kind, PartKind::Media(_)) {
            continue;
        }
        let speaker = speaker(message.shape().role, is_result);
        strings(message, part, &mut |text| each(speaker, part, text));
    }
}

/// Whether a tool of this name changes files.
#[must_use]
pub fn edits_file(tool: &str) -> bool {
    const CHANGES: [&str; 5] = ["write", "edit", "patch", "create_file", "replace"];
    // What is written there is a list of steps, or the input of a program.
    const NO_FILES: [&str; 2] = ["todo", "stdin"];
    let tool = tool.to_ascii_lowercase();
    let has_any = |words: &[&str]| words.iter().any(|word| tool.contains(word));
    has_any(&CHANGES) && !has_any(&NO_FILES)
}

fn speaker(role: Role, is_result: bool) -> Speaker {
    match role {
        _ if is_result => Speaker::Tool,
        Role::Tool => Speaker::Tool,
        Role::Assistant => Speaker::Own,
        Role::User | Role::System | Role::Developer => Speaker::User,
    }
}

/// A string is one text. Anything else, and arguments that are JSON inside a string, are the strings in them.
fn strings(message: &Message, part: &Part, each: &mut dyn FnMut(&str)) {
    let is_call = matches!(part.kind, PartKind::ToolCall | PartKind::ServerToolCall);
    let is_string = part.text.of(message.raw()).starts_with('"');
    let text = message.text_of(part);
    if is_string && !(is_call && text.trim_start().starts_with(['{', '['])) {
        each(&text);
        return;
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => walk(&value, each),
        Err(_) => each(&text),
    }
}

fn walk(value: &Value, each: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter().for_each(|item| walk(item, each)),
        Value::Object(members) => members.values().for_each(|member| walk(member, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Format;

    fn said(format: Format, raw: &str) -> Vec<(Speaker, bool, String)> {
        let mut all = Vec::new();
        let message = Message::parse(format, raw).unwrap();
        plain_texts(&message, |speaker, part, text| {
            all.push((speaker, edits_file(&message.name_of(part)), text.to_owned()));
        });
        all
    }

    #[test]
    fn an_anthropic_message_speaks_for_the_user_and_for_tools() {
        let raw = r#"{"role":"user","content":[
            {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"from a\ntool"}]},
            {"type":"text","text":"from me"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}"#;
        let expected =
            [(Speaker::Tool, false, "from a\ntool".to_owned()), (Speaker::User, false, "from me".to_owned())];
        assert_eq!(said(Format::Anthropic, raw), expected);
    }

    #[test]
    fn arguments_are_decoded_and_edits_known_by_the_tool() {
        let raw = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":
            {"name":"edit_file","arguments":"{\"path\":\"a.rs\",\"lines\":[1,\"x\\ny\"]}"}}]}"#;
        let expected = [(Speaker::Own, true, "a.rs".to_owned()), (Speaker::Own, true, "x\ny".to_owned())];
        let mut all = said(Format::OpenAiChat, raw);
        all.sort();
        assert_eq!(all, expected);
    }

    #[test]
    fn only_what_changes_files_edits_them() {
        assert!(["Write", "MultiEdit", "apply_patch", "str_replace_based_edit_tool"].into_iter().all(edits_file));
        assert!(!["Read", "TodoWrite", "write_todos", "write_stdin"].into_iter().any(edits_file));
    }

    #[test]
    fn signatures_are_not_words() {
        let raw = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln/bmF0dXJl"}]}"#;
        assert_eq!(said(Format::Anthropic, raw), [(Speaker::Own, false, "hm".to_owned())]);
    }
}
