//! A message that was had back, and what it is known by.

use crate::inspect::{Piece, pieces};
use louver::{Body, Role};
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// One message. What is shown of it depends on what was asked for.
#[derive(Debug, Serialize)]
pub(crate) struct Row<'b> {
    pub(crate) index: usize,
    pub(crate) role: Role,
    pub(crate) parts: Vec<Piece>,
    /// The message as it came, where it was asked for by its address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<&'b RawValue>,
    /// The passage that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<&'b str>,
}

/// A row for each of these messages, in this order. A result is told by the tool that was called before.
pub(crate) fn rows<'b>(body: &Body, indices: impl Iterator<Item = usize>) -> Vec<Row<'b>> {
    let mut tools = HashMap::new();
    let parts: Vec<_> = body.messages().iter().map(|message| pieces(message, &mut tools)).collect();
    let row = |index: usize| {
        let message = body.messages().get(index)?;
        let parts = parts.get(index)?.clone();
        Some(Row { index, role: message.shape().role, parts, message: None, text: None })
    };
    indices.filter_map(row).collect()
}
