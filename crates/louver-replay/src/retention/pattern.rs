//! What counts as an identifier.

use regex::Regex;
use std::sync::LazyLock;

/// Addresses, paths, dotted names, snake case, camel case, hashes, numbers of three digits and more; the first
/// alternative that fits wins.
const PATTERN: &str = concat!(
    r#"https?://[^\s"'<>)]+"#,
    r"|[\w.-]*/[\w./-]+",
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+",
    r"|[A-Za-z]+(?:_[A-Za-z0-9]+)+",
    r"|[a-z]+(?:[A-Z][a-z0-9]+)+",
    r"|\b[0-9a-f]{7,40}\b",
    r"|\b\d{3,}\b",
);

static IDENTIFIER: LazyLock<Regex> = LazyLock::new(|| Regex::new(PATTERN).expect("the pattern is part of the binary"));

/// The identifiers of a line, in order.
///
/// ```
/// let line = "see src/main.rs: maxTokens is 4096 in crate.budget (max_output)";
/// let found: Vec<_> = louver_replay::retention::identifiers(line).collect();
/// assert_eq!(found, ["src/main.rs", "maxTokens", "4096", "crate.budget", "max_output"]);
/// ```
pub fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    // Beside text that is not ASCII the regex engine is slow, and the arrow behind a line's number is in every file that
    // was read. Only an address can hold a sign.
    let is_whole = line.is_ascii() || line.contains("://");
    let pieces = line.split(move |c: char| !is_whole && is_sign(c));
    pieces.flat_map(|piece| IDENTIFIER.find_iter(piece)).map(|found| found.as_str())
}

/// Punctuation, arrows, mathematical and technical signs, boxes, shapes: no part of a word.
fn is_sign(c: char) -> bool {
    matches!(c, '\u{2010}'..='\u{203e}' | '\u{2190}'..='\u{245f}' | '\u{2500}'..='\u{2bff}')
}

#[cfg(test)]
mod tests {
    use super::{IDENTIFIER, identifiers, is_sign};
    use regex::Regex;

    fn found(line: &str) -> Vec<&str> {
        identifiers(line).collect()
    }

    #[test]
    fn each_alternative_finds_its_kind() {
        assert_eq!(found(r#"open "https://example.org/a?b=1" now"#), ["https://example.org/a?b=1"]);
        assert_eq!(found("cat ./a/b-c.txt"), ["./a/b-c.txt"]);
        assert_eq!(found("call os.path.join(x)"), ["os.path.join"]);
        assert_eq!(found("set max_output_tokens = 1"), ["max_output_tokens"]);
        assert_eq!(found("let parseBody = y"), ["parseBody"]);
        assert_eq!(found("commit 0dc22f6 is good"), ["0dc22f6"]);
        assert_eq!(found("line 1234 of 99"), ["1234"]);
    }

    #[test]
    fn plain_words_short_numbers_and_hex_inside_words_are_none() {
        assert!(found("the quick brown fox has 12 legs").is_empty());
        assert!(found("x0dc22f6y").is_empty());
    }

    #[test]
    fn signs_are_no_part_of_words_and_part_only_the_slow_way_from_the_fast() {
        let word = Regex::new(r"^\w$").unwrap();
        let mut letters = [0; 4];
        let signs = (char::MIN..=char::MAX).filter(|c| is_sign(*c));
        assert!(signs.into_iter().all(|sign| !word.is_match(sign.encode_utf8(&mut letters))));
        for line in ["12→use a.b; // é_x→1234", "https://a.b/→c/d", "a/b…c/d — 0dc22f6│fooBar", "日本_a→b_c", "→", "x→"]
        {
            let slow: Vec<&str> = IDENTIFIER.find_iter(line).map(|found| found.as_str()).collect();
            assert_eq!(found(line), slow, "{line}");
        }
    }

    #[test]
    fn an_address_ends_at_quotes_and_brackets_and_beats_a_path() {
        assert_eq!(found("(http://a.b/c) <https://d.e>"), ["http://a.b/c", "https://d.e"]);
        assert_eq!(found("a/b/c.d"), ["a/b/c.d"]);
    }
}
