//! Answers of the Chat Completions API in events.

use super::call::{Call, CallDelta, merge};
use super::whole::worth_keeping;
use crate::provider::answer::{Answer, StopReason};
use crate::provider::dialect::{Gather, Unreadable};
use crate::provider::error::ProviderError;
use crate::usage::Usage;
use louver::Format;
use louver::sse::SseEvent;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Everything but the calls, fields that only this provider knows included: it may want them back.
    fields: Map<String, Value>,
    calls: Vec<Call>,
    stop: Option<String>,
    usage: Value,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    tool_calls: Option<Vec<CallDelta>>,
    #[serde(flatten)]
    fields: Map<String, Value>,
}

impl Gather for Stream {
    fn event(&mut self, event: &SseEvent) -> Result<bool, Unreadable> {
        if event.data.trim() == "[DONE]" {
            return Ok(true);
        }
        let chunk: Chunk = serde_json::from_str(&event.data)?;
        if let Some(error) = chunk.error {
            return Err(Unreadable::Failed(ProviderError::in_stream(&error)));
        }
        if let Some(usage) = chunk.usage {
            self.usage = usage;
        }
        for choice in chunk.choices {
            self.extend(choice.delta);
            self.stop = choice.finish_reason.or(self.stop.take());
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Answer, Unreadable> {
        let Some(stop) = &self.stop else {
            return Err(Unreadable::Broken("the stream ended before the answer did".to_owned()));
        };
        let (stop, usage) = (StopReason::of(stop), Usage::read(Format::OpenAiChat, &self.usage));
        Ok(worth_keeping(Answer::read(Format::OpenAiChat, &[message(self.fields, self.calls)], stop, usage)?))
    }
}

impl Stream {
    fn extend(&mut self, delta: Delta) {
        for (name, value) in delta.fields.into_iter().filter(|(name, _)| name != "role") {
            merge(&mut self.fields, name, value);
        }
        for part in delta.tool_calls.unwrap_or_default() {
            let at = part.belongs_to(&self.calls).unwrap_or(self.calls.len());
            if at == self.calls.len() {
                self.calls.push(Call::default());
            }
            self.calls[at].extend(part);
        }
    }
}

fn message(mut fields: Map<String, Value>, mut calls: Vec<Call>) -> String {
    calls.sort_by_key(Call::index);
    fields.insert("role".to_owned(), json!("assistant"));
    fields.entry("content").or_insert(Value::Null);
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into_iter().map(Call::into_value).collect());
    }
    Value::Object(fields).to_string()
}
