//! A text of our own as it is recorded: word by word, in little memory.

use super::pieces::{Earlier, Pieces};
use super::quotes::{Places, Quotes};
use crate::wire::Message;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A shorter text is kept as it is.
const SHORTEST_TEXT: usize = 256;

/// The text of a message of our own, word by word. A window keeps every page that was ever sent, and this takes a
/// fraction of their bytes; it says the same wherever it is read, cloned, compared or serialised.
///
/// ```
/// use louver::window::RecordedText;
///
/// let text = RecordedText::from("as it was sent");
/// assert_eq!((&*text.read(), text.len(), text.is_empty()), ("as it was sent", 14, false));
/// assert_eq!(serde_json::to_string(&text).unwrap(), r#""as it was sent""#);
/// ```
#[derive(Clone)]
pub struct RecordedText(Form);

#[derive(Clone)]
enum Form {
    Text(Box<str>),
    /// What is sent, as long as it is.
    Message(Arc<Message>),
    Pieces(Arc<Pieces>),
}

impl RecordedText {
    /// The text, to the byte. O(its bytes).
    #[must_use]
    pub fn read(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Text(text) => Cow::Borrowed(text),
            Form::Message(message) => Cow::Borrowed(message.raw()),
            // The same bytes: they were compared when the pieces were made.
            Form::Pieces(pieces) => Cow::Owned(String::from_utf8(pieces.read()).unwrap_or_default()),
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Text(text) => text.len(),
            Form::Message(message) => message.raw().len(),
            Form::Pieces(pieces) => pieces.len(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a message in little memory, where there is a way: it may repeat an earlier text, and what it quotes
    /// stands in messages that are kept anyway. And where its quotes stand. O(its bytes and those of the earlier one).
    pub(super) fn of(message: &Arc<Message>, earlier: Option<Earlier<'_>>, quotes: &Quotes<'_>) -> (Self, Places) {
        if message.raw().len() < SHORTEST_TEXT {
            return (message.into(), Places::default());
        }
        let (pieces, places) = Pieces::of(message.raw(), earlier, quotes);
        let text = pieces.map_or_else(|| message.into(), |pieces| Self(Form::Pieces(Arc::new(pieces))));
        (text, places)
    }

    /// How many texts of pieces have to be read for this one.
    pub(super) fn depth(&self) -> u8 {
        match &self.0 {
            Form::Pieces(pieces) => pieces.depth(),
            Form::Text(_) | Form::Message(_) => 0,
        }
    }
}

impl From<&str> for RecordedText {
    fn from(text: &str) -> Self {
        Self(Form::Text(text.into()))
    }
}

impl From<&Arc<Message>> for RecordedText {
    fn from(message: &Arc<Message>) -> Self {
        Self(Form::Message(Arc::clone(message)))
    }
}

impl fmt::Debug for RecordedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.read(), f)
    }
}

impl PartialEq for RecordedText {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.read() == other.read()
    }
}

impl Eq for RecordedText {}

impl PartialEq<str> for RecordedText {
    fn eq(&self, other: &str) -> bool {
        self.len() == other.len() && self.read() == other
    }
}

impl Serialize for RecordedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.read())
    }
}

