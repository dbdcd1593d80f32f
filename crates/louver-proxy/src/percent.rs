//! Texts inside of addresses and cookies, where some characters stand for something else.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What stands for something else, or might.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as it was before it was written into an address.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// A text as it can stand in an address or a cookie.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn what_was_encoded_is_decoded() {
        for text in ["plain-text_0.~", "a+b/c==", "100%41; x=\"y\"", "ä 日本語 🦀", ""] {
            let written = encoded(text);
            assert!(written.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)), "{written}");
            assert_eq!(decoded(&written), text);
        }
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(decoded("100%&%zz%f+%C3%A4"), "100%&%zz%f+ä");
    }
}
