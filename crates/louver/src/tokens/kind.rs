//! Kinds of text, told apart by cheap character statistics.

use super::amount::{Factor, Millitokens};

/// A kind of text. Vocabularies differ by kind: what one reads as a word, another spells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TextKind {
    /// Sentences in an alphabetic script.
    Prose,
    /// Program text with braces and semicolons, shell sessions, markup, listings.
    Code,
    /// Python, whose blocks are indentation.
    Python,
    /// JSON, also where it is quoted inside another string.
    Json,
    /// Base64 and other dense text without words.
    Base64,
    /// Hexadecimal digests and dumps.
    Hex,
    /// Chinese, Japanese, Korean.
    Cjk,
    /// Emoji and pictographs.
    Emoji,
}

impl TextKind {
    /// Every kind, in the order of the columns of a factor table.
    pub const ALL: [Self; 8] =
        [Self::Prose, Self::Code, Self::Python, Self::Json, Self::Base64, Self::Hex, Self::Cjk, Self::Emoji];
}

/// Thousandths of an o200k token that a character has, in the order of [`TextKind::ALL`].
const PER_CHARACTER: [u64; TextKind::ALL.len()] = [254, 285, 253, 311, 640, 660, 570, 1300];

/// The most windows looked at in one text, and the size of each in bytes.
const WINDOWS: usize = 4;
const WINDOW_BYTES: usize = 1024;

/// How much of a text is of which kind, in parts of roughly equal token weight.
///
/// At most four windows of 1 KiB are looked at, spread over the text, so the cost does not
/// grow with its length. Each window has one main kind; Chinese and emoji characters in it
/// are accounted for by themselves, because they weigh more tokens than letters do.
///
/// ```
/// use louver::tokens::{Mixture, TextKind};
///
/// let prose = Mixture::of("The quick brown fox jumps over the lazy dog, and sleeps.");
/// assert_eq!(prose.main_kind(), TextKind::Prose);
/// let json = Mixture::of(r#"{"id": 7, "name": "fox", "tags": ["quick", "brown"]}"#);
/// assert_eq!(json.main_kind(), TextKind::Json);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mixture {
    weights: [u64; TextKind::ALL.len()],
}

impl Mixture {
    /// Looks at a bounded sample of `text`.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut mixture = Self::default();
        for window in windows(text) {
            mixture.add(&Statistics::of(window));
        }
        mixture
    }

    /// The kind with the largest part; prose for an empty text.
    #[must_use]
    pub fn main_kind(&self) -> TextKind {
        let mut main = TextKind::Prose;
        for kind in TextKind::ALL {
            if self.weight(kind) > self.weight(main) {
                main = kind;
            }
        }
        main
    }

    /// The part of `kind`, comparable with the other parts of the same text.
    #[must_use]
    pub fn weight(&self, kind: TextKind) -> u64 {
        self.weights[kind as usize]
    }

    /// About how many o200k tokens a text of so many characters and these kinds has, without a vocabulary.
    ///
    /// ```
    /// use louver::tokens::Mixture;
    ///
    /// let text = "It was a bright cold day in April, and the clocks were striking thirteen."; // 16 by the vocabulary
    /// assert_eq!(Mixture::of(text).o200k(text.chars().count() as u64).ceil_tokens(), 19);
    /// ```
    #[must_use]
    pub fn o200k(&self, chars: u64) -> Millitokens {
        // The parts weigh tokens: divided by the tokens of a character they are characters.
        let (mut tokens, mut characters) = (0, 0);
        for kind in TextKind::ALL {
            tokens += self.weight(kind);
            characters += self.weight(kind) * 1000 / PER_CHARACTER[kind as usize];
        }
        let prose = PER_CHARACTER[TextKind::Prose as usize];
        let per_character = Factor::ratio(tokens, characters).or(Factor::ratio(prose, 1000)).unwrap_or_default();
        Millitokens::from_tokens(chars).scaled(per_character)
    }

    fn add(&mut self, statistics: &Statistics) {
        // Tokens per character in o200k, times 20: Chinese 0.6, emoji 1.3, the rest about 0.25.
        self.weights[TextKind::Cjk as usize] += 12 * statistics.cjk;
        self.weights[TextKind::Emoji as usize] += 26 * statistics.emoji;
        let rest = statistics.visible - statistics.cjk - statistics.emoji;
        self.weights[statistics.alphabetic_kind() as usize] += 5 * rest;
    }
}

/// Windows spread evenly over the text, or all of it when it is short.
fn windows(text: &str) -> impl Iterator<Item = &str> {
    let whole = text.len() <= WINDOWS * WINDOW_BYTES;
    let count = if whole { 1 } else { WINDOWS };
    let size = if whole { text.len() } else { WINDOW_BYTES };
    (0..count).map(move |index| {
        let gap = (text.len() - size) / count.saturating_sub(1).max(1);
        let start = boundary_before(text, index * gap);
        let end = boundary_before(text, index * gap + size);
        &text[start..end]
    })
}

