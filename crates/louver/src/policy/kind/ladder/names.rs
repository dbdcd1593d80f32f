//! The names in a line: addresses, paths, dotted, snake-case and camel-case names, hashes, larger numbers.

use super::block::Block;
use super::texts::LINE_BREAK;
use crate::json::text;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// What a name looks like; some kinds are referred to again far more often than others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    Address,
    Path,
    Dotted,
    Word,
    Hash,
    Number,
}

/// Calls `each` with every name of a text, left to right. O(text).
fn names<'a>(text: &'a str, mut each: impl FnMut(NameKind, &'a str)) {
    let mut block = Block::at(text.as_bytes(), 0);
    let next = |at| block.next(text.as_bytes(), at, text.len());
    scan::<false>(text, 0, next, |kind, at, end| each(kind, &text[at..end]));
}

/// Calls `each` with every name of a text whose escapes are still written as in JSON, left to right, and with what `place`
/// says of the line that it stands in. O(text).
pub(super) fn raw_names<P: Copy>(
    text: &str,
    place: impl FnMut(Range<usize>) -> P,
    each: impl FnMut(P, NameKind, &str),
) {
    let mut block = Block::at(text.as_bytes(), 0);
    by_line(text, |at| block.next(text.as_bytes(), at, text.len()), place, each);
}

/// The same, where `next` says from where on there may be a name.
fn by_line<P: Copy>(
    text: &str,
    mut next: impl FnMut(usize) -> Option<usize>,
    mut place: impl FnMut(Range<usize>) -> P,
    mut each: impl FnMut(P, NameKind, &str),
) {
    let (mut start, mut found) = (0, Vec::new());
    while start < text.len() {
        let stop = scan::<true>(text, start, &mut next, |kind, at, end| found.push((kind, at, end)));
        let (end, unread) = match stop {
            Stop::End => (text.len(), None),
            Stop::LineBreak(at) => (at, None),
            Stop::Escape(at) => (line_break_behind(text.as_bytes(), at), Some(at)),
        };
        if !found.is_empty() || unread.is_some() {
            let place = place(start..end);
            found.drain(..).for_each(|(kind, at, end)| each(place, kind, &text[at..end]));
            if let Some(unread) = unread {
                names(&text::decode(&text[unread..end]), |kind, name| each(place, kind, name));
            }
        }
        start = end + LINE_BREAK.len();
    }
}

/// The next line break from here on, or the end.
fn line_break_behind(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(escape) = bytes.get(at..).and_then(text::backslash_in).map(|offset| at + offset) {
        if bytes.get(escape + 1) == Some(&b'n') {
            return escape;
        }
        at = escape + 2;
    }
    bytes.len()
}

/// Why a scan stops.
enum Stop {
    End,
    LineBreak(usize),
    /// An escape that may stand for a piece of the name that begins here: the rest of the line is to be decoded first.
    Escape(usize),
}

/// Calls `each` with the kind, start and end of every name in a text from a place on at which no word is cut in two.
/// `next` says where the next may begin. Where escapes are `RAW`, they part names, and a line is read.
fn scan<const RAW: bool>(
    line: &str,
    start: usize,
    mut next: impl FnMut(usize) -> Option<usize>,
    mut each: impl FnMut(NameKind, usize, usize),
) -> Stop {
    let bytes = line.as_bytes();
    let mut at = start;
    while let Some(next) = next(at) {
        at = next;
        let byte = bytes[at];
        if CLASS[usize::from(byte)] == SIGN && byte != b'/' {
            if RAW && byte == b'\\' {
                match bytes.get(at + 1) {
                    Some(b'n') => return Stop::LineBreak(at),
                    Some(b'u' | b'/') => return Stop::Escape(at),
                    _ => at += 1,
                }
            }
            at += 1;
            continue;
        }
        let run = Run::at(bytes, at);
        let is_followed_by_sign = bytes.get(run.end).is_some_and(|next| CLASS[usize::from(*next)] == SIGN);
        let (kind, end) = match is_followed_by_sign {
            true => run.address::<RAW>(bytes).or_else(|| run.path(bytes)).unzip(),
            false => (None, None),
        };
        let end = end.unwrap_or(run.end.max(at + 1));
        if RAW && is_followed_by_sign && spells_a_letter(bytes, end + usize::from(bytes.get(end) == Some(&b':'))) {
            return Stop::Escape(at);
        }
        match kind {
            Some(kind) => each(kind, at, end),
            None if run.seen & !PLAIN == 0 && !run.is_hash() => {}
            None => run.names(line, &mut each),
        }
        at = end;
    }
    Stop::End
}

