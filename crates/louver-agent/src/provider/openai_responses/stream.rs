//! Answers of the Responses API in events.

use super::whole::{Ending, answer};
use crate::provider::answer::Answer;
use crate::provider::dialect::{Gather, Unreadable};
use crate::provider::error::ProviderError;
use louver::sse::SseEvent;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The answer so far. Items count once they are done: only then are they whole.
#[derive(Debug, Default)]
pub(super) struct Stream {
    items: BTreeMap<usize, String>,
    ending: Option<Ending>,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    output_index: usize,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

impl Gather for Stream {
    fn event(&mut self, event: &SseEvent) -> Result<bool, Unreadable> {
        let data = event.data.as_str();
        let event: Event<'_> = serde_json::from_str(data)?;
        match event.kind.as_str() {
            "response.output_item.done" => {
                self.items.extend(event.item.map(|item| (event.output_index, item.get().to_owned())));
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                let response = event.response.map_or("{}", RawValue::get);
                self.ending = Some(serde_json::from_str(response)?);
            }
            "error" => {
                let whole: Value = serde_json::from_str(data)?;
                let error = if whole["error"].is_object() { &whole["error"] } else { &whole };
                return Err(Unreadable::Failed(ProviderError::in_stream(error)));
            }
            // Deltas repeat what the finished item says.
            _ => {}
        }
        Ok(self.ending.is_some())
    }

    fn finish(self: Box<Self>) -> Result<Answer, Unreadable> {
        let Some(ending) = self.ending else {
            return Err(Unreadable::Broken("the stream ended before the answer did".to_owned()));
        };
        let items: Vec<String> = self.items.into_values().collect();
        answer(&items, ending)
    }
}
