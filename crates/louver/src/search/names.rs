//! The names in a text: what somebody uses again who goes on with the work.

use super::terms::{lower_into, start_of};
use xxhash_rust::xxh3::xxh3_64;

/// A hash has so many digits at least, a number so many.
const HASH_DIGITS: usize = 7;
const NUMBER_DIGITS: usize = 3;

/// Calls `each` with every name of a text in small letters: paths, dotted names, words with underscores or with capitals in
/// them, hashes, and numbers of some length. O(text).
pub(super) fn names(text: &str, mut each: impl FnMut(&str)) {
    let mut lower = String::new();
    let mut tell = |name: &str| {
        lower_into(start_of(name), &mut lower);
        each(&lower);
    };
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '/' | '-'))
        .filter(|run| run.len() > 2)
        .for_each(|run| names_of_run(run, &mut tell));
}

/// What a name is known by.
pub(super) fn key(name: &str) -> u64 {
    xxh3_64(name.as_bytes())
}

/// Whether a name says a number and nothing else.
pub(super) fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn names_of_run(run: &str, tell: &mut impl FnMut(&str)) {
    let path = run.trim_matches(['_', '.', '/', '-']);
    if path.contains('/') {
        return tell(path);
    }
    for piece in path.split('-').map(|piece| piece.trim_matches(['_', '.'])) {
        if is_dotted(piece) {
            tell(piece);
            continue;
        }
        piece.split('.').map(|word| word.trim_matches('_')).filter(|word| is_name(word)).for_each(&mut *tell);
    }
}

/// `os.path.join`, but no number and no end of a sentence.
fn is_dotted(piece: &str) -> bool {
    piece.contains('.') && piece.split('.').all(|part| part.starts_with(|c: char| !c.is_ascii_digit()))
}

/// Whether a word alone is a name: `max_output`, `readFile`, `0dc22f6`, `8089`.
fn is_name(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    match digits {
        _ if word.contains('_') || has_capital_inside(word) => true,
        _ if digits == word.len() => digits >= NUMBER_DIGITS,
        0 => false,
        _ => word.len() >= HASH_DIGITS && word.bytes().all(is_hexadecimal),
    }
}

fn has_capital_inside(word: &str) -> bool {
    let is_joint = |pair: &[u8]| !pair[0].is_ascii_uppercase() && pair[1].is_ascii_uppercase();
    word.as_bytes().windows(2).any(is_joint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        names(text, |name| all.push(name.to_owned()));
        all
    }

    #[test]
    fn paths_dotted_names_joined_words_hashes_and_numbers_are_names() {
        let text = "See ./src/main_loop.rs:120, os.path.join(MAX_SIZE) and `readFile`; commit 0dc22f6.";
        let expected = ["src/main_loop.rs", "120", "os.path.join", "max_size", "readfile", "0dc22f6"];
        assert_eq!(all(text), expected);
        assert_eq!(all("pre-commit-hook_v2 größeMax"), ["hook_v2", "größemax"]);
    }

    #[test]
    fn words_are_none_and_neither_are_small_numbers() {
        assert_eq!(all("The end. Facade deadbeef HTTP 42 1.5 v2 ... // -- __ a-b"), [""; 0]);
    }

    #[test]
    fn a_number_is_told_from_a_name() {
        assert!(is_number("8089") && !is_number("0dc22f6") && !is_number("a_1"));
    }
}
