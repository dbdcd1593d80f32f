//! What stands in the place of a tool result.

use crate::recall::Address;
use crate::wire::{Message, Part, PartKind};

/// Characters of arguments and first line that a stub shows.
const SHOWN_CHARS: usize = 80;

/// A tool result in one line: which tool, what it was asked, how much it said, its first line, and how to have it back.
pub(super) fn cleared(index: usize, call: Option<(&Message, &Part)>, message: &Message, part: &Part) -> String {
    let text = message.text_of(part);
    let first_line = text.trim().lines().next().unwrap_or_default();
    let (tool, arguments) = match call {
        Some((message, part)) => (message.name_of(part).into_owned(), shown(&message.text_of(part)).to_owned()),
        None => ("tool".to_owned(), String::new()),
    };
    let tag = Address::of(index).tag();
    format!("{tag} {tool}({arguments}) said {} characters: {}", text.chars().count(), shown(first_line))
}

/// The same for a result whose words stand again later.
pub(super) fn superseded(index: usize, survivor: usize) -> String {
    format!("{} superseded by {}", Address::of(index).tag(), Address::of(survivor).tag())
}

fn shown(text: &str) -> &str {
    text.char_indices().nth(SHOWN_CHARS).map_or(text, |(end, _)| &text[..end])
}

/// The call that a result of the same unit answers.
pub(super) fn call_of<'m>(unit: &[&'m Message], id: &str) -> Option<(&'m Message, &'m Part)> {
    let calls =
        unit.iter().flat_map(|message| message.shape().parts_of(PartKind::ToolCall).map(|part| (*message, part)));
    let mut calls = calls.filter(|(message, part)| message.id_of(part) == id);
    calls.next()
}
