//! Gemini CLI's session files.
//!
//! A session is `{sessionId, messages}`. A `gemini` record holds what the model said, the calls it made and what the
//! tools answered; on the wire those are two contents. Thoughts are notes for the reader and were never sent; they are
//! in what was billed. Newer versions write the tools' answers once more, as a user's record, and what a session starts with
//! as a change of its messages (`$set`). The same change replaces a history that was compressed, so what follows is a
//! conversation of its own; what is rewound (`$rewindTo`) is a branch.

use super::{ReadError, lines, moment, numbered, push};
use crate::billed::Billed;
use crate::conversation::{Conversation, Strand};
use louver::Format;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Session {
    session_id: Option<String>,
    project_hash: Option<String>,
    messages: Option<Vec<Record>>,
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
    let Session { session_id, project_hash, messages } = session;
    let records = messages.unwrap_or_default();
    Reader { name, session_id, project_hash, records, ..Reader::default() }.conversation(name, 0)
}

/// The conversations of a session with a record per line: one, and one more per history that was replaced or rewound.
pub(super) fn read_lines(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let mut reader = Reader { name, ..Reader::default() };
    for (_, value) in lines::parse::<Value>(text)? {
        reader.read(value)?;
    }
    reader.finish()
}

/// A session as far as it was read.
#[derive(Default)]
struct Reader<'a> {
    name: &'a str,
    session_id: Option<String>,
    project_hash: Option<String>,
    done: Vec<Conversation>,
    branches: Vec<Conversation>,
    /// The history as it is now.
    records: Vec<Record>,
    /// How many records at its start replaced another history: nothing was paid for them here.
    given: usize,
}

impl Reader<'_> {
    fn read(&mut self, value: Value) -> Result<(), ReadError> {
        if let Some(id) = value.get("$rewindTo").and_then(Value::as_str) {
            let at = self.records.iter().position(|record| record.id.as_deref() == Some(id));
            return self.rewind(at.unwrap_or(0));
        }
        let changed = value.get("$set").unwrap_or(&value);
        let head: Session = serde_json::from_value(changed.clone()).unwrap_or_default();
        self.session_id = self.session_id.take().or(head.session_id);
        self.project_hash = self.project_hash.take().or(head.project_hash);
        if let Some(records) = head.messages {
            self.set(records)?;
        }
        if let Some(record) = serde_json::from_value(value).ok().filter(|record: &Record| !record.kind.is_empty()) {
            self.add(record);
        }
        Ok(())
    }

    /// A record that comes again replaces the earlier one.
    fn add(&mut self, record: Record) {
        match self.records.iter_mut().find(|earlier| earlier.id.is_some() && earlier.id == record.id) {
            Some(earlier) => *earlier = record,
            None => self.records.push(record),
        }
    }

    /// The history is these records now. More of the same goes on, less of the same was rewound.
    fn set(&mut self, records: Vec<Record>) -> Result<(), ReadError> {
        let now: Vec<&Record> = records.iter().filter(|record| record.is_spoken()).collect();
        let before: Vec<usize> = (0..self.records.len()).filter(|at| self.records[*at].is_spoken()).collect();
        let same = before.iter().zip(&now).take_while(|(at, now)| now.goes_on_from(&self.records[**at])).count();
        if same == before.len() {
            records.into_iter().for_each(|record| self.add(record));
        } else if same == now.len() {
            self.rewind(before[same])?;
        } else {
            self.done.push(self.open()?);
            (self.given, self.records) = (records.len(), records);
        }
        Ok(())
    }

    /// Takes back a record and all behind it. What was paid for them is a branch.
    fn rewind(&mut self, at: usize) -> Result<(), ReadError> {
        let name = format!("{}#branch-{}", self.name, self.branches.len() + 1);
        let branch = Conversation { strand: Strand::Branch, ..self.conversation(&name, at.max(self.given))? };
        if branch.turns().len() > branch.counted_elsewhere {
            self.branches.push(branch);
        }
        self.records.truncate(at);
        self.given = self.given.min(at);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Conversation>, ReadError> {
        self.done.push(self.open()?);
        self.done.append(&mut self.branches);
        self.done.retain(|conversation| !conversation.messages.is_empty());
        Ok(self.done)
    }

    fn open(&self) -> Result<Conversation, ReadError> {
        self.conversation(&numbered(self.name, self.done.len()), self.given)
    }

    /// The history as a conversation whose first so many records are counted elsewhere.
    fn conversation(&self, name: &str, elsewhere: usize) -> Result<Conversation, ReadError> {
        let mut conversation = Conversation::new(name, Format::Gemini, Vec::new());
        let (answered, mut stem) = (self.answered(), 0);
        (conversation.session, conversation.project) = (self.session_id.clone(), self.project());
        for (number, record) in self.records.iter().enumerate() {
            conversation.model = conversation.model.or_else(|| record.model.clone());
            let time = moment::millis(record.timestamp.as_deref());
            let at = conversation.messages.len();
            for content in contents(record, &answered) {
                push(&mut conversation, number + 1, &content.to_string(), time)?;
            }
            if conversation.messages.len() > at && number >= self.given {
                conversation.billed.extend(record.billed(at));
            }
            if number < elsewhere {
                stem = conversation.messages.len();
            }
        }
        conversation.counted_elsewhere = conversation.turns().iter().filter(|turn| turn.at < stem).count();
        Ok(conversation)
    }

    /// What the client calls the project's folder: a name that people know in newer versions, the hash in older ones.
    fn project(&self) -> Option<String> {
        let mut folders = self.name.rsplit('/').skip(1);
        let named = (folders.next() == Some("chats")).then(|| folders.next()).flatten();
        named.map(str::to_owned).or_else(|| self.project_hash.clone())
    }

    /// The calls whose answers have a record of their own.
    fn answered(&self) -> HashSet<String> {
        let users = self.records.iter().filter(|record| record.kind == "user");
        let parts = users.flat_map(|record| parts(&record.content));
        parts.filter_map(|part| Some(part.get("functionResponse")?.get("id")?.as_str()?.to_owned())).collect()
    }
}

impl Record {
    /// Whether it stood on the wire.
    fn is_spoken(&self) -> bool {
        self.kind == "user" || self.kind == "gemini"
    }

    /// Whether it is an earlier record, at most with answers of tools that had been missing.
    fn goes_on_from(&self, earlier: &Self) -> bool {
        let has = |call: &Call| {
            let mut own = self.tool_calls.iter().filter(|own| own.id == call.id);
            own.any(|own| call.result.is_null() || own.result == call.result)
        };
        self.id == earlier.id && self.content == earlier.content && earlier.tool_calls.iter().all(has)
    }

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
