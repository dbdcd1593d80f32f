//! Gemini CLI's session files.
//!
//! A session is `{sessionId, messages}`. A `gemini` record holds what the model said, the calls it made and what the
//! tools answered; on the wire those are two contents. Thoughts are notes for the reader and were never sent.

use super::{ReadError, lines, moment, push};
use crate::conversation::Conversation;
use louver::Format;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Session {
    #[serde(default)]
    messages: Vec<Record>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    id: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<String>,
    content: Value,
    tool_calls: Vec<Call>,
    model: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    id: Option<String>,
    name: String,
    args: Value,
    result: Value,
    status: Option<String>,
}

/// The conversation of a session.
pub(super) fn read(name: &str, text: &str) -> Result<Conversation, ReadError> {
    let session: Session =
        serde_json::from_str(text).map_err(|source| ReadError::Line { line: source.line(), source })?;
    conversation(name, session.messages)
}

/// The conversation of a session with a record per line. A record that comes again replaces the earlier one.
pub(super) fn read_lines(name: &str, text: &str) -> Result<Conversation, ReadError> {
    let mut records: Vec<Record> = Vec::new();
    for (_, value) in lines::parse::<Value>(text)? {
        let Ok(record) = serde_json::from_value::<Record>(value) else {
            continue;
        };
        match records.iter_mut().find(|earlier| earlier.id.is_some() && earlier.id == record.id) {
            Some(earlier) => *earlier = record,
            None => records.push(record),
        }
    }
    conversation(name, records)
}

fn conversation(name: &str, records: Vec<Record>) -> Result<Conversation, ReadError> {
    let mut conversation = Conversation::new(name, Format::Gemini, Vec::new());
    for (number, record) in records.into_iter().enumerate() {
        conversation.model = conversation.model.or_else(|| record.model.clone());
        let time = moment::millis(record.timestamp.as_deref());
        for content in contents(&record) {
            push(&mut conversation, number + 1, &content.to_string(), time)?;
        }
    }
    Ok(conversation)
}

/// What a record was on the wire.
fn contents(record: &Record) -> Vec<Value> {
    match record.kind.as_str() {
        "user" => content("user", &parts(&record.content)).into_iter().collect(),
        "gemini" => {
            let calls = record.tool_calls.iter().map(call_part);
            let said: Vec<Value> = parts(&record.content).into_iter().chain(calls).collect();
            let answers: Vec<Value> = record.tool_calls.iter().map(result_part).collect();
            content("model", &said).into_iter().chain(content("user", &answers)).collect()
        }
        _ => Vec::new(),
    }
}

fn content(role: &str, parts: &[Value]) -> Option<Value> {
    (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
}

/// A text, or parts as they are.
fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![json!({ "text": text })],
        Value::Array(parts) => parts.iter().flat_map(self::parts).collect(),
        Value::Object(_) => vec![content.clone()],
        _ => Vec::new(),
    }
}

fn call_part(call: &Call) -> Value {
    json!({ "functionCall": { "id": call.id, "name": call.name, "args": call.args } })
}

/// What the tool answered, as a function response.
fn result_part(call: &Call) -> Value {
    let found = parts(&call.result);
    if let Some(response) = found.iter().find(|part| part.get("functionResponse").is_some()) {
        return response.clone();
    }
    let texts: Vec<&str> = found.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
    let output = if texts.is_empty() { call.status.clone().unwrap_or_default() } else { texts.join("\n") };
    json!({ "functionResponse": { "id": call.id, "name": call.name, "response": { "output": output } } })
}
