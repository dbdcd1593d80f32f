//! Answers of the Chat Completions API in events.

use super::whole::worth_keeping;
use crate::provider::answer::{Answer, StopReason};
use crate::provider::dialect::{Gather, Unreadable};
use crate::provider::error::ProviderError;
use crate::usage::Usage;
use louver::Format;
use louver::sse::SseEvent;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The answer so far.
#[derive(Debug, Default)]
pub(super) struct Stream {
    content: Option<String>,
    refusal: Option<String>,
    calls: BTreeMap<usize, Call>,
    stop: Option<String>,
    usage: Value,
}

#[derive(Debug, Default)]
struct Call {
    id: String,
    name: String,
    arguments: String,
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
    content: Option<String>,
    refusal: Option<String>,
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default)]
    index: usize,
    id: Option<String>,
    function: Option<FunctionDelta>,
}

#[derive(Deserialize)]
struct FunctionDelta {
    name: Option<String>,
    arguments: Option<String>,
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
        Ok(worth_keeping(Answer::read(Format::OpenAiChat, &[self.message()], stop, usage)?))
    }
}

impl Stream {
    fn extend(&mut self, delta: Delta) {
        if let Some(content) = delta.content {
            self.content.get_or_insert_default().push_str(&content);
        }
        if let Some(refusal) = delta.refusal {
            self.refusal.get_or_insert_default().push_str(&refusal);
        }
        for part in delta.tool_calls.unwrap_or_default() {
            let call = self.calls.entry(part.index).or_default();
            call.id.push_str(&part.id.unwrap_or_default());
            if let Some(function) = part.function {
                call.name.push_str(&function.name.unwrap_or_default());
                call.arguments.push_str(&function.arguments.unwrap_or_default());
            }
        }
    }

    fn message(&self) -> String {
        let mut message = json!({"role": "assistant", "content": self.content});
        if let Some(refusal) = &self.refusal {
            message["refusal"] = json!(refusal);
        }
        if !self.calls.is_empty() {
            let call = |call: &Call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            };
            message["tool_calls"] = self.calls.values().map(call).collect();
        }
        message.to_string()
    }
}