/// Whether an escape stands here that may be a letter or a slash.
fn spells_a_letter(bytes: &[u8], at: usize) -> bool {
    bytes.get(at) == Some(&b'\\') && matches!(bytes.get(at + 1), Some(b'u' | b'/'))
}

/// What a name is known by: the same on every machine.
pub(super) fn key(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// What a byte may be part of: letters beyond ASCII count as such.
const SMALL: u8 = 1;
/// A small letter that is a hexadecimal digit.
const HEX: u8 = 2;
const CAPITAL: u8 = 4;
const DIGIT: u8 = 8;
const UNDERSCORE: u8 = 16;
const BEYOND: u8 = 32;
/// `.` and `-`, which join words.
const JOINT: u8 = 64;
/// `/`, `:` and `\\`, behind which words may go on.
const SIGN: u8 = 128;

/// What a word is made of that is no name, which most words of a text are.
const PLAIN: u8 = SMALL | HEX;

const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'f' => HEX,
            b'g'..=b'z' => SMALL,
            b'A'..=b'Z' => CAPITAL,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            0x80.. => BEYOND,
            b'.' | b'-' => JOINT,
            b'/' | b':' | b'\\' => SIGN,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is_word(byte: u8) -> bool {
    CLASS[usize::from(byte)] & !(JOINT | SIGN) != 0
}

fn end_of(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    start + bytes[start..].iter().take_while(|byte| belongs(**byte)).count()
}

/// Words and what joins them: a path, a dotted name, or words begin with one.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    /// Everything it is made of, but for a capital letter that it begins with.
    seen: u8,
}

impl Run {
    fn at(bytes: &[u8], start: usize) -> Self {
        let is_capital = CLASS[usize::from(bytes[start])] == CAPITAL;
        // A word that begins with a capital is no number of sixteen digits either.
        let (mut seen, mut end) = if is_capital { (SMALL, start + 1) } else { (0, start) };
        for byte in &bytes[end..] {
            let class = CLASS[usize::from(*byte)];
            if class & !SIGN == 0 {
                break;
            }
            seen |= class;
            end += 1;
        }
        Self { start, end, seen }
    }

    fn is_hash(self) -> bool {
        self.seen & !(DIGIT | HEX) == 0 && (7..=40).contains(&(self.end - self.start))
    }

    fn address<const RAW: bool>(self, bytes: &[u8]) -> Option<(NameKind, usize)> {
        let is_scheme =
            bytes.get(self.end) == Some(&b':') && matches!(&bytes[self.start..self.end], b"http" | b"https");
        let start = self.end + "://".len();
        if !is_scheme || bytes.get(self.end..start) != Some(b"://") {
            return None;
        }
        let belongs = |byte: u8| {
            let is_end = byte.is_ascii_whitespace() || b"\"'<>)".contains(&byte) || (RAW && byte == b'\\');
            !is_end
        };
        let end = end_of(bytes, start, belongs);
        (end > start).then_some((NameKind::Address, end))
    }

    fn path(self, bytes: &[u8]) -> Option<(NameKind, usize)> {
        if bytes.get(self.end) != Some(&b'/') {
            return None;
        }
        let start = self.end + 1;
        let end = end_of(bytes, start, |byte| CLASS[usize::from(byte)] & !SIGN != 0 || byte == b'/');
        (end > start).then_some((NameKind::Path, end))
    }

    /// The names in it, where it is no path.
    fn names(self, line: &str, each: &mut impl FnMut(NameKind, usize, usize)) {
        let bytes = line.as_bytes();
        if self.seen & JOINT == 0 {
            if let Some(kind) = word_kind(&bytes[self.start..self.end], self.seen) {
                each(kind, self.start, self.end);
            }
            return;
        }
        let mut at = self.start;
        while at < self.end {
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            let word = end_of(bytes, at, is_word);
            let dotted = dotted_end(bytes, at, word);
            let seen = || bytes[at..word].iter().fold(0, |seen, byte| seen | CLASS[usize::from(*byte)]);
            let kind = if dotted > word { Some(NameKind::Dotted) } else { word_kind(&bytes[at..word], seen()) };
            if let Some(kind) = kind {
                each(kind, at, dotted);
            }
            at = dotted;
        }
    }
}

/// Where `a.b.c` ends; the end of the first word where nothing is dotted.
fn dotted_end(bytes: &[u8], start: usize, word_end: usize) -> usize {
    let starts_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let mut end = word_end;
    while starts_name(bytes.get(start)) && bytes.get(end) == Some(&b'.') && starts_name(bytes.get(end + 1)) {
        end = end_of(bytes, end + 1, is_word);
    }
    end
}

