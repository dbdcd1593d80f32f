//! The constants as the engine's source has them: they are private, and a copy here would drift.

const WORTH: &str = include_str!("../../../../crates/louver/src/policy/kind/ladder/worth.rs");
const BOOKS: &str = include_str!("../../../../crates/louver/src/policy/kind/ladder/books.rs");
const CONFIG: &str = include_str!("../../../../crates/louver/src/policy/kind/ladder/config.rs");

/// The number behind the first place where one of the ladder's files has this text.
pub(crate) fn number(before: &str) -> Result<f64, String> {
    let after = [WORTH, BOOKS, CONFIG].into_iter().find_map(|file| Some(file.split_once(before)?.1));
    let is_digit = |c: &char| c.is_ascii_digit() || *c == '_';
    let digits = after.map(|after| after.chars().take_while(is_digit).filter(|c| *c != '_').collect::<String>());
    let number = digits.and_then(|digits| digits.parse().ok());
    number.ok_or_else(|| {
        format!("the ladder's source no longer has a number behind `{before}`: bring this script up to date")
    })
}
