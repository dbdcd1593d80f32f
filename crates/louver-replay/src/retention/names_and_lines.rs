//! The identifiers and lines of messages, as numbers.

use super::pattern::identifiers;
use louver::display::truncate;
use louver::plain_text::{Speaker, edits_file, plain_texts};
use louver::wire::{Message, PartKind};
use std::collections::HashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// How much of a line is compared.
const LINE_CHARS: usize = 400;

/// An identifier where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The identifier.
    pub identifier: u32,
    /// Its line.
    pub line: u32,
    /// Whose line.
    pub speaker: Speaker,
    /// Whether it is an argument of a file edit.
    pub is_edit: bool,
    /// Where its line stands among the lines [in order](NamesAndLines::sequence).
    pub at: u32,
}

/// What a message mentions and says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamesAndLines {
    /// Every identifier once, ascending.
    pub identifiers: Vec<u32>,
    /// Every line once, ascending.
    pub lines: Vec<u32>,
    /// Every identifier where it stands, in order.
    pub occurrences: Vec<Occurrence>,
    /// Every line as it stands, in order; behind each text stands [`TEXT_END`].
    pub sequence: Vec<u32>,
}

/// Stands between two texts of a message: no passage goes on behind it.
pub const TEXT_END: u32 = u32::MAX;
/// Lines on each side that belong to a line's passage.
const BESIDE: usize = 2;
/// Lines of a passage at most.
const PASSAGE_LINES: usize = 2 * BESIDE + 1;

impl NamesAndLines {
    /// What the passage around a line is known by: the line and two on each side, fewer where the text ends. O(1).
    #[must_use]
    pub fn passage(&self, at: u32) -> u64 {
        let at = at as usize;
        let is_inside = |line: &&u32| **line != TEXT_END;
        let before = self.sequence[..at].iter().rev().take(BESIDE).take_while(is_inside).count();
        let behind = self.sequence[at + 1..].iter().take(BESIDE).take_while(is_inside).count();
        passage(&self.sequence[at - before..=at + behind])
    }

    /// Every run of lines that may be a passage of some other message. O(its lines).
    pub fn runs(&self) -> impl Iterator<Item = u64> {
        let texts = self.sequence.split(|line| *line == TEXT_END);
        texts.flat_map(|text| (1..=PASSAGE_LINES).flat_map(|lines| text.windows(lines)).map(passage))
    }
}

fn passage(lines: &[u32]) -> u64 {
    lines.iter().fold(0, |known, line| xxh3_64_with_seed(&line.to_le_bytes(), known))
}

/// Gives identifiers and lines their numbers, the same for the same text throughout a conversation.
#[derive(Debug, Default)]
pub struct Numbering {
    identifiers: HashMap<Box<str>, u32>,
    lines: HashMap<u64, u32>,
    line_bytes: Vec<u32>,
}

impl Numbering {
    /// Reads a message. O(its bytes).
    pub fn read(&mut self, message: &Message) -> NamesAndLines {
        let mut found = NamesAndLines::default();
        plain_texts(message, |speaker, part, text| {
            let is_edit = part.kind == PartKind::ToolCall && edits_file(&message.name_of(part));
            for line in text.lines() {
                self.read_line(line, speaker, is_edit, &mut found);
            }
            found.sequence.push(TEXT_END);
        });
        sort_unique(&mut found.identifiers);
        sort_unique(&mut found.lines);
        found
    }

    /// The identifiers of a text, each once.
    pub fn identifiers_of(&mut self, text: &str) -> Vec<u32> {
        let mut found: Vec<u32> = text.lines().flat_map(identifiers).map(|name| self.identifier(name)).collect();
        sort_unique(&mut found);
        found
    }

    /// The identifiers and the lines of a text, each once.
    pub fn all_of(&mut self, text: &str) -> (Vec<u32>, Vec<u32>) {
        let trimmed = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut lines: Vec<u32> = trimmed.map(|line| self.line(line)).collect();
        sort_unique(&mut lines);
        (self.identifiers_of(text), lines)
    }

