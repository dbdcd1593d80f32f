//! How texts and figures are shown: the one place that truncates, and that writes numbers for people.

use std::borrow::Cow;

/// The first so many characters of a text.
///
/// ```
/// assert_eq!(louver::display::truncate("größer", 4), "größ");
/// assert_eq!(louver::display::truncate("no", 4), "no");
/// ```
#[must_use]
pub fn truncate(text: &str, max_chars: usize) -> &str {
    text.char_indices().nth(max_chars).map_or(text, |(end, _)| &text[..end])
}

/// The same, with three dots where something is missing.
///
/// ```
/// assert_eq!(louver::display::shortened("a long story", 6), "a long...");
/// assert_eq!(louver::display::shortened("short", 6), "short");
/// ```
#[must_use]
pub fn shortened(text: &str, max_chars: usize) -> Cow<'_, str> {
    match truncate(text, max_chars) {
        start if start.len() < text.len() => Cow::Owned(format!("{start}...")),
        whole => Cow::Borrowed(whole),
    }
}

/// A share in hundredths, without the sign, which languages and tables write differently.
///
/// ```
/// assert_eq!(louver::display::percent(0.4567, 0), "46");
/// assert_eq!(louver::display::percent(-0.00001, 1), "-0.0");
/// assert_eq!(louver::display::percent(-0.0, 1), "0.0");
/// ```
#[must_use]
pub fn percent(share: f64, decimals: usize) -> String {
    // Adding nothing turns a negative zero into a positive one.
    format!("{:.decimals$}", share * 100.0 + 0.0)
}

/// An amount of money, with its sign.
///
/// ```
/// assert_eq!(louver::display::dollars(1.5, 2), "$1.50");
/// ```
#[must_use]
pub fn dollars(usd: f64, decimals: usize) -> String {
    format!("${usd:.decimals$}")
}

/// A number with its thousands apart.
///
/// ```
/// assert_eq!(louver::display::grouped(1_234_567), "1,234,567");
/// assert_eq!(louver::display::grouped(999), "999");
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
