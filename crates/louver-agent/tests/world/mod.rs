//! A sandbox, a client of each API, and a few tools.

#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

pub(crate) mod replies;

use louver::legality;
use louver::tokens::CounterChoice;
use louver::wire::{Body, Format, PartKind};
use louver_agent::provider::{Connection, HttpProvider, Jitter, Provider, RetryPolicy};
use louver_agent::tools::{Signal, Tool, ToolDefinition, ToolOutput, ToolSet};
use louver_agent::{ApiKey, Conversation, ExecuteOptions, ExecutionResult, Observer, RunEvent, execute};
use louver_sandbox::{Builder, Call, Running, Sandbox, Scenario, Turn};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The three ways to talk to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Anthropic,
    Chat,
    Responses,
}

impl Api {
    pub(crate) const ALL: [Self; 3] = [Self::Anthropic, Self::Chat, Self::Responses];

    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::Chat | Self::Responses => "gpt-5",
        }
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Self::Anthropic => Format::Anthropic,
            Self::Chat => Format::OpenAiChat,
            Self::Responses => Format::OpenAiResponses,
        }
    }

    pub(crate) fn provider(self, connection: Connection, key: ApiKey) -> Arc<dyn Provider> {
        match self {
            Self::Anthropic => Arc::new(HttpProvider::anthropic(connection, key).unwrap()),
            Self::Chat => Arc::new(HttpProvider::openai_chat(connection, key).unwrap()),
            Self::Responses => Arc::new(HttpProvider::openai_responses(connection, key).unwrap()),
        }
    }
}

/// A running sandbox and what it takes to run something against it.
pub(crate) struct World {
    pub(crate) api: Api,
    pub(crate) sandbox: Running,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) events: Arc<Mutex<Vec<RunEvent>>>,
}

impl World {
    pub(crate) async fn new(api: Api, scenario: Scenario) -> Self {
        Self::with(api, Sandbox::builder().scenario(scenario)).await
    }

    pub(crate) async fn with(api: Api, builder: Builder) -> Self {
        let sandbox = builder.start("127.0.0.1:0").await.unwrap();
        let provider = api.provider(connection(&sandbox.url()), ApiKey::sandbox());
        Self { api, sandbox, provider, tools: Arc::new(tools()), events: Arc::default() }
    }

    pub(crate) fn options(&self) -> ExecuteOptions {
        let events = Arc::clone(&self.events);
        let mut options = ExecuteOptions::new(self.api.model());
        options.system_prompt = Some("Work carefully.".to_owned());
        options.observer = Observer::new(move |event| events.lock().unwrap().push(event.clone()));
        options.task_id = "task-7".to_owned();
        // A tokenizer takes a second to load, and no test here is about counting.
        options.window.counter = CounterChoice::Chars4;
        options
    }

    pub(crate) async fn execute(&self, options: &ExecuteOptions) -> ExecutionResult {
        self.go_on(Some("Do the task."), options, None).await
    }

    pub(crate) async fn go_on(
        &self,
        prompt: Option<&str>,
        options: &ExecuteOptions,
        state: Option<Conversation>,
    ) -> ExecutionResult {
        execute(&self.provider, &self.tools, prompt, options, state).await
    }

    /// The statuses of all requests so far.
    pub(crate) fn statuses(&self) -> Vec<u16> {
        self.sandbox.journal().iter().map(|entry| entry.status).collect()
    }

    /// Requests that were refused.
    pub(crate) fn refused(&self) -> usize {
        self.sandbox.journal().iter().filter(|entry| entry.status == 400 || !entry.violations.is_empty()).count()
    }

    /// The lines a person would have read.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.events.lock().unwrap().iter().filter_map(RunEvent::message).collect()
    }
}

pub(crate) fn connection(url: &str) -> Connection {
    let retry = RetryPolicy {
        initial_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(4),
        jitter: Jitter::None,
        ..RetryPolicy::default()
    };
    Connection {
        retry,
        idle_timeout: Duration::from_secs(5),
        headers: vec![("x-sandbox-run".to_owned(), "test".to_owned())],
        ..Connection::to(url)
    }
}

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// How many tools ran at the same time at most.
pub(crate) static MOST_RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A tool that answers with what it is given.
#[derive(Debug)]
pub(crate) struct Scripted {
    pub(crate) name: &'static str,
    pub(crate) delay: Duration,
}

