//! The lines of a message, where they stand in its raw text: nothing is decoded that has no escapes worth it.

use crate::json::{Cursor, Kind, text};
use crate::plain_text::Speaker;
use crate::wire::{Message, Part, PartKind, Role};
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
    fn raw(self, source: &str) -> &str {
        source.get(self.start()..self.start() + self.len()).unwrap_or_default()
    }

    /// The line as it reads, out of the raw text of the message or the decoded text of the [`part`](Self::part). `decoded`
    /// lends its memory.
    pub(super) fn line<'t>(self, source: &'t str, decoded: &'t mut String) -> &'t str {
        let raw = self.raw(source);
        if memchr::memchr(b'\\', raw.as_bytes()).is_none() {
            return raw.trim();
        }
        decoded.clear();
        text::decode_into(raw, decoded);
        decoded.trim()
    }
}

/// Blank lines in a row that are passed on the way to a neighbour.
const BLANK_LINES: usize = 3;

impl Place {
    fn start(self) -> usize {
        (self.0 >> 16) as u32 as usize
    }

    fn part_number(self) -> u16 {
        (self.0 >> 48) as u16
    }

    /// The line before it in the same text, blank ones passed over. O(their bytes, within bounds).
    pub(super) fn before(self, source: &str) -> Option<Self> {
        let mut start = self.start();
        for _ in 0..=BLANK_LINES {
            let end = start.checked_sub(LINE_BREAK.len()).filter(|end| source.get(*end..start) == Some(LINE_BREAK))?;
            start = line_start(source.as_bytes(), end)?;
            let raw = source.get(start..end)?;
            if !is_blank(raw) {
                return Some(Self::new(self.part_number(), start, raw));
            }
        }
        None
    }

    /// The line behind it, likewise.
    pub(super) fn behind(self, source: &str) -> Option<Self> {
        let mut end = self.start() + self.len();
        for _ in 0..=BLANK_LINES {
            let start = end + LINE_BREAK.len();
            if source.get(end..start) != Some(LINE_BREAK) {
                return None;
            }
            end = line_end(source, start);
            let raw = source.get(start..end)?;
            if !is_blank(raw) {
                return Some(Self::new(self.part_number(), start, raw));
            }
        }
        None
    }
}

/// A line break as it is written in a JSON string.
pub(super) const LINE_BREAK: &str = "\\n";

fn is_blank(raw: &str) -> bool {
    // Most lines say so with their first letter.
    let first = raw.bytes().find(|byte| *byte != b' ');
    let is_plain = first.is_some_and(|byte| byte.is_ascii_graphic() && byte != b'\\');
    !is_plain && raw.len() < 64 && text::decode(raw).trim().is_empty()
}

/// Where the line begins that ends here; nothing where that is too far away. Only quotes and backslashes are looked at.
fn line_start(bytes: &[u8], end: usize) -> Option<usize> {
    let first = end.saturating_sub(LINE_BYTES).max(1);
    // A line break that ends at the first place begins two bytes before it.
    let lowest = first.saturating_sub(LINE_BREAK.len());
    let mut until = end;
    while let Some(at) = memchr::memrchr2(b'"', b'\\', &bytes[lowest..until]).map(|offset| lowest + offset) {
        let backslashes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        let start = match bytes[at] {
            b'"' => at + 1,
            _ => at + LINE_BREAK.len(),
        };
        let is_start = bytes[at] == b'"' || (start <= end && bytes.get(at + 1) == Some(&b'n'));
        if backslashes % 2 == 0 && is_start {
            return (start >= first).then_some(start);
        }
        until = at.saturating_sub(backslashes).max(lowest);
    }
    None
}

/// Where the line ends that begins here, or where more of it is too much.
fn line_end(source: &str, start: usize) -> usize {
    let bytes = source.as_bytes();
    let most = bytes.len().min(start + 2 * LINE_BYTES);
    let mut at = start;
    while at < most {
        let Some(found) = memchr::memchr2(b'"', b'\\', &bytes[at..most]) else {
            at = most;
            break;
        };
        at += found;
        if bytes[at] == b'"' || bytes.get(at + 1) == Some(&b'n') {
            return at;
        }
        at += 2;
    }
    let mut end = at.min(bytes.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// A text as it is written, escapes and all, and who says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub(super) raw: &'t str,
    pub(super) speaker: Speaker,
    /// Where it stands in the raw text of the message, or in the decoded text of a part.
    start: usize,
    part: u16,
}

impl Text<'_> {
    /// Where a line of it stands in the message.
    pub(super) fn place(&self, line: Range<usize>) -> Place {
        Place::new(self.part, self.start + line.start, &self.raw[line])
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
        part_texts(message, at, part, |part, start, raw| each(Text { raw, speaker, start, part }));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Format;

    /// Calls `each` with every line of a text that is not empty.
    fn lines(text: &Text<'_>, mut each: impl FnMut(Place)) {
        let mut start = 0;
        let ends = text.raw.match_indices(LINE_BREAK).map(|(at, _)| at).chain([text.raw.len()]);
        for end in ends {
            let backslashes = text.raw[..end].bytes().rev().take_while(|byte| *byte == b'\\').count();
            if backslashes % 2 == 0 {
                if start < end {
                    each(text.place(start..end));
                }
                start = end + LINE_BREAK.len();
            }
        }
    }

    fn found(format: Format, raw: &str) -> Vec<(Speaker, String)> {
        let message = Message::parse(format, raw).unwrap();
        let mut all = Vec::new();
        texts(&message, true, |text| {
            lines(&text, |place| {
                let decoded = place.part().map(|part| message.text_of(&message.shape().parts[part]));
                let mut line = String::new();
                let line = place.line(decoded.as_deref().unwrap_or(message.raw()), &mut line).to_owned();
                all.push((text.speaker, line));
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
        assert_eq!(all.iter().map(|(speaker, line)| (*speaker, line.as_str())).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_line_knows_its_neighbours() {
        let raw = r#"{"role":"user","content":"one\n\n \ntwo\\n\n\"three\"\nfour"}"#;
        let message = Message::parse(Format::OpenAiChat, raw).unwrap();
        let mut places = Vec::new();
        texts(&message, true, |text| lines(&text, |place| places.push(place)));
        let lines: Vec<_> = places.iter().map(|place| place.line(raw, &mut String::new()).to_owned()).collect();
        assert_eq!(lines, ["one", "", "two\\n", "\"three\"", "four"]);
        let full = [0, 2, 3, 4].map(|at| places[at]);
        for pair in full.windows(2) {
            assert_eq!((pair[0].behind(raw), pair[1].before(raw)), (Some(pair[1]), Some(pair[0])));
        }
        assert_eq!((full[0].before(raw), full[3].behind(raw)), (None, None));
    }

    #[test]
    fn arguments_in_a_string_are_read_as_the_json_they_are() {
        let raw = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":
            {"name":"edit_file","arguments":"{\"path\":\"a.rs\",\"lines\":[1,\"x\\ny\\u0041\"]}"}}]}"#;
        let expected = ["a.rs", "x", "yA"].map(|line| (Speaker::Own, line.to_owned()));
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
