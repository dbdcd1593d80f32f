//! Changing what is inside a message.

use crate::display::truncate;
use crate::json::{JsonError, text};
use crate::wire::{Format, Message, Part, PartKind, Shape, Splice};

/// A change to one part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The message, as an index into the log.
    pub index: usize,
    /// The part, as an index into its shape.
    pub part: usize,
    /// What happens to it.
    pub change: Change,
}

/// What happens to a part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A tool result is replaced by this text.
    Stub(String),
    /// The text keeps this many characters, half from its start and half from its end, with a marker between.
    Clip {
        /// Characters that stay.
        keep_chars: usize,
    },
    /// The part leaves the message.
    Drop,
}

/// The edits that take all thinking out of a message.
pub(crate) fn thinking_edits(index: usize, shape: &Shape) -> impl Iterator<Item = Edit> {
    let thinking = shape.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::Thinking);
    thinking.map(move |(part, _)| Edit { index, part, change: Change::Drop })
}

/// What stands in a message that an edit would leave empty.
const EMPTIED: &str = "[left out]";

/// Makes the changes to a message; everything else in it stays byte for byte.
///
/// # Errors
///
/// Only if an edited message cannot be read again, which a property test rules out.
pub fn edit_message<'e>(
    format: Format,
    message: &Message,
    edits: impl IntoIterator<Item = &'e Edit>,
) -> Result<Message, JsonError> {
    let mut splice = Splice::default();
    let mut dropped = Vec::new();
    for edit in edits {
        let Some(part) = message.shape().parts.get(edit.part) else {
            continue;
        };
        match &edit.change {
            Change::Stub(stub) => splice.replace(part.text, written(format, message, part, stub)),
            Change::Clip { keep_chars } => {
                let clipped = clip(&message.text_of(part), *keep_chars);
                splice.replace(part.text, written(format, message, part, &clipped));
            }
            Change::Drop => dropped.push(part),
        }
    }
    drop_parts(format, message, &dropped, &mut splice);
    Message::parse(format, &splice.apply(message.raw()))
}

/// A message must not be left empty: then the first part that leaves makes place for a word instead.
fn drop_parts(format: Format, message: &Message, dropped: &[&Part], splice: &mut Splice) {
    let top_level = message.shape().parts.iter().filter(|part| !part.nested).count();
    let leaves_nothing = dropped.iter().filter(|part| !part.nested).count() == top_level;
    for (position, part) in dropped.iter().enumerate() {
        if leaves_nothing && position == 0 {
            splice.replace(part.span, format.wire().write_part(EMPTIED));
        } else {
            splice.remove(part.span);
        }
    }
}

/// A tool result is written as its format wants it, any other text as a string.
fn written(format: Format, message: &Message, part: &Part, new_text: &str) -> String {
    match part.kind {
        PartKind::ToolResult => format.wire().write_result(part.text.of(message.raw()), new_text),
        _ => text::encode(new_text),
    }
}

/// Keeps the start and the end of a text and says how much is gone.
///
/// ```
/// let clipped = louver::edit::clip(&"x".repeat(1000), 10);
/// assert_eq!(clipped, "xxxxx\n[990 characters left out]\nxxxxx");
/// assert_eq!(louver::edit::clip("short", 10), "short");
/// ```
#[must_use]
pub fn clip(text: &str, keep_chars: usize) -> String {
    let chars = text.chars().count();
    if chars <= keep_chars {
        return text.to_owned();
    }
    let tail = keep_chars / 2;
    let head = keep_chars - tail;
    let tail_start = truncate(text, chars - tail).len();
    format!("{}\n[{} characters left out]\n{}", truncate(text, head), chars - keep_chars, &text[tail_start..])
}
