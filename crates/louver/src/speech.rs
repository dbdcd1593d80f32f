//! What is said in a message, and who says it.

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

/// Calls `each` with every decoded text of a message and the part it stands in. Arguments are decoded to the strings in
/// them; signatures, encrypted content and base64 are left out.
///
/// ```
/// use louver::speech::{Speaker, speeches};
/// use louver::wire::{Format, Message};
///
/// let raw = r#"{"role":"assistant","content":"Reading.","tool_calls":[{"id":"c","type":"function",
///     "function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}}]}"#;
/// let message = Message::parse(Format::OpenAiChat, raw).unwrap();
/// let mut said = Vec::new();
/// speeches(&message, |speaker, _, text| said.push((speaker, text.to_owned())));
/// assert_eq!(said, [(Speaker::Own, "Reading.".to_owned()), (Speaker::Own, "a.rs".to_owned())]);
/// ```
pub fn speeches(message: &Message, mut each: impl FnMut(Speaker, &Part, &str)) {
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
    let tool = tool.to_ascii_lowercase();
    ["write", "edit", "patch", "create_file", "replace"].iter().any(|word| tool.contains(word))
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
