//! Answers of the Messages API in events.

use super::whole::message;
use crate::provider::answer::{self, Answer, StopReason};
use crate::provider::dialect::{Gather, Unreadable};
use crate::provider::error::ProviderError;
use crate::usage::Usage;
use louver::Format;
use louver::sse::SseEvent;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;

type RawFields = BTreeMap<String, Box<RawValue>>;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// By their index: one that starts again is another.
    blocks: BTreeMap<usize, Block>,
    stop: Option<String>,
    /// A stream gives it in parts.
    usage: Value,
    is_complete: bool,
}

/// One content block: as it started, and what its deltas added.
#[derive(Debug, Default)]
struct Block {
    fields: RawFields,
    /// Text by the field that the deltas extend.
    added: BTreeMap<&'static str, String>,
    citations: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    index: usize,
    content_block: Option<RawFields>,
    delta: Option<RawFields>,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    usage: Value,
    error: Option<Value>,
}

impl Gather for Stream {
    fn event(&mut self, event: &SseEvent) -> Result<bool, Unreadable> {
        let event: Event = serde_json::from_str(&event.data)?;
        match event.kind.as_str() {
            "message_start" => self.update_usage(&event.message["usage"]),
            "content_block_start" => {
                let fields = event.content_block.unwrap_or_default();
                self.blocks.insert(event.index, Block { fields, ..Block::default() });
            }
            "content_block_delta" => self.extend(event.index, &event.delta.unwrap_or_default())?,
            "message_delta" => {
                self.update_usage(&event.usage);
                self.stop = event.delta.and_then(|delta| text_of(&delta, "stop_reason")).or(self.stop.take());
            }
            "message_stop" => self.is_complete = true,
            "error" => return Err(Unreadable::Failed(ProviderError::in_stream(&event.error.unwrap_or_default()))),
            // Pings, ends of blocks, and whatever comes to be.
            _ => {}
        }
        Ok(self.is_complete)
    }

    fn finish(self: Box<Self>) -> Result<Answer, Unreadable> {
        if !self.is_complete {
            return Err(Unreadable::Broken("the stream ended before the answer did".to_owned()));
        }
        let malformed: Vec<Option<String>> =
            self.blocks.values().filter(|block| block.is_call()).map(Block::malformed_input).collect();
        let blocks = self.blocks.values().map(Block::raw).collect::<Result<Vec<String>, _>>()?;
        let blocks: Vec<&str> = blocks.iter().map(String::as_str).collect();
        let stop = StopReason::of(self.stop.as_deref().unwrap_or_default());
        let mut answer =
            Answer::read(Format::Anthropic, &message(&blocks), stop, Usage::read(Format::Anthropic, &self.usage))?;
        for (call, malformed) in answer.calls.iter_mut().zip(malformed) {
            if let Some(text) = malformed {
                call.arguments = Err(text);
            }
        }
        Ok(answer)
    }
}

impl Stream {
    /// Later figures replace earlier ones.
    fn update_usage(&mut self, later: &Value) {
        for (name, figure) in later.as_object().into_iter().flatten().filter(|(_, figure)| !figure.is_null()) {
            self.usage[name] = figure.clone();
        }
    }

    fn extend(&mut self, index: usize, delta: &RawFields) -> Result<(), Unreadable> {
        let block = self.blocks.get_mut(&index);
        let block = block.ok_or_else(|| Unreadable::Broken("a delta came before its block".to_owned()))?;
        // What a delta carries, and the field of the block that it belongs to.
        for (carried, field) in [
            ("text", "text"),
            ("partial_json", "input"),
            ("thinking", "thinking"),
            ("signature", "signature"),
            ("content", "content"),
        ] {
            if let Some(text) = text_of(delta, carried) {
                block.added.entry(field).or_default().push_str(&text);
            }
        }
        block.citations.extend(delta.get("citation").cloned());
        Ok(())
    }
}

impl Block {
    fn is_call(&self) -> bool {
        text_of(&self.fields, "type").as_deref() == Some("tool_use")
    }

    /// Arguments that are no JSON object, in the model's own words: the format cannot carry them.
    fn malformed_input(&self) -> Option<String> {
        let input = self.added.get("input")?;
        match answer::arguments(input) {
            Ok(Value::Object(_)) => None,
            _ => Some(input.clone()),
        }
    }

    fn raw(&self) -> Result<String, serde_json::Error> {
        let mut fields = self.fields.clone();
        for (field, added) in &self.added {
            let value = match *field {
                "input" if self.malformed_input().is_some() || added.trim().is_empty() => {
                    RawValue::from_string("{}".to_owned())?
                }
                "input" => RawValue::from_string(added.trim().to_owned())?,
                _ => to_raw_value(&(text_of(&fields, field).unwrap_or_default() + added))?,
            };
            fields.insert((*field).to_owned(), value);
        }
        if !self.citations.is_empty() {
            fields.insert("citations".to_owned(), to_raw_value(&self.citations)?);
        }
        serde_json::to_string(&fields)
    }
}

fn text_of(fields: &RawFields, name: &str) -> Option<String> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}
