//! What was had back, as a person reads it.

use super::excerpt::Excerpt;
use super::row::Row;
use super::snippet::snippet;
use crate::inspect::{role_style, told};
use crate::printer::safe;
use anstyle::{AnsiColor, Style};
use louver::wire::{Message, PartKind};

const INDEX: Style = Style::new().bold();
const FAINT: Style = AnsiColor::BrightBlack.on_default();

/// How many columns a snippet may fill.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns(pub(crate) usize);

/// `#12  tool  result read_file`, or `#0a1b2c3d4e5f:12  tool ...`
fn heading(row: &Row<'_>) -> String {
    let style = role_style(row.role);
    let parts = safe(&told(&row.parts));
    let tag = row.tag.as_ref().map(|tag| format!("{tag}:")).unwrap_or_default();
    format!("{INDEX}#{tag}{}{INDEX:#}  {style}{}{style:#}  {FAINT}{parts}{FAINT:#}\n", row.index, row.role.name())
}

/// Each hit with the words around what was looked for.
pub(crate) fn hits(rows: &[Row<'_>], excerpts: &[Excerpt], columns: Columns) -> String {
    let shown = rows
        .iter()
        .zip(excerpts)
        .map(|(row, excerpt)| format!("{}    {}\n", heading(row), snippet(excerpt, columns.0)));
    shown.collect::<Vec<_>>().join("\n")
}

/// Each message with everything that is written in it, line by line.
pub(crate) fn messages<'m>(rows: &[Row<'_>], messages: impl Iterator<Item = &'m Message>) -> String {
    let shown = rows.iter().zip(messages).map(|(row, message)| format!("{}{}", heading(row), written(message)));
    shown.collect::<Vec<_>>().join("\n")
}

fn written(message: &Message) -> String {
    let mut text = String::new();
    // The text of a result's parts stands in them, and nowhere else.
    for part in message.shape().parts.iter().filter(|part| part.chars > 0 && part.text.of(message.raw()) != "null") {
        let name = safe(&message.name_of(part));
        match part.kind {
            PartKind::Media(_) => text.push_str(&format!("{FAINT}({} characters of media){FAINT:#}\n", part.chars)),
            PartKind::ToolCall | PartKind::ServerToolCall => {
                text.push_str(&format!("{FAINT}{name}{FAINT:#} {}", lines(&message.text_of(part))));
            }
            _ => text.push_str(&lines(&message.text_of(part))),
        }
    }
    text
}

/// Line breaks and tabs stay; nothing else moves the cursor.
fn lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(safe).collect::<Vec<_>>().join("\t") + "\n";
    text.lines().map(line).collect()
}
