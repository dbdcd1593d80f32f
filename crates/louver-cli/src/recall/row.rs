//! A message that was had back, and what it is known by.

use louver::inspect::{Piece, pieces};
use louver::{Body, Message, Role};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// One message. What is shown of it depends on what was asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'b> {
    pub(crate) index: usize,
    /// What names its conversation, where it is not the one that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tag: Option<String>,
    pub(crate) role: Role,
    pub(crate) parts: Vec<Piece>,
    /// The message as it came, where it was asked for by its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<&'b RawValue>,
    /// The passage or the excerpt that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'b str>,
}

impl Row<'_> {
    /// A message at its place, that holds these parts.
    pub(crate) fn new(index: usize, message: &Message, parts: Vec<Piece>) -> Self {
        Self { index, tag: None, role: message.shape().role, parts, message: None, text: None }
    }
}

/// A row for each of these messages, in this order. A result is told by the tool that was called before.
pub(crate) fn rows<'b>(body: &Body, indices: impl Iterator<Item = usize>) -> Vec<Row<'b>> {
    let mut tools = HashMap::new();
    let parts: Vec<_> = body.messages().iter().map(|message| pieces(message, &mut tools)).collect();
    let row = |index: usize| {
        let message = body.messages().get(index)?;
        Some(Row::new(index, message, parts.get(index)?.clone()))
    };
    indices.filter_map(row).collect()
}
