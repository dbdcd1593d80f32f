//! The lines of a message, where they stand in its raw text: nothing is decoded that has no escapes worth it.

use crate::json::{Cursor, Kind, text};
use crate::plain_text::{Speaker, edits_file};
use crate::wire::{Message, Part, PartKind, Role};
use std::borrow::Cow;
use std::ops::Range;

/// Raw bytes of a line that are kept at most; what is shown of it is shorter.
const LINE_BYTES: usize = 2_400;

/// Where a line stands in a message: between two line breaks of a JSON string, escapes as written. Part, start and
/// length in one word, because thousands of them are compared and hashed at every cut.
///
/// The part is the one in whose decoded text it stands, for arguments that are JSON inside a string; otherwise it stands
/// in the raw text of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place(u64);

/// Not in a part's decoded text.
const RAW: u16 = u16::MAX;

impl Place {
    /// Places of a message are in the order of their numbers.
    pub(super) fn number(self) -> u64 {
        self.0
    }

    pub(super) fn of_number(number: u64) -> Self {
        Self(number)
    }

    pub(super) fn len(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// The part whose decoded text it stands in, if it stands in one.
    pub(super) fn part(self) -> Option<usize> {
        let part = (self.0 >> 48) as u16;
        (part != RAW).then_some(usize::from(part))
    }

    /// The line as it is written, escapes and all.
    pub(super) fn raw(self, source: &str) -> &str {
        let start = (self.0 >> 16) as u32 as usize;
        source.get(start..start + self.len()).unwrap_or_default()
    }

    /// The line as it reads, out of the raw text of the message or the decoded text of the [`part`](Self::part).
    pub(super) fn line(self, source: &str) -> Cow<'_, str> {
        match text::decode(self.raw(source)) {
            Cow::Borrowed(line) => Cow::Borrowed(line.trim()),
            Cow::Owned(line) => Cow::Owned(line.trim().to_owned()),
        }
    }
}

/// A text as it is written, escapes and all, who says it, and whether it is an argument of a tool that changes files.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub(super) raw: &'t str,
    pub(super) speaker: Speaker,
    pub(super) is_edit: bool,
    /// Where it stands in the raw text of the message, or in the decoded text of a part.
    start: usize,
    part: u16,
}

impl Text<'_> {
    /// Calls `each` with every line that is not empty, and with where it stands in this text. O(its bytes).
    pub(super) fn lines(&self, mut each: impl FnMut(Place, Range<usize>)) {
        split(self.raw, |line| each(Place::new(self.part, self.start + line.start, &self.raw[line.clone()]), line));
    }
}

/// Calls `each` with every text of a message, thinking apart where that is not quoted. O(its bytes).
pub(super) fn texts(message: &Message, quotes_thinking: bool, mut each: impl FnMut(Text<'_>)) {
    let mut is_result = false;
    for (at, part) in message.shape().parts.iter().enumerate() {
        if !part.nested {
            is_result = matches!(part.kind, PartKind::ToolResult | PartKind::ServerToolResult);
        }
        let is_quoted = quotes_thinking || part.kind != PartKind::Thinking;
        if part.chars == 0 || matches!(part.kind, PartKind::Media(_)) || !is_quoted {
            continue;
        }
        let speaker = match message.shape().role {
            _ if is_result => Speaker::Tool,
            Role::Tool => Speaker::Tool,
            Role::Assistant => Speaker::Own,
            Role::User | Role::System | Role::Developer => Speaker::User,
        };
        let is_edit = part.kind == PartKind::ToolCall && edits_file(&message.name_of(part));
        part_texts(message, at, part, |part, start, raw| each(Text { raw, speaker, is_edit, start, part }));
    }
}

/// Calls `each` with the part whose decoded text it is about, where in that a text stands, and the text.
fn part_texts(message: &Message, at: usize, part: &Part, mut each: impl FnMut(u16, usize, &str)) {
    let value = part.text.of(message.raw());
    let start = part.text.start as usize;
    let is_call = matches!(part.kind, PartKind::ToolCall | PartKind::ServerToolCall);
    if let Some(inner) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        if is_call && inner.trim_start().starts_with(['{', '[']) {
            let decoded = text::decode(inner);
            let part = u16::try_from(at).unwrap_or(RAW - 1);
            if strings(&decoded, |offset, inner| each(part, offset, inner)) {
                return;
            }
        }
        each(RAW, start + 1, inner);
    } else {
        strings(value, |offset, inner| each(RAW, start + offset, inner));
    }
}