/// What kind of name a word is, if it is one; `seen` is what it is made of.
fn word_kind(word: &[u8], seen: u8) -> Option<NameKind> {
    if seen & !DIGIT == 0 {
        return (word.len() >= 3).then_some(NameKind::Number);
    }
    if seen & !(DIGIT | HEX) == 0 && (7..=40).contains(&word.len()) {
        return Some(NameKind::Hash);
    }
    let is_pair = |of: fn(u8, u8) -> bool| word.windows(2).any(|pair| of(pair[0], pair[1]));
    // Where a word has underscores and ASCII letters and nothing else, two of them are neighbours somewhere.
    let is_snake = seen & UNDERSCORE != 0
        && match seen & BEYOND {
            0 => seen != UNDERSCORE,
            _ => is_pair(|a, b| a.is_ascii_alphanumeric() && b == b'_' || a == b'_' && b.is_ascii_alphanumeric()),
        };
    let is_camel = || seen & CAPITAL != 0 && is_pair(|a, b| a.is_ascii_lowercase() && b.is_ascii_uppercase());
    (is_snake || is_camel()).then_some(NameKind::Word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(line: &str) -> Vec<&str> {
        let mut all = Vec::new();
        names(line, |_, name| all.push(name));
        all
    }

    /// Where the next run begins, or the next sign stands: nothing is passed over.
    fn next_run(bytes: &[u8], at: usize) -> Option<usize> {
        (at..bytes.len()).find(|at| CLASS[usize::from(bytes[*at])] != 0)
    }

    #[test]
    fn each_kind_of_name_is_found() {
        assert_eq!(found(r#"open "https://example.org/a?b=1" now"#), ["https://example.org/a?b=1"]);
        assert_eq!(found("cat ./a/b-c.txt /etc/hosts"), ["./a/b-c.txt", "/etc/hosts"]);
        assert_eq!(found("call os.path.join(x) and os"), ["os.path.join"]);
        assert_eq!(found("set max_output_tokens = parseBody"), ["max_output_tokens", "parseBody"]);
        assert_eq!(found("commit 0dc22f6 at line 1234 of 99"), ["0dc22f6", "1234"]);
    }

    #[test]
    fn escapes_part_names_unless_they_stand_for_a_piece_of_one() {
        let raw = r#"\tself.value = \"a_b\"\\n src\/lib.rs caf\u00e9_bar\nhttp:\/\/a.org x_y"#;
        let mut all = Vec::new();
        raw_names(raw, |line| line.start, |line, _, name| all.push((line, name.to_owned())));
        let first = ["self.value", "a_b", "src/lib.rs", "café_bar"].map(|name| (0, name.to_owned()));
        let second = raw.find("http").unwrap();
        assert_eq!(all[..4], first);
        assert_eq!(all[4..], ["http://a.org", "x_y"].map(|name| (second, name.to_owned())));
    }

    #[test]
    fn plain_words_are_no_names() {
        assert!(found("The quick brown fox, 12 legs - and a half.").is_empty());
    }

    const PIECES: &str = "([a-z]{1,9}|[a-f0-9]{5,9}|[A-Z][a-z]{0,5}|[0-9]{1,4}|[ ,;()]{1,9}|[_./:-]{1,2}|https?:|é|\\\\[nu/t\"\\\\]|[ab]{1,70}){0,60}";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_096))]

        #[test]
        fn no_name_is_passed_over(text in PIECES) {
            let mut expected = Vec::new();
            scan::<false>(&text, 0, |at| next_run(text.as_bytes(), at), |kind, at, end| expected.push((kind, &text[at..end])));
            let mut all = Vec::new();
            names(&text, |kind, name| all.push((kind, name)));
            prop_assert_eq!(all, expected, "{}", text);
        }

        #[test]
        fn nor_line_by_line(text in PIECES) {
            let (mut all, mut expected) = (Vec::new(), Vec::new());
            raw_names(&text, |line| (line.start, line.end), |line, kind, name| all.push((line, kind, name.to_owned())));
            // Line by line, each for itself.
            let mut start = 0;
            while start < text.len() {
                let end = line_break_behind(text.as_bytes(), start);
                let line = &text[start..end];
                by_line(line, |at| next_run(line.as_bytes(), at), |_| (start, end), |line, kind, name| {
                    expected.push((line, kind, name.to_owned()));
                });
                start = end + 2;
            }
            prop_assert_eq!(all, expected, "{}", text);
        }
    }
}
