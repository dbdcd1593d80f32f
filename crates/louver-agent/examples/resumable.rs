//! Runs a task whose state is kept in a file, and goes on with it when the file is there already.
//!
//! `resumable URL STATE NOTES` talks to a sandbox at URL. Its one working tool appends a line to NOTES, so that what was
//! done can be held against what the state says.

use louver::policy::{MessagesConfig, PolicyKind};
use louver::tokens::CounterChoice;
use louver_agent::provider::{Connection, HttpProvider};
use louver_agent::tools::{Signal, Tool, ToolDefinition, ToolOutput, ToolSet};
use louver_agent::{ApiKey, ExecuteOptions, Executor, ExecutorConfig, RunOutcome};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Appends a line to a file.
#[derive(Debug)]
struct Note(PathBuf);

#[async_trait::async_trait]
impl Tool for Note {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        ToolDefinition { name: "note".to_owned(), description: "Appends a line.".to_owned(), schema }
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        let line = format!("{}\n", arguments["path"].as_str().unwrap_or_default());
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&self.0);
        match file.and_then(|mut file| file.write_all(line.as_bytes())) {
            Ok(()) => ToolOutput { text: format!("noted {line}"), ..ToolOutput::default() },
            Err(error) => ToolOutput { text: error.to_string(), is_error: true, ..ToolOutput::default() },
        }
    }
}

/// Ends the task.
#[derive(Debug)]
struct Complete;

#[async_trait::async_trait]
impl Tool for Complete {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({"type": "object", "properties": {"summary": {"type": "string"}}, "required": ["summary"]});
        ToolDefinition { name: "task_complete".to_owned(), description: "Ends the task.".to_owned(), schema }
    }

    async fn call(&self, _: Value) -> ToolOutput {
        let signal = Some(Signal::Complete("Done.".to_owned()));
        ToolOutput { text: "done".to_owned(), signal, ..ToolOutput::default() }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let [url, state, notes] = std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "URL STATE NOTES")?;
    let state = PathBuf::from(state);
    let mut connection = Connection::to(&url);
    connection.headers.push(("x-sandbox-run".to_owned(), "resumable".to_owned()));
    let provider = HttpProvider::anthropic(connection, ApiKey::sandbox())?;
    let tools = ToolSet::new([Arc::new(Note(notes.into())) as Arc<dyn Tool>, Arc::new(Complete)]);
    let mut options = ExecuteOptions::new("claude-sonnet-4-5");
    options.window.policy =
        PolicyKind::Messages(MessagesConfig { max_messages: 30, preserve_last_n: 10, ..MessagesConfig::default() });
    options.max_turns = 10_000;
    // A tokenizer takes a while to load, and a run that is killed often would do little else.
    options.window.counter = CounterChoice::Chars4;
    let config = ExecutorConfig { state_file: Some(state.clone()), ..ExecutorConfig::new(options) };
    let executor = Executor::new(Arc::new(provider), Arc::new(tools), config);
    let summary = if state.exists() { executor.resume(&state).await? } else { executor.run("Take notes.").await? };
    let is_done = matches!(summary.outcome, RunOutcome::Completed(_));
    Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
