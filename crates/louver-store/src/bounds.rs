//! What is kept within bounds: numbers that are added up, and names.

use crate::error::{Error, Kind};
use crate::name::MAX_NAME_BYTES;

/// The most of anything that is counted in one request, so that sums of thousands stay numbers.
const MAX_COUNT: i64 = 1_000_000_000_000_000;

/// A count that can be added up.
pub(crate) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(MAX_COUNT).min(MAX_COUNT)
}

/// An amount of money that can be added up.
pub(crate) fn amount(nano: i64) -> i64 {
    nano.clamp(-MAX_COUNT, MAX_COUNT)
}

/// Refuses names that nobody gives.
pub(crate) fn bounded(what: &str, name: &str) -> Result<(), Error> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(Error::new(Kind::TooLarge, format!("{what} has {} bytes, more than {MAX_NAME_BYTES}", name.len())))
}

/// As much of a text as is kept.
pub(crate) fn cut_short(text: &str) -> &str {
    let end = (0..=MAX_NAME_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_texts_are_kept_within_bounds() {
        assert_eq!((count(7), count(u64::MAX), amount(i64::MIN)), (7, MAX_COUNT, -MAX_COUNT));
        assert_eq!(cut_short(&"ä".repeat(600)).len(), MAX_NAME_BYTES);
        assert_eq!((cut_short("short"), bounded("it", "short").is_ok()), ("short", true));
        assert!(bounded("it", &"x".repeat(MAX_NAME_BYTES + 1)).unwrap_err().is_too_large());
    }
}
