//! The terms of a text: what is looked up when somebody searches.
//!
//! An identifier is found whole and by its pieces: `src/main_loop.rs` is `src/main_loop.rs`, `main_loop.rs`,
//! `main_loop`, `main`, `loop`, `src` and `rs`.

use crate::display::truncate;
use std::ops::Range;

/// The most characters of a term; of longer runs (base64, minified code) only the start is looked up.
const TERM_CHARS: usize = 128;

/// The level of what joins no words.
const WORD: u8 = 4;

/// What joins words to identifiers, the outermost first: each level takes the one above apart. All are one byte long.
fn level(byte: u8) -> u8 {
    match byte {
        b':' | b'@' | b'#' | b'=' => 0,
        b'/' | b'\\' => 1,
        b'.' | b'-' | b'+' | b'~' => 2,
        b'_' | b'$' => 3,
        _ => WORD,
    }
}

/// Whether a term has several pieces: a path, a dotted name, words with hyphens or underscores between them.
pub(super) fn is_identifier(term: &str) -> bool {
    term.bytes().any(|byte| level(byte) < WORD)
}

/// Calls `each` with every term of a text in small letters, and where it stands. O(text).
///
/// ```
/// let mut terms = Vec::new();
/// louver::search::terms("see src/lib.rs", |term, _| terms.push(term.to_owned()));
/// assert_eq!(terms, ["see", "src/lib.rs", "src", "lib.rs", "lib", "rs"]);
/// ```
pub fn terms(text: &str, mut each: impl FnMut(&str, Range<usize>)) {
    let mut lower = String::new();
    let mut tell = |range: Range<usize>| {
        let term = start_of(&text[range.clone()]);
        if term.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
            return each(term, range);
        }
        lower_into(term, &mut lower);
        each(&lower, range);
    };
    let mut at = 0;
    while at < text.len() {
        let end = run_end(text, at);
        if end > at {
            take_apart(text, at..end, &mut tell);
        }
        at = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
}

/// Where the run of words and joints ends that starts at a position. Most text is ASCII and is not decoded.
fn run_end(text: &str, start: usize) -> usize {
    let mut end = start;
    while let Some(byte) = text.as_bytes().get(end) {
        if byte.is_ascii() {
            if !byte.is_ascii_alphanumeric() && level(*byte) == WORD {
                break;
            }
            end += 1;
            continue;
        }
        match text[end..].chars().next().filter(|c| is_word(*c)) {
            Some(c) => end += c.len_utf8(),
            None => break,
        }
    }
    end
}

fn is_word(c: char) -> bool {
    // Marks belong to the letters they stand on, and are not alphanumeric in every script.
    c.is_alphanumeric() || matches!(c, '\u{300}'..='\u{36f}')
}

/// Writing without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Tells a run and then its pieces, level by level.
fn take_apart(text: &str, range: Range<usize>, tell: &mut impl FnMut(Range<usize>)) {
    let range = trimmed(text, range);
    let run = &text.as_bytes()[range.clone()];
    let Some(outermost) = run.iter().map(|byte| level(*byte)).min() else {
        return;
    };
    if outermost == WORD {
        take_word_apart(text, range, tell);
        return;
    }
    let mut start = range.start;
    tell(range);
    for piece in run.split(|byte| level(*byte) == outermost) {
        take_apart(text, start..start + piece.len(), tell);
        start += piece.len() + 1;
    }
}

/// A range without the joints at its ends: the full stop after a word is not part of it.
fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let run = &text.as_bytes()[range.clone()];
    let is_letter = |byte: &u8| level(*byte) == WORD;
    let start = run.iter().position(is_letter).unwrap_or(run.len());
    let end = run.iter().rposition(is_letter).map_or(start, |last| last + 1);
    range.start + start..range.start + end
}