    /// The bytes of a line.
    pub fn line_bytes(&self, line: u32) -> u64 {
        self.line_bytes.get(line as usize).map_or(0, |bytes| u64::from(*bytes))
    }

    /// Every identifier by its number.
    pub fn names(&self) -> Vec<&str> {
        let mut names = vec![""; self.identifiers.len()];
        for (name, number) in &self.identifiers {
            names[*number as usize] = name;
        }
        names
    }

    fn read_line(&mut self, line: &str, speaker: Speaker, is_edit: bool, found: &mut NamesAndLines) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return;
        }
        let number = self.line(trimmed);
        found.lines.push(number);
        let at = u32::try_from(found.sequence.len()).unwrap_or(u32::MAX);
        found.sequence.push(number);
        for name in identifiers(line) {
            let identifier = self.identifier(name);
            found.identifiers.push(identifier);
            found.occurrences.push(Occurrence { identifier, line: number, speaker, is_edit, at });
        }
    }

    fn identifier(&mut self, name: &str) -> u32 {
        if let Some(known) = self.identifiers.get(name) {
            return *known;
        }
        let number = u32::try_from(self.identifiers.len()).unwrap_or(u32::MAX);
        self.identifiers.insert(name.into(), number);
        number
    }

    fn line(&mut self, trimmed: &str) -> u32 {
        let next = u32::try_from(self.line_bytes.len()).unwrap_or(u32::MAX);
        let number = *self.lines.entry(xxh3_64(truncate(trimmed, LINE_CHARS).as_bytes())).or_insert(next);
        if number == next {
            self.line_bytes.push(u32::try_from(trimmed.len()).unwrap_or(u32::MAX));
        }
        number
    }
}

pub(crate) fn sort_unique(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;
    use louver::wire::Format;

    #[test]
    fn the_same_text_has_the_same_numbers() {
        let mut numbering = Numbering::default();
        let mut read = |content: &str| {
            let raw = format!(r#"{{"role":"user","content":"{content}"}}"#);
            numbering.read(&Message::parse(Format::OpenAiChat, &raw).unwrap())
        };
        let first = read(r"see a_b and c_d\n  two\n\ntwo");
        let second = read(r"two\nc_d");
        assert_eq!((first.identifiers.len(), first.lines.len()), (2, 2));
        assert_eq!(second.lines[0], first.lines[1]);
        assert_eq!(second.identifiers[0], first.identifiers[1]);
        assert_eq!(first.occurrences.len(), 2);
    }

    #[test]
    fn a_passage_is_a_line_with_two_on_each_side_and_ends_with_its_text() {
        let mut numbering = Numbering::default();
        let mut read = |content: &str| {
            let raw = format!(r#"{{"role":"user","content":{content}}}"#);
            numbering.read(&Message::parse(Format::OpenAiChat, &raw).unwrap())
        };
        let whole = read(r#"[{"type":"text","text":"a\nb\n\nc_c\nd\ne\nf"},{"type":"text","text":"g_g\nh"}]"#);
        let passages: Vec<u64> = whole.occurrences.iter().map(|one| whole.passage(one.at)).collect();
        let found = |content: &str, numbering: &mut dyn FnMut(&str) -> NamesAndLines| {
            let runs: Vec<u64> = numbering(content).runs().collect();
            [runs.contains(&passages[0]), runs.contains(&passages[1])]
        };
        assert_eq!(found(r#""x\na\nb\nc_c\nd\ne""#, &mut read), [true, false]);
        assert_eq!(found(r#""a\nb\nc_c\nd""#, &mut read), [false, false], "one line is missing");
        assert_eq!(found(r#""a\nb\nc_c\nx\nd\ne\ng_g\nh""#, &mut read), [false, true], "not together");
    }

    #[test]
    fn only_the_first_four_hundred_characters_of_a_line_count() {
        let mut numbering = Numbering::default();
        let (a, b) = (format!("{}a", "é".repeat(400)), format!("{}b", "é".repeat(400)));
        assert_eq!(numbering.line(&a), numbering.line(&b));
        assert_ne!(numbering.line(&a[2..]), numbering.line(&b[2..]));
    }
}
