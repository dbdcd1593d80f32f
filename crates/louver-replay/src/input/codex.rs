//! Codex's rollouts.
//!
//! Each line is `{timestamp, type, payload}`. A `response_item` is an item of the history as it was sent; a
//! `compacted` line replaces the history, so what follows is a conversation of its own.

use super::{ReadError, lines, moment, numbered, push};
use crate::conversation::Conversation;
use louver::{Format, Role};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize)]
struct Line {
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: String,
    payload: Option<Box<RawValue>>,
}

/// What is of use in a payload, whatever line it belongs to.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    instructions: Option<String>,
    base_instructions: Option<BaseInstructions>,
    message: Option<String>,
    replacement_history: Option<Vec<Box<RawValue>>>,
    num_turns: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BaseInstructions {
    text: Option<String>,
}

/// The conversations of a rollout: one, and one more per compaction.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<Conversation>, ReadError> {
    let mut reader = Reader { name, done: Vec::new(), open: empty(name, None) };
    for (number, line) in lines::parse::<Line>(text)? {
        reader.read(number, &line)?;
    }
    reader.done.push(reader.open);
    reader.done.retain(|conversation| !conversation.messages.is_empty());
    Ok(reader.done)
}

struct Reader<'a> {
    name: &'a str,
    done: Vec<Conversation>,
    open: Conversation,
}

impl Reader<'_> {
    fn read(&mut self, number: usize, line: &Line) -> Result<(), ReadError> {
        let Some(raw) = line.payload.as_deref() else {
            return Ok(());
        };
        let time = moment::millis(line.timestamp.as_deref());
        // Payloads that are no objects, or have other fields under these names, say nothing to us.
        let payload: Payload = serde_json::from_str(raw.get()).unwrap_or_default();
        match line.kind.as_str() {
            "session_meta" => {
                let instructions = payload.base_instructions.and_then(|base| base.text).or(payload.instructions);
                self.open.system.extend(instructions);
            }
            "turn_context" if self.open.model.is_none() => self.open.model = payload.model,
            "response_item" if payload.kind.as_deref() != Some("ghost_snapshot") => {
                push(&mut self.open, number, raw.get(), time)?;
            }
            "compacted" => self.compact(number, payload, time)?,
            "event_msg" if payload.kind.as_deref() == Some("thread_rolled_back") => {
                self.roll_back(payload.num_turns.unwrap_or(0));
            }
            _ => {}
        }
        Ok(())
    }

    fn compact(&mut self, line: usize, payload: Payload, time: Option<i64>) -> Result<(), ReadError> {
        let next = empty(&numbered(self.name, self.done.len() + 1), Some(&self.open));
        self.done.push(std::mem::replace(&mut self.open, next));
        match payload.replacement_history {
            Some(items) => items.iter().try_for_each(|item| push(&mut self.open, line, item.get(), time)),
            None => {
                let summary = payload.message.unwrap_or_default();
                let wire = Format::OpenAiResponses.wire();
                push(&mut self.open, line, &wire.write(Role::User, &summary), time)
            }
        }
    }

    /// Takes the newest turns back, each from its user message on.
    fn roll_back(&mut self, turns: usize) {
        let users = self.open.messages.iter().enumerate().filter(|(_, message)| message.shape().role == Role::User);
        let starts: Vec<usize> = users.map(|(index, _)| index).collect();
        if let Some(start) = turns.checked_sub(1).and_then(|back| starts.iter().rev().nth(back)) {
            self.open.messages.truncate(*start);
            self.open.times.truncate(*start);
        }
    }
}

/// A conversation without messages, under the same model and instructions as another.
fn empty(name: &str, like: Option<&Conversation>) -> Conversation {
    let fresh = Conversation::new(name, Format::OpenAiResponses, Vec::new());
    match like {
        Some(like) => Conversation { model: like.model.clone(), system: like.system.clone(), ..fresh },
        None => fresh,
    }
}
