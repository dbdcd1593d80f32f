//! Gemini CLI's session files.
//!
//! A session is `{sessionId, messages}`. A `gemini` record holds what the model said, the calls it made and what the
//! tools answered; on the wire those are two contents. Thoughts are notes for the reader and were never sent; they are
//! in what was billed. Newer versions write the tools' answers once more, as a user's record, and what a session starts with
//! as a change of its messages (`$set`).

use super::{ReadError, lines, moment, push};
use crate::billed::Billed;
use crate::conversation::Conversation;
use louver::Format;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Session {
    session_id: Option<String>,
    project_hash: Option<String>,
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
    tokens: Option<Tokens>,
}

/// What an answer was billed as. Input includes what was read from the cache.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(default)]
struct Tokens {
    input: u64,
    cached: u64,
    output: u64,
    thoughts: u64,
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
    conversation(name, session)
}

/// The conversation of a session with a record per line. A record that comes again replaces the earlier one.
pub(super) fn read_lines(name: &str, text: &str) -> Result<Conversation, ReadError> {
    let mut session = Session::default();
    for (_, value) in lines::parse::<Value>(text)? {
        let changed = value.get("$set").unwrap_or(&value);
        let head: Session = serde_json::from_value(changed.clone()).unwrap_or_default();
        session.session_id = session.session_id.take().or(head.session_id);
        session.project_hash = session.project_hash.take().or(head.project_hash);
        head.messages.into_iter().for_each(|record| session.add(record));
        if let Ok(record) = serde_json::from_value::<Record>(value) {
            session.add(record);
        }
    }
    conversation(name, session)
}

impl Session {
    /// A record that comes again replaces the earlier one.
    fn add(&mut self, record: Record) {
        match self.messages.iter_mut().find(|earlier| earlier.id.is_some() && earlier.id == record.id) {
            Some(earlier) => *earlier = record,
            None => self.messages.push(record),
        }
    }

    /// The calls whose answers have a record of their own.
    fn answered(&self) -> HashSet<String> {
        let users = self.messages.iter().filter(|record| record.kind == "user");
        let parts = users.flat_map(|record| parts(&record.content));
        parts.filter_map(|part| Some(part.get("functionResponse")?.get("id")?.as_str()?.to_owned())).collect()
    }
}

fn conversation(name: &str, session: Session) -> Result<Conversation, ReadError> {
    let mut conversation = Conversation::new(name, Format::Gemini, Vec::new());
    let answered = session.answered();
    (conversation.session, conversation.project) = (session.session_id, session.project_hash);
    for (number, record) in session.messages.into_iter().enumerate() {
        conversation.model = conversation.model.or_else(|| record.model.clone());
        let time = moment::millis(record.timestamp.as_deref());
        let at = conversation.messages.len();
        for content in contents(&record, &answered) {
            push(&mut conversation, number + 1, &content.to_string(), time)?;
        }
        if conversation.messages.len() > at {
            conversation.billed.extend(record.billed(at));
        }
    }
    Ok(conversation)
}

impl Record {
    fn billed(&self, at: usize) -> Option<Billed> {
        let tokens = self.tokens.filter(|tokens| tokens.input > 0)?;
        Some(Billed {
            at,
            id: self.id.clone(),
            model: self.model.clone(),
            uncached: tokens.input.saturating_sub(tokens.cached),
            read: tokens.cached,
            output: tokens.output + tokens.thoughts,
            ..Billed::default()
        })
    }
}

/// What a record was on the wire.
fn contents(record: &Record, answered: &HashSet<String>) -> Vec<Value> {
    match record.kind.as_str() {
        "user" => content("user", &parts(&record.content)).into_iter().collect(),
        "gemini" => {
            let calls = record.tool_calls.iter().map(call_part);
            let said: Vec<Value> = parts(&record.content).into_iter().chain(calls).collect();
            let is_open = |call: &&Call| call.id.as_ref().is_none_or(|id| !answered.contains(id));
            let answers: Vec<Value> = record.tool_calls.iter().filter(is_open).map(result_part).collect();
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
