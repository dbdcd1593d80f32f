//! The way from a string's opening quote to its closing one, measured as it goes.
//!
//! Most bytes of a conversation stand in long strings with an escape every few dozen bytes, so stopping at each escape
//! is what costs. A block of [`BLOCK`] bytes in which all escapes are common ones is measured without stopping: the
//! compiler turns that loop into vector code. The block with the closing quote and blocks with any other escape go word
//! by word. Short strings without escapes, keys above all, are found in a loop of their own that is small enough to
//! inline.

use super::error::{JsonError, Problem};
use super::escape::Escape;

const BLOCK: usize = 64;
pub(super) const WORD: usize = 8;

/// Strings of up to so many words are not worth a block.
const SHORT_WORDS: usize = 3;

/// A string up to its closing quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scanned {
    /// Where the closing quote stands.
    pub(super) end: usize,
    /// Unicode scalar values once escapes are resolved; a lone surrogate counts as one.
    pub(super) chars: u64,
    /// Characters that compact JSON has to escape again, beyond `chars`.
    pub(super) written_again: u64,
    /// Whether there is an escape.
    pub(super) has_escape: bool,
}

/// Passes the string whose first byte behind the opening quote is `start`. `bytes` must be UTF-8.
#[inline(always)]
pub(super) fn scan(bytes: &[u8], start: usize) -> Result<Scanned, JsonError> {
    let mut at = start;
    for _ in 0..SHORT_WORDS {
        let Some(word) = word_at(bytes, at) else {
            break;
        };
        let stops = special_bytes(word) | (word & HIGHS);
        if stops != 0 {
            let end = at + stops.trailing_zeros() as usize / 8;
            if bytes[end] == b'"' {
                return Ok(Scanned { end, chars: (end - start) as u64, written_again: 0, has_escape: false });
            }
            break;
        }
        at += WORD;
    }
    scan_any(bytes, start, at)
}

#[inline(always)]
pub(super) fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..).and_then(<[u8]>::first_chunk::<WORD>).map(|word| u64::from_le_bytes(*word))
}

/// Passes any string; up to `at` it is plain ASCII.
fn scan_any(bytes: &[u8], start: usize, at: usize) -> Result<Scanned, JsonError> {
    let mut scan = Scan { bytes, at, hidden: 0, written_again: 0, has_escape: false };
    scan.pass_blocks();
    while !scan.pass_words(scan.at + BLOCK)? {
        scan.pass_blocks();
    }
    let Scan { at: end, hidden, written_again, has_escape, .. } = scan;
    Ok(Scanned { end, chars: (end - start) as u64 - hidden, written_again, has_escape })
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bytes passed that are no characters of their own: inside of UTF-8 sequences and escapes.
    hidden: u64,
    written_again: u64,
    has_escape: bool,
}

