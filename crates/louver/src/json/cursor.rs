//! The one pass: a cursor that checks, skips and measures.

use super::error::{JsonError, MAX_DEPTH, Problem};
use super::scan::{Scanned, scan};
use super::text;
use std::borrow::Cow;

/// Where a value stands, in bytes from the start of its message. The empty span at 0 means "there is none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Whether there is nothing here.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Length in bytes.
    #[must_use]
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// The text it stands for in `raw`, empty where it does not fit.
    #[must_use]
    pub fn of(self, raw: &str) -> &str {
        raw.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// The six kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number, as spelled.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The kind with its article, for error messages.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// A string that the cursor has passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Str {
    /// The string with its quotes.
    pub span: Span,
    /// Its Unicode scalar values once escapes are resolved; a lone surrogate counts as one.
    pub chars: u32,
}

impl Str {
    /// The text between the quotes, escapes as written.
    #[must_use]
    pub fn inner(self) -> Span {
        Span { start: self.span.start + 1, end: self.span.end - 1 }
    }
}

/// A position in a JSON text. Every method passes exactly one value and fails at the first byte that is not JSON.
#[derive(Debug)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Spans are relative to this.
    base: usize,
    depth: usize,
    /// Characters of everything passed so far, written as compact JSON.
    compact: u64,
}

