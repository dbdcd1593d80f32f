//! Server-sent events: bytes in, events out.

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name; empty where the stream gives none.
    pub name: String,
    /// Its data, lines joined.
    pub data: String,
}

/// Reads a stream of events in pieces of any size. It does no I/O, and where the pieces are cut makes no difference.
///
/// ```
/// use louver::sse::SseParser;
///
/// let mut parser = SseParser::default();
/// assert!(parser.push(b"event: ping\nda").is_empty());
/// let events = parser.push(b"ta: {}\n\n");
/// assert_eq!((events[0].name.as_str(), events[0].data.as_str()), ("ping", "{}"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct SseParser {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, so that a line feed right after it ends nothing.
    after_return: bool,
    /// Whether the first line has passed; a byte order mark may only stand before it.
    is_started: bool,
    name: String,
    data: String,
    has_data: bool,
}

impl SseParser {
    /// Takes the next bytes and returns the events that they complete. O(bytes).
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        for &byte in bytes {
            let is_second_half = byte == b'\n' && self.after_return;
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if is_second_half => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                other => self.line.push(other),
            }
        }
        events
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let bytes = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&bytes);
        let line = if self.is_started { &line } else { line.strip_prefix('\u{feff}').unwrap_or(&line) };
        self.is_started = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => self.add_data(value),
            // Comments, ids and retry times say nothing about the answer.
            _ => {}
        }
        None
    }

    fn add_data(&mut self, value: &str) {
        if self.has_data {
            self.data.push('\n');
        }
        self.has_data = true;
        self.data.push_str(value);
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        std::mem::take(&mut self.has_data).then_some(SseEvent { name, data })
    }
}
