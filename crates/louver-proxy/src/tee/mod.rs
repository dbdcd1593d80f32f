//! Reads along what an answer says about itself, while it passes.
//!
//! Bytes in, facts out, no I/O; where the bytes are cut makes no difference. A file per wire format says where in its
//! answers the facts stand.

mod anthropic;
mod events;
mod gemini;
mod json_fields;
mod openai_chat;
mod openai_responses;
mod usage;

use crate::coding::{Coding, Decoder};
use crate::ending::{AnswerUsage, ErrorSaid, Said};
use events::Events;
use http::{HeaderMap, header};
use json_fields::{Found, JsonFields, Path};
use louver::Format;
use louver::refusal::ErrorText;
use serde_json::Value;
use std::io::{self, Write};

/// How much one piece of a compressed answer may expand to before it is doubted.
const MAX_EXPANDED: usize = 16 * 1024 * 1024;

/// What a value at a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// The kind of an event.
    Kind,
    Id,
    Model,
    Stop,
    Usage,
    /// An error object, or its text.
    Error,
    /// Code and message of an event that is itself an error.
    ErrorCode,
    ErrorMessage,
}

/// Where the facts stand in the answers of one format.
#[derive(Debug)]
struct Reading {
    paths: &'static [Path],
    /// The meaning of each path.
    meanings: &'static [Meaning],
    /// Kinds of events that come before any content.
    leading: &'static [&'static str],
    /// Kinds of events that say that the answer failed.
    failing: &'static [&'static str],
    /// Puts a usage object into the figures.
    usage: fn(&Value, &mut AnswerUsage),
}

fn reading(format: Format) -> &'static Reading {
    match format {
        Format::Anthropic => &anthropic::READING,
        Format::OpenAiChat => &openai_chat::READING,
        Format::OpenAiResponses => &openai_responses::READING,
        Format::Gemini => &gemini::READING,
    }
}

/// The first thing in a stream that matters to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FirstReal {
    Content,
    Failed(ErrorText),
}

/// Reads along one answer.
#[derive(Debug)]
pub(crate) struct Tee {
    decoder: Option<Decoder<Reader>>,
}

impl Tee {
    /// For an answer with these headers. Where they name a type or a coding that is not known, nothing is read.
    pub(crate) fn new(format: Format, headers: &HeaderMap) -> Self {
        let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
        let kind = text(header::CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let scan = if kind.starts_with("text/event-stream") {
            Scan::Events(Events::new(reading(format).paths))
        } else if kind.contains("json") {
            Scan::Whole(JsonFields::new(reading(format).paths))
        } else {
            Scan::Nothing
        };
        let reader = Reader { reading: reading(format), scan, said: Said::default(), first_real: None, room: 0 };
        let coding = Coding::of(headers).ok();
        Self { decoder: coding.and_then(|coding| Decoder::new(coding, reader).ok()) }
    }

    /// Takes the next bytes as they came. O(bytes), decoded.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let Some(decoder) = &mut self.decoder else { return };
        if let Some(reader) = decoder.sink() {
            reader.room = MAX_EXPANDED;
        }
        let is_read = decoder.write_all(bytes).and_then(|()| decoder.flush()).is_ok();
        if let Some(reader) = decoder.sink().filter(|_| !is_read) {
            reader.said.is_doubtful = true;
            reader.scan = Scan::Nothing;
        }
    }

    /// Whether the answer is a stream of events.
    pub(crate) fn is_stream(&mut self) -> bool {
        matches!(self.reader(), Some(Reader { scan: Scan::Events(_), .. }))
    }

    /// The first event of a stream that matters, once it is there.
    pub(crate) fn first_real(&mut self) -> Option<FirstReal> {
        self.reader()?.first_real.clone()
    }

    /// What the answer has said.
    pub(crate) fn finish(mut self) -> Said {
        let Some(reader) = self.reader() else { return Said { is_doubtful: true, ..Said::default() } };
        reader.end();
        std::mem::take(&mut reader.said)
    }

    fn reader(&mut self) -> Option<&mut Reader> {
        self.decoder.as_mut()?.sink()
    }
}

#[derive(Debug)]
enum Scan {
    Events(Events),
    Whole(JsonFields),
    Nothing,
}

/// Decoded bytes in, facts out.
#[derive(Debug)]
struct Reader {
    reading: &'static Reading,
    scan: Scan,
    said: Said,
    first_real: Option<FirstReal>,
    /// How many decoded bytes it still takes of the current piece.
    room: usize,
}

impl Write for Reader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room = self.room.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("it expands too far"))?;
        self.read(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Reader {
    fn read(&mut self, bytes: &[u8]) {
        let Self { reading, scan, said, first_real, .. } = self;
        match scan {
            Scan::Events(events) => {
                events.push(bytes, |found| take_event(reading, found, said, first_real));
                said.is_doubtful |= events.is_doubtful();
            }
            Scan::Whole(fields) => {
                fields.push(bytes);
                said.is_doubtful |= fields.is_doubtful();
                take(reading, fields.take_found(), said);
            }
            Scan::Nothing => {}
        }
    }

    fn end(&mut self) {
        if let Scan::Whole(fields) = &mut self.scan {
            take(self.reading, fields.finish(), &mut self.said);
        }
    }
}

fn take_event(reading: &Reading, found: Vec<Found>, said: &mut Said, first_real: &mut Option<FirstReal>) {
    let heard = take(reading, found, said);
    if first_real.is_none() {
        *first_real = match heard {
            Heard { error: Some(error), .. } => Some(FirstReal::Failed(error)),
            Heard { kind: Some(kind), .. } if reading.leading.contains(&kind.as_str()) => None,
            _ => Some(FirstReal::Content),
        };
    }
}

/// What one event or answer says about its kind and its failure.
#[derive(Default)]
struct Heard {
    kind: Option<String>,
    error: Option<ErrorText>,
}

fn take(reading: &Reading, found: Vec<Found>, said: &mut Said) -> Heard {
    let mut heard = Heard::default();
    let mut own_error = ErrorText::default();
    for Found { index, value } in found {
        let Ok(value) = serde_json::from_slice::<Value>(&value) else {
            said.is_doubtful = true;
            continue;
        };
        match (reading.meanings[index], value) {
            (_, Value::Null) => {}
            (Meaning::Kind, Value::String(kind)) => heard.kind = Some(kind),
            (Meaning::Id, Value::String(id)) => said.response_id = Some(id),
            (Meaning::Model, Value::String(model)) => said.model = Some(model),
            (Meaning::Stop, Value::String(stop)) => said.stop_reason = Some(stop),
            (Meaning::Usage, usage) => (reading.usage)(&usage, said.usage.get_or_insert_default()),
            (Meaning::Error, error) => heard.error = Some(ErrorText::of_value(&error)),
            (Meaning::ErrorCode, Value::String(code)) => own_error.code = code,
            (Meaning::ErrorMessage, Value::String(message)) => own_error.message = message,
            _ => {}
        }
    }
    let is_failing = heard.kind.as_deref().is_some_and(|kind| reading.failing.contains(&kind));
    if heard.error.is_none() && is_failing {
        heard.error = Some(own_error);
    }
    if let Some(error) = &heard.error {
        said.error = Some(ErrorSaid { code: error.code.clone() });
    }
    heard
}

#[cfg(test)]
mod tests;
