//! The file from which a killed run goes on.

use crate::redact;
use crate::tools::{Signal, ToolOutput};
use crate::totals::Totals;
use crate::usage::Usage;
use louver::window::{Event, Log};
use louver::{Format, Message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The version of the records.
const VERSION: u32 = 2;

/// A state file that could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file could not be read or written.
    #[error("cannot use the state file {path}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A line that is no record, with more lines behind it.
    #[error("line {line} of the state file is no record: {reason}")]
    Corrupt {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of another program, format or version.
    #[error("this state file cannot be continued: {0}")]
    Foreign(String),
}

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
    },
    /// How long the run has lasted when an iteration ended.
    Elapsed {
        milliseconds: u64,
    },
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
/// A kill of the process loses nothing that was written. A power cut can lose turns of the current iteration: the file is
/// forced to the disk where an iteration begins, because doing so at every turn would cost more than the turn.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    file: File,
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
    /// Starts a new file. An old one at the same place is replaced at once, never half.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn create(path: &Path, format: Format, task_id: &str, task: &str) -> Result<Self, StateError> {
        let header = Record::Louver {
            version: VERSION,
            format: format.name().to_owned(),
            task_id: task_id.to_owned(),
            task: task.to_owned(),
        };
        Self::replace(path, &line(&header)).map_err(io_error(path))
    }

    /// Reads a file and opens it for appending.
    pub(crate) fn resume(path: &Path, format: Format) -> Result<(Self, Recorded), StateError> {
        let text = std::fs::read(path).map_err(io_error(path))?;
        let text = String::from_utf8_lossy(&text);
        let (whole, torn) = text.rsplit_once('\n').map_or(("", &*text), |(whole, torn)| (whole, torn));
        let recorded = read(whole, format)?;
        let file = if torn.is_empty() {
            OpenOptions::new().append(true).open(path).map(|file| Self { path: path.to_owned(), file })
        } else {
            Self::replace(path, &format!("{whole}\n"))
        };
        Ok((file.map_err(io_error(path))?, recorded))
    }

    fn replace(path: &Path, text: &str) -> std::io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_data()?;
        std::fs::rename(&beside, path)?;
        let file = OpenOptions::new().append(true).open(path)?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Where an iteration begins, what stands before it is made safe against a power cut, too.
    pub(super) fn append(&mut self, record: &Record) -> Result<(), StateError> {
        let written = self.file.write_all(line(record).as_bytes());
        let is_milestone = matches!(record, Record::Iteration(_));
        written.and_then(|()| if is_milestone { self.file.sync_data() } else { Ok(()) }).map_err(io_error(&self.path))
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

fn io_error(path: &Path) -> impl FnOnce(std::io::Error) -> StateError + use<> {
    let path = path.to_owned();
    move |source| StateError::Io { path, source }
}

fn line(record: &Record) -> String {
    let mut line = redact(&serde_json::to_string(record).unwrap_or_default()).into_owned();
    line.push('\n');
    line
}

pub(super) fn raw(messages: &[Message]) -> Vec<String> {
    messages.iter().map(|message| message.raw().to_owned()).collect()
}

fn read(text: &str, format: Format) -> Result<Recorded, StateError> {
    let mut recorded = Recorded::default();
    let mut lines = text.lines().enumerate();
    let header = lines.next().map(|(_, line)| serde_json::from_str(line));
    match header {
        Some(Ok(Record::Louver { version: VERSION, format: written, task, task_id })) if written == format.name() => {
            (recorded.task, recorded.task_id) = (task, task_id);
        }
        Some(Ok(Record::Louver { version, format: written, .. })) => {
            return Err(StateError::Foreign(format!(
                "it has version {version} and format {written}, not {VERSION} and {format}"
            )));
        }
        _ => return Err(StateError::Foreign("it does not begin like one".to_owned())),
    }
    for (index, line) in lines {
        let corrupt = |reason: String| StateError::Corrupt { line: index + 1, reason };
        let record = serde_json::from_str(line).map_err(|error| corrupt(error.to_string()))?;
        recorded.take(record, format).map_err(|error| corrupt(error.to_string()))?;
    }
    Ok(recorded)
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
            Record::Billed { model, usage, is_summary } => self.totals.bill(&model, usage, is_summary),
            Record::Elapsed { milliseconds } => self.totals.duration = Duration::from_millis(milliseconds),
        }
        Ok(())
    }

    fn push(&mut self, messages: Vec<Message>) {
        self.log.messages.extend(messages.into_iter().map(Arc::new));
    }

    fn event(&mut self, event: Event) {
        if let Event::Answered { decisions, .. } = &event {
            self.totals.add_summary(!decisions.is_empty());
        }
        self.log.events.push((self.log.messages.len(), event));
    }
}