impl Scan<'_> {
    /// Passes at least up to `limit` unless the string ends before. Says whether it stands at the closing quote.
    #[inline]
    fn pass_words(&mut self, limit: usize) -> Result<bool, JsonError> {
        while self.at < limit {
            let (mut at, mut hidden) = (self.at, 0);
            let special = loop {
                let Some(word) = word_at(self.bytes, at) else {
                    break None;
                };
                let special = special_bytes(word);
                if special != 0 {
                    let plain_bits = special.trailing_zeros() & !7;
                    hidden += continuation_bytes(word & !(u64::MAX << plain_bits));
                    break Some(at + plain_bits as usize / 8);
                }
                hidden += continuation_bytes(word);
                at += WORD;
            };
            self.hidden += hidden;
            self.at = special.unwrap_or(at);
            if special.is_none() {
                return self.pass_bytes();
            }
            if self.pass_special()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last bytes of the text.
    #[cold]
    fn pass_bytes(&mut self) -> Result<bool, JsonError> {
        while let Some(byte) = self.bytes.get(self.at) {
            if matches!(byte, b'"' | b'\\' | ..0x20) {
                if self.pass_special()? {
                    return Ok(true);
                }
            } else {
                self.hidden += u64::from(is_continuation(*byte));
                self.at += 1;
            }
        }
        Err(JsonError::new(Problem::UnexpectedEnd, self.bytes.len()))
    }

    /// At a quote, a backslash or a control character. Says whether it is the closing quote, which is not passed.
    #[inline]
    fn pass_special(&mut self) -> Result<bool, JsonError> {
        match self.bytes[self.at] {
            b'"' => return Ok(true),
            b'\\' => self.has_escape = true,
            _ => return Err(JsonError::new(Problem::Syntax("an escape instead of a control character"), self.at)),
        }
        if let Some(b'n' | b'"' | b'\\' | b't' | b'r') = self.bytes.get(self.at + 1) {
            self.hidden += 1;
            self.written_again += 1;
            self.at += 2;
        } else {
            self.pass_rare_escape()?;
        }
        Ok(false)
    }

    #[cold]
    fn pass_rare_escape(&mut self) -> Result<(), JsonError> {
        let rest = &self.bytes[self.at..];
        let Some(escape) = Escape::read(rest) else {
            let problem = if rest.len() < 6 { Problem::UnexpectedEnd } else { Problem::Syntax("a valid escape") };
            return Err(JsonError::new(problem, self.at));
        };
        self.hidden += escape.length as u64 - 1;
        self.written_again += escape.compact_chars() - 1;
        self.at += escape.length;
        Ok(())
    }

    /// Passes blocks as long as they hold nothing but text and common escapes.
    #[inline]
    fn pass_blocks(&mut self) {
        // A block looks back as far as three bytes to tell which backslashes start an escape.
        if self.bytes[..self.at].ends_with(br"\\\") {
            return;
        }
        while let Some(start) = self.at.checked_sub(LOOK_BACK)
            && let Some(window) = self.bytes.get(start..).and_then(<[u8]>::first_chunk::<WINDOW>)
            && let Some(Counts { escapes, continuations }) = count_common(window)
        {
            self.has_escape |= escapes > 0;
            self.hidden += u64::from(escapes) + u64::from(continuations);
            self.written_again += u64::from(escapes);
            self.at += BLOCK;
        }
        self.step_out_of_escape();
    }

    /// Goes back to the backslash where the last block ended between it and the byte that it escapes.
    #[inline]
    fn step_out_of_escape(&mut self) {
        let backslashes = self.bytes[..self.at].iter().rev().take(LOOK_BACK).take_while(|byte| **byte == b'\\');
        self.at -= backslashes.count() % 2;
    }
}

/// How far back a block has to look. Longer runs of backslashes are not common.
const LOOK_BACK: usize = 3;
const WINDOW: usize = BLOCK + LOOK_BACK;

/// What a block holds.
struct Counts {
    /// Escapes whose second byte stands in the block.
    escapes: u8,
    continuations: u8,
}

/// Counts what is in the block behind the first [`LOOK_BACK`] bytes, unless the string ends there or has a control
/// character or an escape other than the common ones: `\n`, `\"`, `\t`, `\r` and up to three backslashes in a row.
///
/// Branch-free on purpose: this loop vectorises. (One that keeps a count per lane does not, and takes three times as
/// long.)
#[inline]
fn count_common(window: &[u8; WINDOW]) -> Option<Counts> {
    let (mut odd, mut escapes, mut continuations) = (0u8, 0u8, 0u8);
    for at in LOOK_BACK..WINDOW {
        let byte = window[at];
        let is_quote = byte == b'"';
        // One comparison finds quotes and control characters.
        let is_special = byte ^ 0x02 <= 0x20;
        let is_backslash = byte == b'\\';
        let (one, two, three) = (window[at - 1] == b'\\', window[at - 2] == b'\\', window[at - 3] == b'\\');
        let is_escaped = one & (!two | three);
        // The fourth of a run of backslashes is not common.
        let is_common = is_quote | (byte == b'n') | (byte == b't') | (byte == b'r') | (is_backslash & !three);
        let is_odd = (is_special & !is_escaped) | (is_escaped & !is_common);
        odd |= u8::from(is_odd);
        escapes += u8::from(is_escaped);
        continuations += u8::from(is_continuation(byte));
    }
    (odd == 0).then_some(Counts { escapes, continuations })
}

const ONES: u64 = u64::MAX / 255;
const HIGHS: u64 = ONES << 7;

/// The high bit of each quote, backslash and control character; exact up to the first one.
#[inline]
pub(super) fn special_bytes(word: u64) -> u64 {
    let quote = word ^ (ONES * b'"' as u64);
    let backslash = word ^ (ONES * b'\\' as u64);
    let is_zero = |word: u64| word.wrapping_sub(ONES) & !word;
    (is_zero(quote) | is_zero(backslash) | (word.wrapping_sub(ONES * 0x20) & !word)) & HIGHS
}

/// How many bytes of the word are inside of a UTF-8 sequence.
#[inline]
fn continuation_bytes(word: u64) -> u64 {
    let high = word & HIGHS;
    if high == 0 {
        return 0;
    }
    ((high & !(word << 1)) >> 7).wrapping_mul(ONES) >> 56
}

#[inline]
fn is_continuation(byte: u8) -> bool {
    byte.cast_signed() < -64
}

#[cfg(test)]
mod tests {
    use super::{Scanned, scan};
    use crate::json::text::{decode, encode};
    use proptest::prelude::*;

    /// The same figures, one character after the other.
    fn expected(inner: &str) -> Scanned {
        let decoded = decode(inner);
        let compact = serde_json::to_string(&decoded).unwrap().chars().count() as u64 - 2;
        let chars = decoded.chars().count() as u64;
        Scanned { end: inner.len() + 1, chars, written_again: compact - chars, has_escape: inner.contains('\\') }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just(r"\n".to_owned()),
            Just(r#"\""#.to_owned()),
            Just(r"\\".to_owned()),
            Just(r"\t".to_owned()),
            Just(r"\/".to_owned()),
            Just(r"\b".to_owned()),
            Just(r"\u00e9".to_owned()),
            Just(r"\u001f".to_owned()),
            Just(r"\ud83d\ude00".to_owned()),
            "[a-z n]{1,70}",
            "[é日😀\u{7f}]{1,9}",
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_string_is_measured_as_its_decoded_text(inner in pieces(), behind in "[ -~]{0,20}") {
            let json = format!("\"{inner}\"{behind}");
            prop_assert_eq!(scan(json.as_bytes(), 1).unwrap(), expected(&inner));
        }

        #[test]
        fn any_text_that_is_encoded_is_measured(text in any::<String>()) {
            let json = encode(&text);
            prop_assert_eq!(scan(json.as_bytes(), 1).unwrap(), expected(&json[1..json.len() - 1]));
        }

        #[test]
        fn a_fault_is_found_where_it_stands(inner in pieces(), control in 0u8..0x20) {
            let json = format!("\"{inner}{}{}\"", char::from(control), "x".repeat(100));
            prop_assert_eq!(scan(json.as_bytes(), 1).unwrap_err().offset(), inner.len() + 1);
            let json = format!("\"{inner}\\x{}\"", "x".repeat(100));
            prop_assert_eq!(scan(json.as_bytes(), 1).unwrap_err().offset(), inner.len() + 1);
            let open = format!("\"{inner}");
            prop_assert_eq!(scan(open.as_bytes(), 1).unwrap_err().offset(), open.len());
        }
    }
}
