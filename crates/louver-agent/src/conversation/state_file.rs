//! The file from which a killed run goes on.

use super::sealed_line::{open as open_line, seal};
use super::state_error::StateError;
use super::state_path::StatePath;
use crate::metrics::ConversationMetrics;
use crate::redact;
use crate::tools::{Signal, ToolOutput};
use crate::totals::Totals;
use crate::usage::Usage;
use louver::window::{Event, Log};
use louver::{Format, Message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The version of the records.
const VERSION: u32 = 3;

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Record {
    Louver {
        version: u32,
        format: String,
        task_id: String,
        task: String,
    },
    /// Messages as text, because a line must hold no line breaks.
    Push(Vec<String>),
    /// What happened to the window, decisions included.
    Event(Event),
    Answer(Vec<String>),
    Result {
        call: usize,
        text: String,
        is_error: bool,
        files: Vec<PathBuf>,
        complete: Option<String>,
        blocked: Option<String>,
    },
    EndOfTurn(Vec<String>),
    Iteration(usize),
    /// A call of a model was answered.
    Billed {
        model: String,
        usage: Usage,
        is_summary: bool,
        /// The figures of what it answered, where that is the conversation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<ConversationMetrics>,
    },
    /// How long the run has lasted when an iteration ended.
    Elapsed {
        milliseconds: u64,
    },
    /// The run has come to its end, with this.
    Finished(String),
}

/// What may become of a run that a state file holds already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// An unfinished one is neither lost to a new one nor continued with another task.
    #[default]
    Protect,
    /// An unfinished one may be lost to a new one, or continued with the task it began with whatever that is called now.
    Override,
}

/// The file from which a killed run goes on, open for appending.
///
/// One JSON record per line, only ever appended, each line written by one call. A line that a kill cut short is no line
/// and is dropped when the file is read, so that the file always says what its last whole record said. Appending keeps
/// a turn's cost the same however long the run is; rewriting the file at every turn would not.
///
/// A turn with tool calls is written in three steps: the answer (the intent), each result as it comes, and the end of
/// the turn. Only the end makes the answer and its results part of the log, all together. After a kill between the
/// first and the last step, calls whose result is written are not run again; what happens to the others is
/// [`Interrupted`](crate::Interrupted)'s to say. Either way every call stands in the log exactly once.
///
/// Every line ends with a checksum over itself and all lines before it. The file is readable by its owner only, locked
/// while a run writes it, and never a link or a device; it replaces nothing but a state file. Keys do not stand in it.
///
/// A kill of the process loses nothing that was written. A power cut can lose turns of the current iteration: the file is
/// forced to the disk where an iteration begins, because doing so at every turn would cost more than the turn.
#[derive(Debug)]
pub struct StateFile {
    path: StatePath,
    /// How many bytes are in it, and the checksum of its last line.
    length: u64,
    sum: u64,
}

/// What a state file holds.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub(crate) task: String,
    pub(crate) task_id: String,
    pub(crate) log: Log,
    pub(crate) open: Option<OpenTurn>,
    pub(crate) iteration: usize,
    /// What the last turn said about the whole task.
    pub(crate) completion: Option<Signal>,
    /// What all processes of the run did and paid so far.
    pub(crate) totals: Totals,
}

/// An answer whose calls have not all been answered yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTurn {
    pub(crate) answer: Vec<Message>,
    pub(crate) outputs: BTreeMap<usize, ToolOutput>,
}

impl StateFile {
    /// Starts a new file. A finished run at the same place is replaced at once, never half; whatever else is there stays,
    /// but for an unfinished run that may be [overridden](Existing::Override).
    ///
    /// # Errors
    ///
    /// The file cannot be written, is another run's, or is no state file.
    pub fn create(
        path: &Path,
        format: Format,
        task_id: &str,
        task: &str,
        existing: Existing,
    ) -> Result<Self, StateError> {
        let header = Record::Louver {
            version: VERSION,
            format: format.name().to_owned(),
            task_id: task_id.to_owned(),
            task: task.to_owned(),
        };
        let (line, sum) = seal(&json(&header), 0);
        let place = match StatePath::open(path)? {
            Some(mut old) => {
                let text = old.read()?;
                let is_finished = is_finished(&text).ok_or_else(|| StateError::occupied(path, "no state file"))?;
                if !is_finished && existing == Existing::Protect {
                    return Err(StateError::Unfinished(path.to_owned()));
                }
                old.replace(&line)?
            }
            None => StatePath::create(path, &line)?,
        };
        Ok(Self { path: place, length: line.len() as u64, sum })
    }

    /// Reads a file and opens it for appending.
    pub(crate) fn resume(path: &Path, format: Format) -> Result<(Self, Recorded), StateError> {
        let missing = || StateError::io(path, std::io::ErrorKind::NotFound.into());
        let mut place = StatePath::open(path)?.ok_or_else(missing)?;
        let text = place.read()?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let (recorded, sum) = read(&text[..whole], format)?;
        place.truncate(whole as u64)?;
        Ok((Self { path: place, length: whole as u64, sum }, recorded))
    }

