//! What the tests of the wire formats share: histories from the corpus and from test data, and fixes made to them.

#![allow(dead_code, reason = "every test uses its own part of this")]

use louver::wire::{Fix, Format, History, Message, Thinking};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::PathBuf;

/// A conversation of the corpus.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) name: String,
    pub(crate) is_legal: bool,
    pub(crate) raws: Vec<String>,
    pub(crate) messages: Vec<Message>,
}

/// The conversations of one format, or nothing where there is no corpus.
pub(crate) fn corpus(format: Format) -> Vec<Conversation> {
    let Some(folder) = std::env::var_os("LOUVER_CORPUS").map(PathBuf::from) else {
        println!("skipped: LOUVER_CORPUS is not set");
        return Vec::new();
    };
    let index = std::fs::read_to_string(folder.join("index.csv")).unwrap();
    let rows = index.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
    let rows: Vec<_> = rows.filter(|row| row[1] == format.name()).collect();
    assert!(!rows.is_empty(), "the corpus has no {format} file");
    let read = |row: &Vec<&str>| {
        let text = std::fs::read_to_string(folder.join(row[0])).unwrap();
        let raws = raw_messages(&text, "messages");
        let messages = raws.iter().enumerate().map(|(index, raw)| parse(format, raw, row[0], index)).collect();
        Conversation { name: row[0].to_owned(), is_legal: row[11] == "yes", raws, messages }
    };
    rows.iter().map(read).collect()
}

fn parse(format: Format, raw: &str, name: &str, index: usize) -> Message {
    Message::parse(format, raw).unwrap_or_else(|error| panic!("{name}[{index}]: {error}"))
}

/// The elements of the array under `key`, as they are spelled.
pub(crate) fn raw_messages(body: &str, key: &str) -> Vec<String> {
    let fields = serde_json::from_str::<HashMap<String, &RawValue>>(body).unwrap();
    let list: Vec<&RawValue> = serde_json::from_str(fields[key].get()).unwrap();
    list.into_iter().map(|raw| raw.get().to_owned()).collect()
}

/// A request body of the test data as a history.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) messages: Vec<Message>,
    pub(crate) outer_cache_marks: u32,
    pub(crate) thinking: Thinking,
}

impl Request {
    pub(crate) fn read(format: Format, body: &Value) -> Self {
        let raws = raw_messages(&body.to_string(), format.history_key());
        let messages = raws.iter().enumerate().map(|(index, raw)| parse(format, raw, "data", index)).collect();
        let outer = [&body["system"], &body["tools"]].into_iter().filter_map(Value::as_array).flatten();
        let outer_cache_marks = outer.filter(|block| !block["cache_control"].is_null()).count() as u32;
        let is_enabled = body["thinking"]["type"] == "enabled";
        let thinking = if is_enabled { Thinking::Enabled } else { Thinking::Unset };
        Self { messages, outer_cache_marks, thinking }
    }

    pub(crate) fn of(messages: Vec<Message>) -> Self {
        Self { messages, outer_cache_marks: 0, thinking: Thinking::Unset }
    }

    pub(crate) fn history(&self) -> History<'_> {
        let Self { outer_cache_marks, thinking, .. } = *self;
        History { outer_cache_marks, thinking, ..History::of(&self.messages) }
    }

    /// The same request with the fixes made.
    pub(crate) fn fixed(&self, format: Format, fixes: &[Fix]) -> Self {
        let mut messages = Vec::new();
        for index in 0..=self.messages.len() {
            let mut kept = self.messages.get(index).cloned();
            for fix in fixes.iter().filter(|fix| fix.index() == index) {
                match fix {
                    Fix::Remove { .. } => kept = None,
                    Fix::Replace { raw, .. } => kept = Some(parse(format, raw, "fix", index)),
                    Fix::Insert { raw, .. } => messages.push(parse(format, raw, "fix", index)),
                }
            }
            messages.extend(kept);
        }
        Self { messages, ..*self }
    }
}

/// The just-legal and just-illegal requests of a file of test data: rule, legal, illegal.
pub(crate) fn legality_cases(json: &str, format: Format) -> Vec<(String, Request, Request)> {
    let cases: Vec<Value> = serde_json::from_str(json).unwrap();
    let read = |case: &Value| {
        let rule = case["rule"].as_str().unwrap().to_owned();
        (rule, Request::read(format, &case["legal"]), Request::read(format, &case["illegal"]))
    };
    cases.iter().map(read).collect()
}
