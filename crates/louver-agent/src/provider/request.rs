//! What is asked of a model.

use crate::observer::Observer;
use crate::tools::ToolDefinition;
use serde_json::{Map, Value};
use std::borrow::Borrow;

/// One request: the parts every provider has. The messages are raw text of the provider's own format and go out byte
/// for byte, cache marks aside.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The reply's length at most.
    pub max_tokens: u64,
    /// The system prompt.
    pub system: Option<&'a str>,
    /// The tools the model may call.
    pub tools: &'a [ToolDefinition],
    /// The history.
    pub messages: Vec<&'a str>,
    /// How many of the messages at the start were in the request before, so that a cache can have them.
    pub stable_messages: usize,
    /// Whether the answer is to be streamed.
    pub is_streamed: bool,
    /// Further fields of the body, such as `thinking` or `temperature`.
    pub extra: Option<&'a Map<String, Value>>,
    /// Who is told that it failed and is tried again.
    pub observer: Option<&'a Observer>,
}

impl<'a> Request<'a> {
    /// A request of one text of the user's, without tools.
    pub fn new(model: &'a str, max_tokens: u64, messages: Vec<&'a str>) -> Self {
        Self { model, max_tokens, messages, ..Self::default() }
    }

    /// Adds what the caller wants in every body.
    pub(super) fn add_extra(&self, fields: &mut Value) {
        if let (Value::Object(fields), Some(extra)) = (fields, self.extra) {
            fields.extend(extra.clone());
        }
    }
}

/// A body: its fields, and under a key a list of texts that go out as they are.
pub(super) fn with_list<S: Borrow<str>>(fields: &Value, key: &str, list: &[S]) -> String {
    let mut body = fields.to_string();
    body.pop();
    format!("{body},\"{key}\":[{}]}}", list.join(","))
}