    /// Where an iteration begins, what stands before it is made safe against a power cut, too.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), StateError> {
        let (line, sum) = seal(&json(record), self.sum);
        self.path.append(&line, self.length)?;
        (self.length, self.sum) = (self.length + line.len() as u64, sum);
        if matches!(record, Record::Iteration(_)) { self.path.sync() } else { Ok(()) }
    }
}

impl Record {
    pub(super) fn result(call: usize, output: &ToolOutput) -> Self {
        let (complete, blocked) = match &output.signal {
            Some(Signal::Complete(text)) => (Some(text.clone()), None),
            Some(Signal::Blocked(text)) => (None, Some(text.clone())),
            None => (None, None),
        };
        let (text, files) = (output.text.clone(), output.files_changed.clone());
        Self::Result { call, text, is_error: output.is_error, files, complete, blocked }
    }
}

fn json(record: &Record) -> String {
    redact(&serde_json::to_string(record).unwrap_or_default()).into_owned()
}

pub(super) fn raw(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.raw().to_owned()).collect()
}

/// The first line, of whatever version, and its checksum.
fn header(line: &str) -> Option<(Record, u64)> {
    let (json, sum) = open_line(line, 0).unwrap_or_else(|_| (line.to_owned(), 0));
    let record = serde_json::from_str(&json).ok()?;
    matches!(record, Record::Louver { .. }).then_some((record, sum))
}

/// Whether the run in a state file has come to its end; nothing if it is none. One of another version may not have.
fn is_finished(text: &str) -> Option<bool> {
    let (Record::Louver { format, .. }, _) = header(text.lines().next()?)? else { return None };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    let format = Format::ALL.into_iter().find(|known| known.name() == format);
    let recorded = format.and_then(|format| read(&text[..whole], format).ok());
    Some(recorded.is_some_and(|(recorded, _)| recorded.completion.is_some()))
}

/// What whole lines say, and the checksum of the last one.
fn read(text: &str, format: Format) -> Result<(Recorded, u64), StateError> {
    let mut recorded = Recorded::default();
    let mut lines = text.lines().enumerate();
    let mut sum = match lines.next().and_then(|(_, line)| header(line)) {
        Some((Record::Louver { version: VERSION, format: written, task, task_id }, sum))
            if written == format.name() =>
        {
            (recorded.task, recorded.task_id) = (task, task_id);
            sum
        }
        Some((Record::Louver { version, format: written, .. }, _)) => {
            return Err(StateError::Foreign(format!(
                "it has version {version} and format {written}, not {VERSION} and {format}"
            )));
        }
        _ => return Err(StateError::Foreign("it does not begin like one".to_owned())),
    };
    for (index, line) in lines {
        let corrupt = |reason: String| StateError::Corrupt { line: index + 1, reason };
        let json;
        (json, sum) = open_line(line, sum).map_err(|reason| corrupt(reason.to_owned()))?;
        let record = serde_json::from_str(&json).map_err(|error| corrupt(error.to_string()))?;
        recorded.take(record, format).map_err(|error| corrupt(error.to_string()))?;
    }
    Ok((recorded, sum))
}

impl Recorded {
    fn take(&mut self, record: Record, format: Format) -> Result<(), louver::json::JsonError> {
        let parse = |raw: Vec<String>| raw.iter().map(|raw| Message::parse(format, raw)).collect::<Result<Vec<_>, _>>();
        match record {
            Record::Louver { .. } => {}
            Record::Push(raw) => {
                self.completion = None;
                self.push(parse(raw)?);
            }
            Record::Event(event) => self.event(event),
            Record::Answer(raw) => self.open = Some(OpenTurn { answer: parse(raw)?, outputs: BTreeMap::new() }),
            Record::Result { call, text, is_error, files, complete, blocked } => {
                let signal = complete.map(Signal::Complete).or(blocked.map(Signal::Blocked));
                let output = ToolOutput { text, is_error, files_changed: files, signal };
                self.open.get_or_insert_default().outputs.insert(call, output);
            }
            Record::EndOfTurn(raw) => {
                let open = self.open.take().unwrap_or_default();
                self.totals.add_calls(open.outputs.values());
                self.completion = open.outputs.into_values().find_map(|output| output.signal);
                self.push(open.answer);
                self.push(parse(raw)?);
            }
            Record::Iteration(number) => self.iteration = number,
            Record::Billed { model, usage, is_summary, sent } => {
                self.totals.bill(&model, usage, is_summary);
                self.totals.sent = sent.or(self.totals.sent);
            }
            Record::Elapsed { milliseconds } => self.totals.duration = Duration::from_millis(milliseconds),
            Record::Finished(text) => self.completion = Some(Signal::Complete(text)),
        }
        Ok(())
    }

    fn push(&mut self, messages: Vec<Message>) {
        self.log.messages.extend(messages.into_iter().map(Arc::new));
    }

    fn event(&mut self, event: Event) {
        if let Event::Answered(answered) = &event {
            self.totals.add_summary(!answered.decisions.is_empty());
        }
        self.log.events.push((self.log.messages.len(), event));
    }
}