#[async_trait::async_trait]
impl Tool for Scripted {
    fn definition(&self) -> ToolDefinition {
        let argument = if self.name.starts_with("task_") { "summary" } else { "path" };
        let schema = json!({
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        });
        ToolDefinition { name: self.name.to_owned(), description: format!("The tool {}.", self.name), schema }
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        let running = RUNNING.fetch_add(1, Ordering::SeqCst) + 1;
        MOST_RUNNING.fetch_max(running, Ordering::SeqCst);
        tokio::time::sleep(self.delay).await;
        RUNNING.fetch_sub(1, Ordering::SeqCst);
        let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
        let mut output = ToolOutput { text: format!("{} {}", self.name, text("path")), ..ToolOutput::default() };
        match self.name {
            "write_file" => output.files_changed.push(text("path").into()),
            "task_complete" => output.signal = Some(Signal::Complete(text("summary"))),
            "task_blocked" => output.signal = Some(Signal::Blocked(text("summary"))),
            _ => {}
        }
        output
    }
}

fn tool(name: &'static str, delay: Duration) -> Arc<dyn Tool> {
    Arc::new(Scripted { name, delay })
}

pub(crate) fn tools() -> ToolSet {
    let hour = Duration::from_secs(3600);
    ToolSet::new([
        tool("read_file", Duration::ZERO),
        tool("write_file", Duration::ZERO),
        tool("slow", Duration::from_millis(60)),
        tool("hang", hour),
        tool("task_complete", Duration::ZERO),
        tool("task_blocked", Duration::ZERO),
    ])
}

pub(crate) fn read(path: &str) -> Call {
    Call::new("read_file", json!({"path": path}))
}

pub(crate) fn complete() -> Turn {
    Turn::calls([Call::new("task_complete", json!({"summary": "All done."}))])
}

/// Enough words that a summary of a few turns is shorter than they are.
const SAID: &str = "The file was named in the plan, its neighbours were read before, and nothing in them contradicts what \
    was found so far, so the next step is to read it whole and to compare what it exports with what the others use.";

/// A task of so many single calls, each with something said, then the end.
pub(crate) fn steps(count: usize) -> Scenario {
    let step =
        |n: usize| Turn::calls([read(&format!("src/file_{n}.rs"))]).saying(format!("Step {n}, as decided. {SAID}"));
    (0..count).fold(Scenario::new("steps"), |scenario, n| scenario.turn(step(n))).turn(complete())
}

/// The whole log is legal, and every call in it is answered exactly once.
pub(crate) fn assert_sound(api: Api, conversation: &Conversation) {
    let log = conversation.window().log();
    assert_sound_log(api, &log);
    let mut raw: Vec<&str> = log.messages.iter().map(|message| message.raw()).collect();
    raw.sort_unstable();
    assert!(raw.windows(2).all(|pair| pair[0] != pair[1]), "{api:?}: no message stands twice");
}

pub(crate) fn assert_sound_log(api: Api, log: &louver::window::Log) {
    let raw: Vec<&str> = log.messages.iter().map(|message| message.raw()).collect();
    let body = Body::parse(&format!("[{}]", raw.join(",")), Some(api.format())).unwrap();
    assert_eq!(legality::check(&body), [], "{api:?}");
    let ids = |kind: PartKind| -> Vec<String> {
        let of = |message: &Arc<louver::wire::Message>| -> Vec<String> {
            message.shape().parts_of(kind).map(|part| message.id_of(part).into_owned()).collect()
        };
        let mut ids: Vec<String> = log.messages.iter().flat_map(of).collect();
        ids.sort();
        ids
    };
    let calls = ids(PartKind::ToolCall);
    assert_eq!(calls, ids(PartKind::ToolResult), "{api:?}");
}