/// The last character boundary at or before `index`, which is at most the text's length.
fn boundary_before(text: &str, index: usize) -> usize {
    let boundary = (0..=index).rev().find(|&at| text.is_char_boundary(at));
    boundary.unwrap_or(0)
}

/// Counts of the characters of one window.
#[derive(Debug, Default)]
struct Statistics {
    visible: u64,
    blank: u64,
    lines: u64,
    capitals: u64,
    digits: u64,
    hexadecimal: u64,
    base64: u64,
    quotes: u64,
    /// `{ } [ ] : ,`
    json_marks: u64,
    /// Marks that code has many of and prose few.
    code_marks: u64,
    /// `{ } ;`
    block_marks: u64,
    /// Lines that end in a colon.
    colon_lines: u64,
    cjk: u64,
    emoji: u64,
}

impl Statistics {
    fn of(window: &str) -> Self {
        let mut statistics = Self::default();
        let mut previous = b'\n';
        let mut rest = window;
        while !rest.is_empty() {
            let ascii = rest.bytes().position(|byte| !byte.is_ascii()).unwrap_or(rest.len());
            // A counter of eight bits holds what so many bytes add to it.
            for bytes in rest.as_bytes()[..ascii].chunks(usize::from(u8::MAX)) {
                statistics.see_ascii(bytes, &mut previous);
            }
            rest = &rest[ascii..];
            if let Some(character) = rest.chars().next() {
                statistics.see(character);
                previous = 0;
                rest = &rest[character.len_utf8()..];
            }
        }
        statistics
    }

    /// Adds up the counters of all bytes at once.
    fn see_ascii(&mut self, bytes: &[u8], previous: &mut u8) {
        let mut sums = 0_u128;
        for byte in bytes {
            sums += COUNTERS[usize::from(*byte & 0x7f)];
            self.colon_lines += u64::from((*byte == b'\n') & (*previous == b':'));
            *previous = *byte;
        }
        let [visible, blank, lines, capitals, digits, hexadecimal, base64, quotes, json, code, block, ..] =
            sums.to_le_bytes().map(u64::from);
        self.visible += visible;
        self.blank += blank;
        self.lines += lines;
        self.capitals += capitals;
        self.digits += digits;
        self.hexadecimal += hexadecimal;
        self.base64 += base64;
        self.quotes += quotes;
        self.json_marks += json;
        self.code_marks += code;
        self.block_marks += block;
    }

    /// A character beyond ASCII.
    fn see(&mut self, character: char) {
        if character.is_whitespace() {
            self.blank += 1;
            return;
        }
        self.visible += 1;
        self.cjk += u64::from(is_cjk(character));
        self.emoji += u64::from(is_emoji(character));
    }

    /// The main kind, Chinese and emoji left out of account.
    fn alphabetic_kind(&self) -> TextKind {
        let visible = self.visible.max(1);
        let share = |count: u64| count * 1000 / visible;
        if self.visible >= 32 && share(self.hexadecimal) >= 900 && share(self.digits) >= 300 {
            return TextKind::Hex;
        }
        // A long path has the same alphabet as base64, but few capitals and digits.
        let scrambled = share(self.capitals) >= 150 && share(self.digits) >= 20;
        if self.visible >= 64 && self.blank * 40 < visible && share(self.base64) >= 950 && scrambled {
            return TextKind::Base64;
        }
        if share(self.quotes) >= 35 && share(self.quotes + self.json_marks) >= 100 {
            return TextKind::Json;
        }
        if share(self.code_marks) < 60 {
            return TextKind::Prose;
        }
        if share(self.block_marks) < 12 && self.colon_lines > 0 && self.colon_lines * 50 >= self.lines {
            return TextKind::Python;
        }
        TextKind::Code
    }
}

/// What each byte of ASCII adds to the counters, a counter being eight bits.
const COUNTERS: [u128; 128] = {
    let mut counters = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        counters[byte] = counters_of(byte as u8);
        byte += 1;
    }
    counters
};

const fn counters_of(byte: u8) -> u128 {
    if matches!(byte, b' ' | b'\t'..=b'\r') {
        return 1 << 8 | ((byte == b'\n') as u128) << 16;
    }
    let is_dense = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let is_json_mark = matches!(byte, b'{' | b'}' | b'[' | b']' | b':' | b',');
    let is_block_mark = matches!(byte, b'{' | b'}' | b';');
    1 | (byte.is_ascii_uppercase() as u128) << 24
        | (byte.is_ascii_digit() as u128) << 32
        | (byte.is_ascii_hexdigit() as u128) << 40
        | (is_dense as u128) << 48
        | ((byte == b'"') as u128) << 56
        | (is_json_mark as u128) << 64
        | (is_code_mark(byte) as u128) << 72
        | (is_block_mark as u128) << 80
}

