//! Texts in pages that clients take.

use louver::tokens::Mixture;

/// The most tokens of a page, in OpenAI's vocabulary. The one of Claude that has the most makes 1.7 times as many of a text,
/// and clients warn at 10,000.
const MAX_TOKENS: u64 = 5_500;
/// The most bytes, whatever they are.
const MAX_BYTES: usize = 24_000;

/// As much of a text as a page has room for, behind what it holds already.
pub(super) fn fitting<'t>(page: &str, text: &'t str) -> &'t str {
    let mut end = floor(text, MAX_BYTES.saturating_sub(page.len()));
    while end > 0 && tokens(page) + tokens(&text[..end]) > MAX_TOKENS {
        end = floor(text, end * 3 / 4);
    }
    &text[..end]
}

/// Whether more than a few lines would still fit.
pub(super) fn has_room(page: &str) -> bool {
    page.len() + 400 < MAX_BYTES && tokens(page) + 200 < MAX_TOKENS
}

fn tokens(text: &str) -> u64 {
    Mixture::of(text).o200k(text.chars().count() as u64).ceil_tokens()
}

fn floor(text: &str, bytes: usize) -> usize {
    (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_bounded_whatever_it_holds() {
        for text in ["word ".repeat(20_000), "日本語".repeat(20_000), "🦀".repeat(20_000), "x=1;\n".repeat(20_000)]
        {
            let page = fitting("", &text);
            assert!(!page.is_empty() && page.len() <= MAX_BYTES && tokens(page) <= MAX_TOKENS);
            assert!(fitting(page, &text).len() < page.len());
        }
        assert_eq!(fitting("", "short"), "short");
    }
}