impl<'a> Cursor<'a> {
    /// Stands before the first value of `text`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, base: 0, depth: 0, compact: 0 }
    }

    /// Makes the next value the origin of all spans and returns where it starts in the text.
    pub fn rebase(&mut self) -> usize {
        self.skip_whitespace();
        self.base = self.at;
        self.at
    }

    /// The whole text.
    #[must_use]
    pub fn source(&self) -> &'a str {
        self.text
    }

    /// Bytes passed so far.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Characters passed so far, as compact JSON would write them.
    #[must_use]
    pub fn compact_chars(&self) -> u64 {
        self.compact
    }

    /// The span from `start` (an [`offset`](Self::offset)) to here, relative to the base.
    #[must_use]
    pub fn span_from(&self, start: usize) -> Span {
        Span { start: clamp(start.saturating_sub(self.base)), end: clamp(self.at.saturating_sub(self.base)) }
    }

    /// The text at a span that this cursor made.
    #[must_use]
    pub fn raw(&self, span: Span) -> &'a str {
        span.of(self.text.get(self.base..).unwrap_or(""))
    }

    /// The kind of the next value, which is not passed.
    #[inline]
    pub fn kind(&mut self) -> Result<Kind, JsonError> {
        self.skip_whitespace();
        match self.peek() {
            Some(b'"') => Ok(Kind::String),
            Some(b'{') => Ok(Kind::Object),
            Some(b'[') => Ok(Kind::Array),
            Some(b'n') => Ok(Kind::Null),
            Some(b't' | b'f') => Ok(Kind::Bool),
            Some(b'-' | b'0'..=b'9') => Ok(Kind::Number),
            _ => Err(self.syntax("a value")),
        }
    }

    /// Passes a string.
    #[inline]
    pub fn string(&mut self) -> Result<Str, JsonError> {
        self.expect(Kind::String)?;
        let start = self.at;
        let Quoted { chars, .. } = self.quoted()?;
        Ok(Str { span: self.span_from(start), chars: u32::try_from(chars).unwrap_or(u32::MAX) })
    }

    /// Passes a string and returns its text.
    pub fn text(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.expect(Kind::String)?;
        let Quoted { inner, has_escape, .. } = self.quoted()?;
        Ok(if has_escape { text::decode(inner) } else { Cow::Borrowed(inner) })
    }

    /// Passes any value and returns where it stands.
    pub fn skip(&mut self) -> Result<Span, JsonError> {
        self.kind()?;
        let start = self.at;
        self.pass_value()?;
        Ok(self.span_from(start))
    }

    /// Passes so many bytes that were read before, as one value; they are not counted again.
    pub(crate) fn pass_over(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Passes an object. `member` gets each key and must pass its value.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&str, &mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.expect(Kind::Object)?;
        self.enter()?;
        if self.leave_if(b'}') {
            return Ok(());
        }
        loop {
            let key = self.key()?;
            let decoded;
            let key = if key.has_escape {
                decoded = text::decode(key.inner);
                &*decoded
            } else {
                key.inner
            };
            member(key, self).map_err(|error| error.inside_key(key))?;
            if !self.next_or_leave(b'}', "`,` or `}`")? {
                return Ok(());
            }
        }
    }

    /// Passes an array. `element` gets each index and must pass its value.
    pub fn array(
        &mut self,
        mut element: impl FnMut(usize, &mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.expect(Kind::Array)?;
        self.enter()?;
        if self.leave_if(b']') {
            return Ok(());
        }
        for index in 0.. {
            element(index, self).map_err(|error| error.inside_index(index))?;
            if !self.next_or_leave(b']', "`,` or `]`")? {
                break;
            }
        }
        Ok(())
    }

    /// Checks that nothing but white space is left.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        self.skip_whitespace();
        if self.at == self.text.len() { Ok(()) } else { Err(self.syntax("the end of the text")) }
    }

    /// An error about the shape of the next value.
    #[cold]
    pub fn unexpected(&mut self, expected: &str) -> JsonError {
        match self.kind() {
            Ok(kind) => JsonError::shape(format!("expected {expected}, found {}", kind.describe()), self.at),
            Err(error) => error,
        }
    }

    /// Fails unless the next value is of this kind.
    #[inline]
    pub fn expect(&mut self, kind: Kind) -> Result<(), JsonError> {
        if self.kind()? == kind { Ok(()) } else { Err(self.unexpected(kind.describe())) }
    }

    #[inline]
    fn key(&mut self) -> Result<Quoted<'a>, JsonError> {
        self.skip_whitespace();
        if self.peek() != Some(b'"') {
            return Err(self.syntax("a key in quotes"));
        }
        let key = self.quoted()?;
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.syntax("`:`"));
        }
        self.punctuation();
        Ok(key)
    }

    #[inline]
    fn enter(&mut self) -> Result<(), JsonError> {
        if self.depth == MAX_DEPTH {
            return Err(JsonError::new(Problem::TooDeep, self.at));
        }
        self.depth += 1;
        self.punctuation();
        Ok(())
    }

    #[inline]
    fn leave_if(&mut self, close: u8) -> bool {
        self.skip_whitespace();
        let closes = self.peek() == Some(close);
        if closes {
            self.depth -= 1;
            self.punctuation();
        }
        closes
    }

    /// After an element: passes a comma and says there is more, or passes the closing bracket and says there is not.
    #[inline]
    fn next_or_leave(&mut self, close: u8, expected: &'static str) -> Result<bool, JsonError> {
        if self.leave_if(close) {
            return Ok(false);
        }
        if self.peek() != Some(b',') {
            return Err(self.syntax(expected));
        }
        self.punctuation();
        Ok(true)
    }

    /// Recursion is bounded by [`MAX_DEPTH`].
    fn pass_value(&mut self) -> Result<(), JsonError> {
        match self.kind()? {
            Kind::String => self.quoted().map(drop),
            Kind::Object => self.object(|_, cursor| cursor.pass_value()),
            Kind::Array => self.array(|_, cursor| cursor.pass_value()),
            Kind::Number => self.number(),
            Kind::Null => self.literal("null"),
            Kind::Bool if self.peek() == Some(b't') => self.literal("true"),
            Kind::Bool => self.literal("false"),
        }
    }

    fn literal(&mut self, word: &'static str) -> Result<(), JsonError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.syntax("a value"));
        }
        self.at += word.len();
        self.compact += word.len() as u64;
        Ok(())
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        self.pass_if(|byte| byte == b'-');
        if !self.pass_if(|byte| byte == b'0') && self.digits() == 0 {
            return Err(self.syntax("a digit"));
        }
        if self.pass_if(|byte| byte == b'.') && self.digits() == 0 {
            return Err(self.syntax("a digit"));
        }
        if self.pass_if(|byte| matches!(byte, b'e' | b'E')) {
            self.pass_if(|byte| matches!(byte, b'+' | b'-'));
            if self.digits() == 0 {
                return Err(self.syntax("a digit"));
            }
        }
        self.compact += (self.at - start) as u64;
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += digits;
        digits
    }

    fn pass_if(&mut self, wanted: impl Fn(u8) -> bool) -> bool {
        let passed = self.peek().is_some_and(wanted);
        self.at += usize::from(passed);
        passed
    }

    /// Passes a string that starts here, measuring it.
    #[inline]
    fn quoted(&mut self) -> Result<Quoted<'a>, JsonError> {
        let start = self.at + 1;
        let Scanned { end, chars, written_again, has_escape } = scan(self.text.as_bytes(), start)?;
        self.at = end + 1;
        self.compact += chars + written_again + 2;
        Ok(Quoted { inner: &self.text[start..end], chars, has_escape })
    }

    #[inline]
    fn punctuation(&mut self) {
        self.at += 1;
        self.compact += 1;
    }

    #[inline]
    fn skip_whitespace(&mut self) {
        // Most JSON on the wire has none between its tokens, and every token starts above the space.
        if self.peek() <= Some(b' ') {
            self.skip_whitespace_run();
        }
    }

    fn skip_whitespace_run(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[cold]
    fn syntax(&self, expected: &'static str) -> JsonError {
        let is_end = self.at >= self.text.len();
        JsonError::new(if is_end { Problem::UnexpectedEnd } else { Problem::Syntax(expected) }, self.at)
    }
}

