//! The names in a line: addresses, paths, dotted, snake-case and camel-case names, hashes, larger numbers.

use crate::json::text;
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

/// Calls `each` with every name of a line, left to right. O(line).
pub(super) fn names<'a>(line: &'a str, mut each: impl FnMut(NameKind, &'a str)) {
    let bytes = line.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_run(bytes[at]) && bytes[at] != b'/' {
            at += 1;
            continue;
        }
        if let Some(end) = plain_word(bytes, at) {
            at = end;
            continue;
        }
        at = match address(bytes, at).map(|end| (NameKind::Address, end)).or_else(|| path(bytes, at)) {
            Some((kind, end)) => {
                each(kind, &line[at..end]);
                end
            }
            None => {
                let end = run_end(bytes, at, is_run).max(at + 1);
                names_in_run(line, at, end, &mut each);
                end
            }
        };
    }
}

/// Calls `each` with every name of a line whose escapes are still written as in JSON, and with where it stands in the
/// line as written; nothing where that has escapes inside names. O(line).
pub(super) fn names_of_raw(line: &str, mut each: impl FnMut(NameKind, &str, Option<usize>)) {
    let bytes = line.as_bytes();
    let at = |name: &str| name.as_ptr() as usize - line.as_ptr() as usize;
    let mut start = 0;
    while let Some(escape) = memchr::memchr(b'\\', &bytes[start..]).map(|offset| start + offset) {
        if matches!(bytes.get(escape + 1), Some(b'u' | b'/')) {
            // What it stands for may be part of a name.
            return names(&text::decode(&line[start..]), |kind, name| each(kind, name, None));
        }
        names(&line[start..escape], |kind, name| each(kind, name, Some(at(name))));
        start = (escape + 2).min(bytes.len());
    }
    names(&line[start..], |kind, name| each(kind, name, Some(at(name))));
}

/// What a name is known by: the same on every machine.
pub(super) fn key(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// Where a word ends that cannot be a name, which most words of a text are: nothing but small letters behind the first,
/// not all of them hexadecimal, and no path or address begins with it.
fn plain_word(bytes: &[u8], start: usize) -> Option<usize> {
    let is_capital = bytes[start].is_ascii_uppercase();
    let mut seen = if is_capital { SMALL } else { 0 };
    let mut end = start + usize::from(is_capital);
    while let Some(class) = bytes.get(end).map(|byte| CLASS[usize::from(*byte)]).filter(|class| class & RUN != 0) {
        seen |= class;
        end += 1;
    }
    let is_plain = seen & !(RUN | WORD | SMALL | HEX) == 0;
    let is_hash = seen & SMALL == 0 && end - start >= 7;
    let leads_on = matches!(bytes.get(end), Some(b'/' | b':'));
    (end > start && is_plain && !is_hash && !leads_on).then_some(end)
}

const RUN: u8 = 1;
const WORD: u8 = 2;
/// A small letter that is no hexadecimal digit.
const SMALL: u8 = 4;
/// A small letter that is one.
const HEX: u8 = 8;
const OTHER: u8 = 16;

/// What each byte may be part of: a run is what a path, a dotted name or a word is made of; letters beyond ASCII count
/// as such.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'f' => RUN | WORD | HEX,
            b'g'..=b'z' => RUN | WORD | SMALL,
            b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80.. => RUN | WORD | OTHER,
            b'.' | b'-' => RUN | OTHER,
            _ => 0,
        };
        byte += 1;
    }
    class
};

fn is_run(byte: u8) -> bool {
    CLASS[usize::from(byte)] & RUN != 0
}

fn is_word(byte: u8) -> bool {
    CLASS[usize::from(byte)] & WORD != 0
}

fn run_end(bytes: &[u8], start: usize, belongs: impl Fn(u8) -> bool) -> usize {
    start + bytes[start..].iter().take_while(|byte| belongs(**byte)).count()
}

fn address(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let scheme = [&b"http://"[..], b"https://"].into_iter().find(|scheme| rest.starts_with(scheme))?;
    let start = at + scheme.len();
    let end = run_end(bytes, start, |byte| !byte.is_ascii_whitespace() && !b"\"'<>)".contains(&byte));
    (end > start).then_some(end)
}

fn path(bytes: &[u8], at: usize) -> Option<(NameKind, usize)> {
    let slash = run_end(bytes, at, is_run);
    if bytes.get(slash) != Some(&b'/') {
        return None;
    }
    let end = run_end(bytes, slash + 1, |byte| is_run(byte) || byte == b'/');
    (end > slash + 1).then_some((NameKind::Path, end))
}

/// Names inside a run that is no path.
fn names_in_run<'a>(line: &'a str, start: usize, end: usize, each: &mut impl FnMut(NameKind, &'a str)) {
    let bytes = line.as_bytes();
    let mut at = start;
    while at < end {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let word = run_end(bytes, at, is_word);
        let dotted = dotted_end(bytes, at, word);
        let name = &line[at..dotted];
        let kind = if dotted > word { Some(NameKind::Dotted) } else { word_kind(name) };
        if let Some(kind) = kind {
            each(kind, name);
        }
        at = dotted;
    }
}

/// Where `a.b.c` ends; the end of the first word where nothing is dotted.
fn dotted_end(bytes: &[u8], start: usize, word_end: usize) -> usize {
    let starts_name = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let mut end = word_end;
    while starts_name(bytes.get(start)) && bytes.get(end) == Some(&b'.') && starts_name(bytes.get(end + 1)) {
        end = run_end(bytes, end + 1, is_word);
    }
    end
}

fn word_kind(word: &str) -> Option<NameKind> {
    let bytes = word.as_bytes();
    if bytes.iter().all(u8::is_ascii_digit) {
        return (bytes.len() >= 3).then_some(NameKind::Number);
    }
    let is_hex = bytes.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex && (7..=40).contains(&bytes.len()) {
        return Some(NameKind::Hash);
    }
    let is_snake = bytes.windows(2).any(|pair| {
        pair[0].is_ascii_alphanumeric() && pair[1] == b'_' || pair[0] == b'_' && pair[1].is_ascii_alphanumeric()
    });
    let is_camel = bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    (is_snake || is_camel).then_some(NameKind::Word)
}

#[cfg(test)]
mod tests {
    use super::names;

    fn found(line: &str) -> Vec<&str> {
        let mut all = Vec::new();
        names(line, |_, name| all.push(name));
        all
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
        let raw = r#"\tself.value = \"a_b\"\\n src\/lib.rs caf\u00e9_bar"#;
        let mut all = Vec::new();
        super::names_of_raw(raw, |_, name, at| {
            assert!(at.is_none_or(|at| raw[at..].starts_with(name)));
            all.push(name.to_owned());
        });
        assert_eq!(all, ["self.value", "a_b", "src/lib.rs", "café_bar"]);
    }

    #[test]
    fn plain_words_are_no_names() {
        assert!(found("The quick brown fox, 12 legs - and a half.").is_empty());
    }
}