const fn is_code_mark(byte: u8) -> bool {
    matches!(
        byte,
        b'(' | b')'
            | b'{'
            | b'}'
            | b'['
            | b']'
            | b'<'
            | b'>'
            | b';'
            | b'='
            | b'_'
            | b'/'
            | b'\\'
            | b'|'
            | b'&'
            | b'#'
            | b'$'
            | b'@'
            | b'+'
            | b'*'
            | b'"'
            | b'`'
            | b'%'
            | b'^'
            | b'~'
    )
}

fn is_cjk(character: char) -> bool {
    matches!(u32::from(character),
        0x3000..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF
        | 0xF900..=0xFAFF | 0xFF00..=0xFFEF | 0x1100..=0x11FF | 0x20000..=0x3FFFF)
}

fn is_emoji(character: char) -> bool {
    matches!(u32::from(character),
        0x1F000..=0x1FAFF | 0x2600..=0x27BF | 0x2B00..=0x2BFF | 0xFE0F | 0x200D)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(text: &str) -> TextKind {
        Mixture::of(text).main_kind()
    }

    #[test]
    fn plain_examples_are_told_apart() {
        let rust = "fn add(left: u64, right: u64) -> u64 {\n    let sum = left + right;\n    sum\n}\n";
        let python = "def add(left, right):\n    total = left + right\n    return [total]\n\nprint(add(1, 2))\n";
        let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAYAAACddGYaAAAAFElEQVR4nGNk+M9QzwAEjDAGACCDAQIHVbTHAAAA";
        let prose = "It was a bright cold day in April, and the clocks were striking thirteen.";
        assert_eq!(kind(prose), TextKind::Prose);
        assert_eq!(kind(rust), TextKind::Code);
        assert_eq!(kind(python), TextKind::Python);
        assert_eq!(kind(r#"{"a": [1, 2], "b": {"c": "d", "e": null}}"#), TextKind::Json);
        assert_eq!(kind(base64), TextKind::Base64);
        assert_eq!(kind("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"), TextKind::Hex);
        assert_eq!(kind("日本語の文章はトークンが多い。"), TextKind::Cjk);
        assert_eq!(kind("🚀🔥✅ 👍🏽"), TextKind::Emoji);
        assert_eq!(kind(""), TextKind::Prose);
    }

    #[test]
    fn a_long_path_is_code_and_not_base64() {
        let path = "/home/someone/projects/engine/crates/tokens/source/classification/statistics/window";
        assert_eq!(kind(path), TextKind::Code);
    }

    #[test]
    fn a_text_of_two_halves_is_a_mixture() {
        let text = "Some words about nothing much. ".repeat(400) + &"日本語の文章".repeat(800);
        let mixture = Mixture::of(&text);
        assert!(mixture.weight(TextKind::Prose) > 0 && mixture.weight(TextKind::Cjk) > 0);
        assert_eq!(mixture.weight(TextKind::Json), 0);
    }

    proptest! {
        #[test]
        fn bytes_add_up_to_what_characters_do(text in "[ -~\\n\\té日🚀\u{2003}]{0,700}") {
            let statistics = Statistics::of(&text);
            let count = |of: fn(char) -> bool| text.chars().filter(|character| of(*character)).count() as u64;
            prop_assert_eq!(statistics.visible, count(|c| !c.is_whitespace()));
            prop_assert_eq!(statistics.blank, count(char::is_whitespace));
            prop_assert_eq!(statistics.lines, count(|c| c == '\n'));
            prop_assert_eq!(statistics.capitals, count(|c| c.is_ascii_uppercase()));
            prop_assert_eq!(statistics.digits, count(|c| c.is_ascii_digit()));
            prop_assert_eq!(statistics.hexadecimal, count(|c| c.is_ascii_hexdigit()));
            prop_assert_eq!(statistics.base64, count(|c| c.is_ascii_alphanumeric() || "+/=".contains(c)));
            prop_assert_eq!(statistics.quotes, count(|c| c == '"'));
            prop_assert_eq!(statistics.json_marks, count(|c| "{}[]:,".contains(c)));
            prop_assert_eq!(statistics.block_marks, count(|c| "{};".contains(c)));
            prop_assert_eq!(statistics.code_marks, count(|c| r##"(){}[]<>;=_/\|&#$@+*"`%^~"##.contains(c)));
            prop_assert_eq!(statistics.colon_lines, text.matches(":\n").count() as u64);
            prop_assert_eq!((statistics.cjk, statistics.emoji), (count(|c| c == '日'), count(|c| c == '🚀')));
        }

        #[test]
        fn any_text_has_a_kind(text in "\\PC{0,300}", times in 1_usize..60) {
            let mixture = Mixture::of(&text.repeat(times));
            prop_assert!(TextKind::ALL.contains(&mixture.main_kind()));
        }
    }
}
