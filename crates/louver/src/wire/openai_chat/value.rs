//! A JSON value that the cursor has passed, and what is asked of it later.
//!
//! Keys come in any order, so a reader first collects values and only then knows what they mean.

use crate::json::{Cursor, JsonError, Kind, Span};

/// A value that was passed. `null` is the same as no value.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::wire) struct Value {
    /// Where it stands, quotes included.
    pub(in crate::wire) span: Span,
    /// A string's own characters, or those of the compact JSON of anything else.
    pub(in crate::wire) chars: u32,
    is_string: bool,
}

impl Value {
    /// Passes any value.
    pub(in crate::wire) fn read(cursor: &mut Cursor<'_>) -> Result<Self, JsonError> {
        match cursor.kind()? {
            Kind::String => {
                let string = cursor.string()?;
                Ok(Self { span: string.span, chars: string.chars, is_string: true })
            }
            Kind::Null => cursor.skip().map(|_| Self::default()),
            _ => {
                let before = cursor.compact_chars();
                let span = cursor.skip()?;
                Ok(Self::passed(span, cursor.compact_chars() - before))
            }
        }
    }

    /// An object or array that was passed member by member.
    pub(in crate::wire) fn passed(span: Span, compact_chars: u64) -> Self {
        Self { span, chars: saturate(compact_chars), is_string: false }
    }

    /// Whether there is one.
    pub(in crate::wire) fn is_some(self) -> bool {
        !self.span.is_empty()
    }

    /// Whether it is a string.
    pub(in crate::wire) fn is_string(self) -> bool {
        self.is_string
    }

    /// The text between the quotes of a string, nothing for anything else.
    pub(in crate::wire) fn inner(self) -> Span {
        if self.is_string { Span { start: self.span.start + 1, end: self.span.end - 1 } } else { Span::default() }
    }
}

/// A count of characters as a part keeps it.
pub(in crate::wire) fn saturate(chars: u64) -> u32 {
    u32::try_from(chars).unwrap_or(u32::MAX)
}

/// Whether the text between a JSON string's quotes is empty or white space once its escapes are resolved.
///
/// Stops at the first character that is neither, so it costs nothing on real text.
pub(in crate::wire) fn is_blank(inner: &str) -> bool {
    let mut rest = inner.chars();
    while let Some(character) = rest.next() {
        let meaning = if character == '\\' { escaped(&mut rest) } else { Some(character) };
        if !meaning.is_some_and(char::is_whitespace) {
            return false;
        }
    }
    true
}

/// What the escape after a backslash stands for, as far as it may be white space.
fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    match rest.next()? {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'f' => Some('\u{c}'),
        'u' => {
            let code = (0..4).try_fold(0, |code, _| Some(code * 16 + rest.next()?.to_digit(16)?));
            code.and_then(char::from_u32)
        }
        _ => None,
    }
}

/// The media type of a `data:` address that stands between the quotes at `inner`, nothing for any other address.
pub(in crate::wire) fn media_type(cursor: &Cursor<'_>, inner: Span) -> Span {
    let Some(rest) = cursor.raw(inner).strip_prefix("data:") else {
        return Span::default();
    };
    let length = rest.bytes().take_while(|byte| !matches!(byte, b';' | b',')).count();
    let start = inner.start + "data:".len() as u32;
    Span { start, end: start + saturate(length as u64) }
}

#[cfg(test)]
mod tests {
    use super::is_blank;
    use crate::json::text::{decode, encode};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blank_is_what_is_blank_after_decoding(text in "[ \t\n\u{b}\u{c}\u{a0}\u{3000}\u{8}a\\\\\"]{0,4}") {
            let json = encode(&text);
            let inner = &json[1..json.len() - 1];
            prop_assert_eq!(is_blank(inner), decode(inner).trim().is_empty());
        }
    }
}
