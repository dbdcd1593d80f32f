//! What the scripted model says, turn by turn.

mod builtin;
mod fault;
mod fit;
mod task;
mod transcript;
mod turn;

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

pub use builtin::demo_files;
pub use fault::Fault;
pub(crate) use fit::fit;
pub use task::Task;
pub use turn::{Call, Tool, Turn};

/// Whether the calls of a script are bent to the tools that the client declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tools {
    /// A call to a tool that is not declared goes to one that is, and arguments are fitted to its schema.
    #[default]
    Declared,
    /// Calls go out as they are written, as in a recording.
    AsWritten,
}

/// A script: the turns of one run, in order.
///
/// The next step is a function of how many requests of the run were answered, never of the history, so a trimmed
/// history cannot confuse it. After its last turn a run starts over with the next request.
///
/// ```
/// use louver_sandbox::{Call, Fault, Scenario, Turn};
/// use serde_json::json;
///
/// let scenario = Scenario::new("two steps")
///     .turn(Turn::calls([Call::new("read_file", json!({"path": "a.txt"}))]))
///     .turn(Turn::text("Done.").after(Fault::Overloaded));
/// assert_eq!(scenario.turns().len(), 2);
/// assert_eq!(Scenario::named("demo").unwrap().name(), "demo");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Scenario {
    name: String,
    turns: Vec<Turn>,
    summaries: Vec<Turn>,
    tools: Tools,
}

/// A scenario that could not be had.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// No built-in scenario has this name.
    #[error("there is no scenario named {name:?}; known are {}", Scenario::NAMES.join(", "))]
    UnknownName {
        /// The name asked for.
        name: String,
    },
    /// The file could not be read.
    #[error("cannot read the scenario file {path}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The JSON is not a scenario.
    #[error("this is not a scenario")]
    Invalid {
        /// Why, with line and column.
        #[from]
        source: serde_json::Error,
    },
    /// A recording without a single answer of the assistant.
    #[error("the recording holds no assistant turn to answer with")]
    Empty,
}

/// The JSON form of a scenario that is not a recording.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    #[serde(default)]
    name: String,
    #[serde(default)]
    tools: Tools,
    #[serde(default)]
    turns: Vec<Turn>,
    #[serde(default)]
    summaries: Vec<Turn>,
    task: Option<Task>,
}

impl Scenario {
    /// Names that [`Scenario::named`] knows.
    pub const NAMES: [&'static str; 3] = ["demo", "echo", "faults"];

    /// A script without turns; it answers like `echo` until turns are added.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), turns: Vec::new(), summaries: Vec::new(), tools: Tools::Declared }
    }

    /// A built-in scenario: `demo` (a task of more than sixty tool calls), `echo` (repeats what the user said) or
    /// `faults` (a short task on which everything goes wrong once).
    ///
    /// # Errors
    ///
    /// If no scenario has this name.
    pub fn named(name: &str) -> Result<Self, ScenarioError> {
        builtin::named(name).ok_or_else(|| ScenarioError::UnknownName { name: name.to_owned() })
    }

    /// The script of a generated task.
    pub fn task(task: &Task) -> Self {
        Self { turns: task.turns(), ..Self::new("task") }
    }

    /// A recorded conversation whose assistant turns are answered one after the other: the corpus's wrapper, with
    /// `format` and `messages`.
    ///
    /// # Errors
    ///
    /// If the value is no such wrapper, or holds no assistant turn.
    pub fn transcript(wrapper: &Value) -> Result<Self, ScenarioError> {
        let turns = transcript::turns(wrapper)?;
        if turns.is_empty() {
            return Err(ScenarioError::Empty);
        }
        Ok(Self { turns, tools: Tools::AsWritten, ..Self::new("transcript") })
    }

    /// A scenario from JSON text: `{"turns": [...]}`, `{"task": {...}}`, both, or a recording.
    ///
    /// A turn has `thinking`, `text`, `calls` and `faults`, all optional. A call is `{"name", "arguments"}`, or `{"nth"}`
    /// for the n-th tool that the client declares. A fault is `{"kind"}`, one of `rate_limit` (with
    /// `retry_after_seconds` or without), `server_error`, `overloaded`, `reset`, `stall`, `truncate`, `stream_error` and
    /// `malformed_arguments`. A task has the fields of [`Task`]. Besides: `name`, `tools` (`declared` or `as_written`) and
    /// `summaries`, the turns that answer requests for a summary.
    ///
    /// # Errors
    ///
    /// If the text is none of these.
    ///
    /// ```
    /// use louver_sandbox::Scenario;
    ///
    /// let scenario = Scenario::from_json(r#"{"name": "short", "task": {"calls": 3, "parallel_every": 2}}"#).unwrap();
    /// assert_eq!(scenario.name(), "short");
    /// assert!(Scenario::from_json(r#"{"turn": []}"#).is_err());
    /// ```
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let value: Value = serde_json::from_str(text)?;
        if value.get("messages").is_some() {
            return Self::transcript(&value);
        }
        let script: Script = serde_json::from_value(value)?;
        let mut turns = script.task.map(|task| task.turns()).unwrap_or_default();
        turns.extend(script.turns);
        Ok(Self { name: script.name, turns, summaries: script.summaries, tools: script.tools })
    }

    /// A scenario by name, or from a JSON file if no scenario has that name.
    ///
    /// # Errors
    ///
    /// If it is neither, or the file is no scenario.
    pub fn load(name_or_file: &str) -> Result<Self, ScenarioError> {
        if let Ok(scenario) = Self::named(name_or_file) {
            return Ok(scenario);
        }
        if !Path::new(name_or_file).exists() {
            return Err(ScenarioError::UnknownName { name: name_or_file.to_owned() });
        }
        let text = std::fs::read_to_string(name_or_file)
            .map_err(|source| ScenarioError::Unreadable { path: name_or_file.to_owned(), source })?;
        Self::from_json(&text)
    }

    /// Adds a turn at the end.
    pub fn turn(mut self, turn: Turn) -> Self {
        self.turns.push(turn);
        self
    }

    /// Adds an answer to the next request that asks for a summary of the conversation. Once these are used up, such
    /// requests get a plausible summary; they never move the script on.
    pub fn summary(mut self, summary: Turn) -> Self {
        self.summaries.push(summary);
        self
    }

    /// Sets whether calls are bent to the tools that the client declares.
    pub fn tools(mut self, tools: Tools) -> Self {
        self.tools = tools;
        self
    }

    /// The scenario's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The turns, in order.
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The answers to requests for a summary, in order.
    pub fn summaries(&self) -> &[Turn] {
        &self.summaries
    }

    pub(crate) fn tool_policy(&self) -> Tools {
        self.tools
    }
}

#[cfg(test)]
mod tests;