/// A word, and the words in it where capitals say so: `readFile` is `read` and `file`, too.
fn take_word_apart(text: &str, range: Range<usize>, tell: &mut impl FnMut(Range<usize>)) {
    let word = &text[range.clone()];
    if !word.is_ascii() && word.contains(is_unspaced) {
        pairs(word, range.start, tell);
        return;
    }
    tell(range.clone());
    let mut start = 0;
    let mut last_is_lower = false;
    for (at, c) in word.char_indices() {
        if last_is_lower && c.is_uppercase() {
            tell(range.start + start..range.start + at);
            start = at;
        }
        last_is_lower = c.is_lowercase() || c.is_ascii_digit();
    }
    if start > 0 {
        tell(range.start + start..range.end);
    }
}

/// Every two neighbouring characters, as is usual where words have no spaces between them; one that stands alone is told
/// alone.
fn pairs(word: &str, offset: usize, tell: &mut impl FnMut(Range<usize>)) {
    let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
    match starts.len() {
        2 => tell(offset..offset + word.len()),
        _ => starts.windows(3).for_each(|pair| tell(offset + pair[0]..offset + pair[2])),
    }
}

/// As much of a term as is looked up.
pub(super) fn start_of(term: &str) -> &str {
    // A character is at least a byte.
    if term.len() <= TERM_CHARS { term } else { truncate(term, TERM_CHARS) }
}

/// Puts a term in small letters.
pub(super) fn lower_into(term: &str, lower: &mut String) {
    lower.clear();
    lower.extend(term.chars().flat_map(char::to_lowercase));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_joint(c: char) -> bool {
        u8::try_from(c).is_ok_and(|byte| level(byte) < WORD)
    }

    fn all(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        terms(text, |term, range| {
            assert_eq!(term.chars().count().min(1), 1, "{text} {range:?}");
            all.push(term.to_owned());
        });
        all
    }

    #[test]
    fn an_identifier_is_found_whole_and_by_its_pieces() {
        let expected = "src/main_loop.rs:12 src/main_loop.rs src main_loop.rs main_loop main loop rs 12";
        assert_eq!(all("(src/main_loop.rs:12)").join(" "), expected);
        assert_eq!(all("`std.io-fs`"), ["std.io-fs", "std", "io", "fs"]);
        assert_eq!(
            all("getUserName HTTP2Server"),
            ["getusername", "get", "user", "name", "http2server", "http2", "server"]
        );
    }

    #[test]
    fn punctuation_is_no_term() {
        assert_eq!(all("\"Stop.\" -- (NOT) * ^ ... AND/OR; 'x'"), ["stop", "not", "and/or", "and", "or", "x"]);
        assert_eq!(all(" \n...///"), [""; 0]);
    }

    #[test]
    fn letters_of_any_script_are_small_letters() {
        assert_eq!(all("ÄRGER straße ΣΑΣ"), ["ärger", "straße", "σασ"]);
        assert_eq!(all("日本語を 本"), ["日本", "本語", "語を", "本"]);
    }

    #[test]
    fn a_term_says_where_it_stands() {
        let text = "ä fooBar.é";
        let mut found = Vec::new();
        terms(text, |_, range| found.push(&text[range]));
        assert_eq!(found, ["ä", "fooBar.é", "fooBar", "foo", "Bar", "é"]);
    }

    #[test]
    fn every_term_is_what_stands_in_its_place() {
        let letters = ['a', 'B', 'é', '日', '_', '/', '.', ':', '"', '\u{301}'];
        for number in 0..100_000_usize {
            let digits = (0..5).map(|place| letters[number / 10_usize.pow(place) % 10]);
            let text: String = digits.collect();
            terms(&text, |term, range| {
                assert_eq!(term, text[range].to_lowercase(), "{text}");
                assert!(!term.contains('"') && !term.starts_with(is_joint) && !term.ends_with(is_joint), "{text}");
            });
        }
    }

    #[test]
    fn endless_runs_are_known_by_their_start() {
        let run = "A".repeat(5000);
        assert_eq!(all(&run), ["a".repeat(TERM_CHARS)]);
    }
}