impl Place {
    fn new(part: u16, start: usize, raw: &str) -> Self {
        let start = u32::try_from(start).unwrap_or(u32::MAX);
        let len = u16::try_from(whole(raw).len()).unwrap_or(u16::MAX);
        Self(u64::from(part) << 48 | u64::from(start) << 16 | u64::from(len))
    }
}

/// The start of a very long line, no letter and no escape in two.
fn whole(raw: &str) -> &str {
    if raw.len() <= LINE_BYTES {
        return raw;
    }
    let mut end = LINE_BYTES;
    while !raw.is_char_boundary(end) {
        end -= 1;
    }
    let Some(escape) = raw[..end].rfind('\\') else {
        return &raw[..end];
    };
    // In a run of backslashes every other one begins an escape.
    let run = escape + 1 - raw[..escape].trim_end_matches('\\').len();
    let length = if raw[escape + 1..].starts_with('u') { 6 } else { 2 };
    if run % 2 == 1 && escape + length > end { &raw[..escape] } else { &raw[..end] }
}

/// Calls `each` with what stands between the quotes of every string value, keys left out, and where; says whether the
/// text is JSON.
fn strings(json: &str, mut each: impl FnMut(usize, &str)) -> bool {
    fn walk<'t>(cursor: &mut Cursor<'t>, each: &mut impl FnMut(usize, &str)) -> Result<(), crate::json::JsonError> {
        match cursor.kind()? {
            Kind::String => {
                let inner = cursor.string()?.inner();
                each(inner.start as usize, cursor.raw(inner));
            }
            Kind::Object => cursor.object(|_, cursor| walk(cursor, each))?,
            Kind::Array => cursor.array(|_, cursor| walk(cursor, each))?,
            Kind::Null | Kind::Bool | Kind::Number => drop(cursor.skip()?),
        }
        Ok(())
    }
    let mut cursor = Cursor::new(json);
    walk(&mut cursor, &mut each).and_then(|()| cursor.finish()).is_ok()
}

/// Cuts a JSON string, escapes as written, at its line breaks.
fn split(inner: &str, mut each: impl FnMut(Range<usize>)) {
    let bytes = inner.as_bytes();
    let mut start = 0;
    let mut at = 0;
    let mut tell = |start: usize, end: usize| {
        if start < end {
            each(start..end);
        }
    };
    while let Some(escape) = bytes.get(at..).and_then(text::backslash_in).map(|offset| at + offset) {
        at = escape + 2;
        if bytes.get(escape + 1) == Some(&b'n') {
            tell(start, escape);
            start = at;
        }
    }
    tell(start.min(bytes.len()), bytes.len());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Format;

    fn found(format: Format, raw: &str) -> Vec<(Speaker, bool, String)> {
        let message = Message::parse(format, raw).unwrap();
        let mut all = Vec::new();
        texts(&message, true, |text| {
            text.lines(|place, _| {
                let decoded = place.part().map(|part| message.text_of(&message.shape().parts[part]));
                let line = place.line(decoded.as_deref().unwrap_or(message.raw())).into_owned();
                all.push((text.speaker, text.is_edit, line));
            });
        });
        all
    }

    #[test]
    fn lines_of_texts_results_and_arguments_are_found_where_they_stand() {
        let raw = r#"{"role":"user","content":[
            {"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"one\n\n\ttwo \"x\"\\n"}]},
            {"type":"text","text":"from me"}]}"#;
        let expected = [(Speaker::Tool, "one"), (Speaker::Tool, "two \"x\"\\n"), (Speaker::User, "from me")];
        let all = found(Format::Anthropic, raw);
        assert_eq!(all.iter().map(|(speaker, _, line)| (*speaker, line.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn arguments_in_a_string_are_read_as_the_json_they_are() {
        let raw = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":
            {"name":"edit_file","arguments":"{\"path\":\"a.rs\",\"lines\":[1,\"x\\ny\\u0041\"]}"}}]}"#;
        let expected = ["a.rs", "x", "yA"].map(|line| (Speaker::Own, true, line.to_owned()));
        assert_eq!(found(Format::OpenAiChat, raw), expected);
    }

    #[test]
    fn a_very_long_line_is_cut_between_letters_and_escapes() {
        for filler in ["x", "é", r"\\", r#"\""#, r"\u00e9", r"a\t"] {
            for shift in 0..8 {
                let long = format!("{}{}", "-".repeat(shift), filler.repeat(3_000));
                let short = whole(&long);
                assert!(short.len() > LINE_BYTES - 16 && long.starts_with(short), "{filler} {shift}");
                assert!(serde_json::from_str::<String>(&format!("\"{short}\"")).is_ok(), "{filler} {shift}");
            }
        }
    }
}