/// A string that was passed.
struct Quoted<'a> {
    /// The text between the quotes, escapes as written.
    inner: &'a str,
    chars: u64,
    has_escape: bool,
}

/// Bodies are bounded far below 4 GiB; a span beyond saturates instead of wrapping.
fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Cursor, MAX_DEPTH};
    use proptest::prelude::*;

    fn pass(text: &str) -> Result<(u64, usize), super::JsonError> {
        let mut cursor = Cursor::new(text);
        let span = cursor.skip()?;
        cursor.finish()?;
        Ok((cursor.compact_chars(), span.len()))
    }

    #[test]
    fn what_serde_refuses_is_refused() {
        let broken = [
            "",
            " ",
            "{",
            "[",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{a:1}",
            "nul",
            "tru",
            "01",
            "1.",
            "-",
            "1e",
            ".5",
            "+1",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "[1 2]",
            "1 2",
            "]",
            "\u{feff}1",
            "'a'",
            "NaN",
            "[\"a\" \"b\"]",
            "{\"a\" 1}",
            "// c\n1",
        ];
        for text in broken {
            assert!(serde_json::from_str::<serde_json::Value>(text).is_err(), "{text:?}");
            assert!(pass(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_not_a_crash() {
        let deep = "[".repeat(10_000);
        assert!(pass(&deep).unwrap_err().to_string().contains("nested deeper"));
        let fine = format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH));
        assert!(pass(&fine).is_ok());
    }

    #[test]
    fn a_string_counts_its_characters_not_its_spelling() {
        for (raw, chars) in [
            (r#""""#, 0),
            (r#""abc""#, 3),
            (r#""a\nb""#, 3),
            (r#""\u00e9""#, 1),
            (r#""é""#, 1),
            (r#""\ud83d\ude00""#, 1),
            (r#""\ud83d""#, 1),
            (r#""\ud83dx""#, 2),
            (r#""😀""#, 1),
        ] {
            assert_eq!(Cursor::new(raw).string().unwrap().chars, chars, "{raw}");
        }
    }

    proptest! {
        #[test]
        fn any_json_is_passed_whole_and_measured_as_serde_writes_it(value in any_json()) {
            let compact = serde_json::to_string(&value).unwrap();
            let pretty = serde_json::to_string_pretty(&value).unwrap();
            let expected = compact.chars().count() as u64;
            prop_assert_eq!(pass(&compact).unwrap(), (expected, compact.len()));
            prop_assert_eq!(pass(&pretty).unwrap(), (expected, pretty.len()));
        }

        #[test]
        fn any_bytes_agree_with_serde_on_what_is_json(text in "[\\[\\]{}:,\"\\\\a-z0-9 .eE+-]{0,24}") {
            let serde = serde_json::from_str::<serde_json::Value>(&text);
            // serde_json refuses numbers that overflow f64; a spelling is all we keep.
            let out_of_range = serde.as_ref().is_err_and(|error| error.to_string().contains("number out of range"));
            prop_assert!(out_of_range || serde.is_ok() == pass(&text).is_ok());
        }
    }

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::Array),
                proptest::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
