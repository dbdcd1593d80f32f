//! JSON strings as Rust text, and back.

use super::escape::Escape;
use super::scan::{WORD, scan, special_bytes, word_at};
use std::borrow::Cow;

/// Resolves the escapes of the text between a JSON string's quotes. A lone surrogate becomes U+FFFD.
///
/// ```
/// assert_eq!(louver::json::text::decode(r"caf\u00e9\n"), "café\n");
/// ```
#[must_use]
pub fn decode(inner: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    let mut decoded = String::with_capacity(inner.len());
    decode_into(inner, &mut decoded);
    Cow::Owned(decoded)
}

/// The same behind what a text holds already, so that many short ones need no memory of their own.
pub(crate) fn decode_into(inner: &str, decoded: &mut String) {
    let mut rest = inner;
    while let Some(at) = backslash_in(rest.as_bytes()) {
        decoded.push_str(&rest[..at]);
        let Some((meaning, length)) = meaning_of(&rest.as_bytes()[at..]) else {
            // What is no escape stands as it is written.
            rest = &rest[at..];
            break;
        };
        decoded.push(meaning);
        rest = &rest[at + length..];
    }
    decoded.push_str(rest);
}

/// The next escape of code or JSON is near, and a call for every few bytes costs more than it finds: the first words are
/// looked at here.
#[inline]
pub(crate) fn backslash_in(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let mut at = 0;
    while at < 6 * WORD
        && let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WORD>)
    {
        let difference = u64::from_le_bytes(*word) ^ (ONES * b'\\' as u64);
        let zeros = difference.wrapping_sub(ONES) & !difference & (ONES << 7);
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += WORD;
    }
    memchr::memchr(b'\\', &bytes[at..]).map(|found| at + found)
}

/// What the escape that `bytes` starts with stands for, and how long it is.
#[inline]
pub(crate) fn meaning_of(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes.get(1)? {
        b'n' => Some(('\n', 2)),
        b'"' => Some(('"', 2)),
        b'\\' => Some(('\\', 2)),
        b't' => Some(('\t', 2)),
        _ => Escape::read(bytes).map(|escape| (escape.meaning.unwrap_or(char::REPLACEMENT_CHARACTER), escape.length)),
    }
}

/// Writes text as a JSON string, quotes included.
///
/// ```
/// assert_eq!(louver::json::text::encode("a \"b\"\n"), r#""a \"b\"\n""#);
/// ```
#[must_use]
pub fn encode(text: &str) -> String {
    // A page of code has an escape in every line.
    let mut json = String::with_capacity(text.len() + text.len() / 16 + 2);
    json.push('"');
    let bytes = text.as_bytes();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        let plain = match word_at(bytes, at).map(special_bytes) {
            Some(0) => WORD,
            Some(special) => special.trailing_zeros() as usize / 8,
            None => usize::from(!needs_escape(bytes[at])),
        };
        at += plain;
        let Some(byte) = bytes.get(at).filter(|byte| needs_escape(**byte)) else {
            continue;
        };
        json.push_str(&text[copied..at]);
        at += 1;
        copied = at;
        match byte {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            control => json.push_str(&format!("\\u{control:04x}")),
        }
    }
    json.push_str(&text[copied..]);
    json.push('"');
    json
}

/// Whether JSON does not let a byte stand in a string as it is.
fn needs_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | ..0x20)
}

/// JSON without the white space between its tokens; strings and numbers stay as spelled.
///
/// ```
/// assert_eq!(louver::json::text::compact("{ \"a b\": [1, 2] }"), r#"{"a b":[1,2]}"#);
/// ```
#[must_use]
pub fn compact(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut written = String::new();
    let (mut at, mut copied) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            // Text that is no JSON has strings without an end.
            b'"' => at = scan(bytes, at + 1).map_or(bytes.len(), |string| string.end + 1),
            b' ' | b'\n' | b'\r' | b'\t' => {
                written.push_str(&json[copied..at]);
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    written.push_str(&json[copied..]);
    Cow::Owned(written)
}

#[cfg(test)]
mod tests {
    use super::{compact, decode, encode};
    use proptest::prelude::*;

    #[test]
    fn a_lone_surrogate_is_one_replacement_character() {
        assert_eq!(decode(r"a\ud800b\udc00"), "a\u{fffd}b\u{fffd}");
        assert_eq!(decode(r"\ud83d\ude00"), "😀");
    }

    #[test]
    fn what_is_no_escape_stands_as_it_is_written() {
        assert_eq!(decode(r"a\tb\x c"), "a\tb\\x c");
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_to_itself(text in any::<String>()) {
            let json = encode(&text);
            prop_assert_eq!(&serde_json::from_str::<String>(&json).unwrap(), &text);
            prop_assert_eq!(decode(&json[1..json.len() - 1]), text);
        }

        #[test]
        fn compacting_pretty_json_gives_what_serde_writes(keys in proptest::collection::vec(any::<String>(), 0..5)) {
            let value = serde_json::json!({ "list": keys, "n": 1 });
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(compact(&pretty), value.to_string());
        }
    }
}