impl<'de> Deserialize<'de> for RecordedText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Form::Text(text.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::plan::Source;
    use crate::tokens::{CounterChoice, Millitokens};
    use crate::view::{Entry, SyntheticKind};
    use crate::window::{Event, Origin, Record, Window, WindowConfig};
    use crate::wire::{Format, Role};
    use proptest::prelude::*;

    const FORMATS: [Format; 4] = [Format::Anthropic, Format::OpenAiChat, Format::OpenAiResponses, Format::Gemini];

    /// What a text takes beside messages that are kept anyway.
    fn held_bytes(text: &RecordedText) -> usize {
        match &text.0 {
            Form::Pieces(pieces) => pieces.held_bytes(),
            Form::Text(_) | Form::Message(_) => text.len(),
        }
    }

    /// A call and its result, whose lines have escapes of every kind, some of them not as we would write them.
    fn turn(format: Format, number: usize) -> [String; 2] {
        let line = |at: usize| match at % 4 {
            0 => format!(r"\tlet value_{number}_{at} = self.field_{number}.get(index); // Größe → naïve"),
            1 => format!(
                r#"\"key_{number}_{at}\": \"caf\u00e9 \ud83d\ude00 in src\/part_{number}\/file_{at}.rs, line 1234\","#
            ),
            2 => {
                format!(r"src/part_{number}/file_{at}.rs:{at}: see module_{number}.item_{at} 😀 C:\\dir_{number}\\new")
            }
            _ => r"the reader returns an error with the path of the value".to_owned(),
        };
        let text = (0..60).map(line).collect::<Vec<_>>().join(r"\n");
        let path = format!("src/part_{number}/mod.rs");
        match format {
            Format::Anthropic => [
                format!(
                    r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{number}","name":"read","input":{{"path":"{path}"}}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"{text}"}}]}}"#
                ),
            ],
            Format::OpenAiChat => [
                format!(
                    r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"t{number}","type":"function","function":{{"name":"read","arguments":"{{\"path\":\"{path}\"}}"}}}}]}}"#
                ),
                format!(r#"{{"role":"tool","tool_call_id":"t{number}","content":"{text}"}}"#),
            ],
            Format::OpenAiResponses => [
                format!(
                    r#"{{"type":"function_call","call_id":"t{number}","name":"read","arguments":"{{\"path\":\"{path}\"}}"}}"#
                ),
                format!(r#"{{"type":"function_call_output","call_id":"t{number}","output":"{text}"}}"#),
            ],
            Format::Gemini => [
                format!(
                    r#"{{"role":"model","parts":[{{"functionCall":{{"name":"read","args":{{"path":"{path}"}}}}}}]}}"#
                ),
                format!(
                    r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"read","response":{{"output":"{text}"}}}}}}]}}"#
                ),
            ],
        }
    }

    fn lived(format: Format) -> (Window, Vec<String>) {
        let mut config = WindowConfig::new(format, "ladder".parse().unwrap()).with_model(None, CounterChoice::Chars4);
        config.budget = Some(Budget::new(64_000, None).unwrap());
        let mut window = Window::new(config).unwrap();
        let task = Message::synthetic(format, Role::User, "Mend what is broken.").unwrap();
        window.push(task);
        let mut sent = Vec::new();
        for number in 0..300 {
            for raw in turn(format, number) {
                window.push_raw(&raw).unwrap();
            }
            if window.fit().unwrap().is_cut() {
                let is_ledger = |origin| origin == Origin::Synthetic(SyntheticKind::Ledger);
                let ledger = window.view().iter().find(|sent| is_ledger(sent.origin)).unwrap();
                sent.push(ledger.message.raw().to_owned());
            }
        }
        (window, sent)
    }

    /// The texts of all ledgers that were recorded.
    fn ledgers(window: &Window) -> Vec<&RecordedText> {
        let decisions = window.events().iter().filter_map(|(_, event)| match event {
            Event::Fitted(decision) => decision.as_deref(),
            _ => None,
        });
        let ours = decisions.flat_map(|decision| decision.synthetics.iter().flatten());
        ours.filter(|ours| ours.kind == SyntheticKind::Ledger).map(|ours| &ours.raw).collect()
    }

    #[test]
    fn every_page_that_was_sent_comes_back_to_the_byte_from_a_fraction_of_them() {
        for format in FORMATS {
            let (window, sent) = lived(format);
            assert!(sent.len() > 15, "{format:?}: {} cuts", sent.len());
            let lines: Vec<String> =
                window.records_since(0).map(|record| serde_json::to_string(&record).unwrap()).collect();
            let records = || lines.iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
            let opened = Window::open(window.config().clone(), records()).unwrap();
            let restored = Window::restore(window.config().clone(), window.log()).unwrap();
            for window in [&window, &window.clone(), &opened, &restored] {
                let recorded = ledgers(window);
                assert_eq!(recorded.iter().map(|text| text.read()).collect::<Vec<_>>(), sent, "{format:?}");
                let (bytes, held) =
                    recorded.iter().fold((0, 0), |(bytes, held), text| (bytes + text.len(), held + held_bytes(text)));
                assert!(held * 2 < bytes, "{format:?}: {held} of {bytes}");
                let again = window.records_since(0).map(|record| serde_json::to_string(&record).unwrap());
                assert!(again.eq(lines.iter().cloned()), "{format:?}");
            }
            assert_eq!(opened.events(), window.events());
        }
    }

    fn entries(raws: &[String]) -> Vec<Entry> {
        let entry = |raw: &String| {
            let message = Arc::new(Message::synthetic(Format::Anthropic, Role::User, raw).unwrap());
            let none = Millitokens::ZERO;
            Entry { message, edited: None, counted: none, amount: none, is_evicted: false }
        };
        raws.iter().map(entry).collect()
    }

    /// A text of lines of messages and words of our own; a line may be said to come from a message that never said it.
    fn page(lines: &[(usize, usize, bool)], said: &[String]) -> (String, Vec<Source>) {
        let (mut text, mut sources) = ("a page of our own words, and what others said:\n".to_owned(), Vec::new());
        for (message, line, is_right) in lines {
            let quote = said[*message].lines().nth(*line).unwrap_or_default();
            text.push_str(&format!("[{line}] "));
            let message = if *is_right { *message } else { *line };
            sources.push(Source { range: text.len()..text.len() + quote.len(), message });
            text.push_str(quote);
            text.push('\n');
        }
        (text, sources)
    }

    proptest! {
        #[test]
        fn whatever_is_quoted_reads_back(
            said in proptest::collection::vec("([a-d\"\\\\é😀\t]{0,40}\n){1,5}", 1..6),
            pages in proptest::collection::vec(proptest::collection::vec((0..6_usize, 0..5_usize, any::<bool>()), 0..30), 1..20),
        ) {
            let entries = entries(&said);
            let mut earlier: Option<(RecordedText, Arc<Message>, Places)> = None;
            for lines in pages {
                let lines: Vec<_> = lines.into_iter().map(|(m, line, is)| (m % said.len(), line, is)).collect();
                let (text, sources) = page(&lines, &said);
                let message = Arc::new(Message::synthetic(Format::Anthropic, Role::Assistant, &text).unwrap());
                let text_start = message.shape().parts[0].text.start as usize + 1;
                let quotes = Quotes { text_start, sources: &sources, entries: &entries };
                let before = earlier.as_ref().map(|(recorded, message, places)| {
                    Earlier { recorded, text: message.raw(), places }
                });
                let (recorded, places) = RecordedText::of(&message, before, &quotes);
                prop_assert_eq!(recorded.read(), message.raw());
                prop_assert_eq!(recorded.len(), message.raw().len());
                earlier = Some((recorded, message, places));
            }
        }
    }
}
