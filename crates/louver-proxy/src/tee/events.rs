//! Server-sent events that pass by, without keeping them.

use super::json_fields::{Found, JsonFields, Path};

/// The one field of an event that is read.
const DATA: &[u8] = b"data";

/// A byte order mark.
const MARK: &[u8] = "\u{feff}".as_bytes();

/// Reads a stream of events in pieces of any size and finds the wanted values in each event's data. Where the pieces are
/// cut makes no difference, and an event may be of any size: nothing but the values is kept.
#[derive(Debug)]
pub(crate) struct Events {
    fields: JsonFields,
    line: Line,
    /// Whether the last byte was a carriage return, so that a line feed right after it ends nothing.
    after_return: bool,
    has_data: bool,
    /// Bytes of a byte order mark that may still come; only before the first line.
    mark: &'static [u8],
}

/// What is known of the current line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// So many bytes of `data`, and nothing else.
    Name(usize),
    /// Behind the colon; a space there is dropped.
    Colon,
    Data,
    /// Comments and other fields.
    Other,
}

impl Events {
    pub(crate) fn new(wanted: &'static [Path]) -> Self {
        Self { fields: JsonFields::new(wanted), line: Line::Name(0), after_return: false, has_data: false, mark: MARK }
    }

    /// Takes the next bytes and hands on what was found in each event that they complete. O(bytes).
    pub(crate) fn push(&mut self, mut bytes: &[u8], mut event: impl FnMut(Vec<Found>)) {
        while let Some(&byte) = bytes.first() {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            let taken = match byte {
                b'\n' if is_second_half => 1,
                b'\n' | b'\r' => {
                    if self.end_line() {
                        event(self.fields.finish());
                    }
                    1
                }
                _ => self.within_line(bytes),
            };
            bytes = &bytes[taken..];
        }
    }

    pub(crate) fn is_doubtful(&self) -> bool {
        self.fields.is_doubtful()
    }

    fn within_line(&mut self, bytes: &[u8]) -> usize {
        let byte = bytes[0];
        if let Some((first, rest)) = self.mark.split_first() {
            if byte == *first {
                self.mark = rest;
                return 1;
            }
            if self.mark.len() < MARK.len() {
                self.line = Line::Other;
            }
            self.mark = &[];
        }
        match self.line {
            Line::Name(known) if DATA.get(known) == Some(&byte) => {
                self.line = Line::Name(known + 1);
                1
            }
            Line::Name(known) if known == DATA.len() && byte == b':' => {
                self.begin_data();
                self.line = Line::Colon;
                1
            }
            Line::Name(_) => {
                self.line = Line::Other;
                1
            }
            Line::Colon => {
                self.line = Line::Data;
                usize::from(byte == b' ')
            }
            Line::Data | Line::Other => {
                let end = memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
                if self.line == Line::Data {
                    self.fields.push(&bytes[..end]);
                }
                end
            }
        }
    }

    fn begin_data(&mut self) {
        if self.has_data {
            self.fields.push(b"\n");
        }
        self.has_data = true;
    }

    /// Whether the line's end is the end of an event.
    fn end_line(&mut self) -> bool {
        self.mark = &[];
        let line = std::mem::replace(&mut self.line, Line::Name(0));
        match line {
            Line::Name(0) => return std::mem::take(&mut self.has_data),
            Line::Name(known) if known == DATA.len() => self.begin_data(),
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use louver::sse::SseParser;
    use proptest::prelude::*;

    const WANTED: &[Path] = &[&["type"], &["n"]];

    fn cut<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        let mut rest = bytes;
        for cut in cuts {
            let (piece, behind) = rest.split_at(cut % (rest.len() + 1));
            pieces.push(piece);
            rest = behind;
        }
        pieces.push(rest);
        pieces
    }

    fn by_events(bytes: &[u8], cuts: &[usize]) -> Vec<Vec<Found>> {
        let mut events = Events::new(WANTED);
        let mut all = Vec::new();
        for piece in cut(bytes, cuts) {
            events.push(piece, |found| all.push(found));
        }
        all
    }

    /// The same by way of the parser that keeps whole events.
    fn by_parser(bytes: &[u8]) -> Vec<Vec<Found>> {
        let of = |data: &str| {
            let mut fields = JsonFields::new(WANTED);
            fields.push(data.as_bytes());
            fields.finish()
        };
        SseParser::default().push(bytes).iter().map(|event| of(&event.data)).collect()
    }

    fn any_stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("data: "),
            Just("data:"),
            Just("data"),
            Just("dat"),
            Just(":"),
            Just(": ping"),
            Just("event: x"),
            Just("\n"),
            Just("\r"),
            Just("\r\n"),
            Just("\n\n"),
            Just(" "),
            Just(r#"{"type":"a","n":1}"#),
            Just(r#"{"type":"#),
            Just(r#""b"}"#),
            Just("[DONE]"),
            Just("\u{feff}"),
            Just("id: 3"),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn it_sees_what_the_whole_parser_sees_wherever_it_is_cut(
            stream in any_stream(), cuts in prop::collection::vec(0..60usize, 0..8),
        ) {
            prop_assert_eq!(by_events(&stream, &cuts), by_parser(&stream));
        }
    }

    #[test]
    fn an_event_of_megabytes_is_read_to_its_end() {
        let stream = format!("data: {{\"text\":\"{}\",\"n\":5}}\n\n", "x".repeat(3_000_000));
        assert_eq!(by_events(stream.as_bytes(), &[1000; 9]), [[Found { index: 1, value: b"5".to_vec() }]]);
    }
}
