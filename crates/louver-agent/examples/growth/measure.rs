//! A task of twenty iterations with five to ten tool calls each, run over HTTP against the sandbox, which keeps the books.

use louver::budget::Budget;
use louver::catalog::{Catalog, Cost};
use louver::policy::{MessagesConfig, PolicyKind, TokensConfig};
use louver::tokens::CounterChoice;
use louver_agent::provider::{Connection, HttpProvider, Provider};
use louver_agent::tools::{Signal, Tool, ToolDefinition, ToolOutput, ToolSet};
use louver_agent::{ApiKey, ExecuteOptions, Executor, ExecutorConfig, RunOutcome, Usage, WindowOptions};
use louver_sandbox::{Call, JournalEntry, ManualClock, Sandbox, Scenario, Turn};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;

/// Iterations of the task.
pub(crate) const ITERATIONS: usize = 20;

/// Characters of the tools' outputs, in turn: the tenths of 8,681 real ones, which have 430 in the middle and 2,060 on
/// average.
const OUTPUT_CHARS: [usize; 10] = [50, 2_200, 110, 430, 10_700, 180, 750, 4_600, 280, 1_300];

/// Characters of the system prompt.
const SYSTEM_CHARS: usize = 6_000;

/// What the default policy may fill.
const CONTEXT_WINDOW: u64 = 200_000;

/// Room for a reply.
const REPLY_TOKENS: u64 = 2_000;

/// The two providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Anthropic,
    OpenAi,
}

impl Api {
    pub(crate) const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi => "gpt-5",
        }
    }

    fn provider(self, url: &str) -> Result<Arc<dyn Provider>, Box<dyn Error>> {
        let (connection, key) = (Connection::to(url), ApiKey::sandbox());
        Ok(match self {
            Self::Anthropic => Arc::new(HttpProvider::anthropic(connection, key)?),
            Self::OpenAi => Arc::new(HttpProvider::openai_chat(connection, key)?),
        })
    }
}

/// How much is kept: everything, the newest so many messages, half whenever there are more than so many tokens, or what
/// the default policy leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Everything,
    Messages(usize),
    Tokens(u64),
    Ladder,
}

impl Kept {
    pub(crate) const ALL: [Self; 5] =
        [Self::Everything, Self::Messages(100), Self::Messages(30), Self::Tokens(25_000), Self::Ladder];

    pub(crate) fn name(self) -> String {
        match self {
            Self::Everything => "everything".to_owned(),
            Self::Messages(most) => format!("window of {most}"),
            Self::Tokens(most) => format!("halved at {}k tokens", most / 1000),
            Self::Ladder => "ladder".to_owned(),
        }
    }

    fn configure(self, window: &mut WindowOptions) -> Result<(), Box<dyn Error>> {
        match self {
            Self::Everything => window.policy = PolicyKind::Everything,
            Self::Messages(most) => {
                window.policy =
                    PolicyKind::Messages(MessagesConfig { max_messages: most, ..MessagesConfig::default() });
            }
            Self::Tokens(most) => {
                window.policy = PolicyKind::Tokens(TokensConfig::default());
                // A tenth of the context window is a buffer, and the reply has its room beside what may be sent.
                window.budget = Some(Budget::new((most + REPLY_TOKENS) * 10 / 9, Some(REPLY_TOKENS))?);
            }
            Self::Ladder => {
                window.policy = PolicyKind::default_for(true);
                window.budget = Some(Budget::new(CONTEXT_WINDOW, Some(REPLY_TOKENS))?);
            }
        }
        Ok(())
    }
}

/// Where a run stands at the end of an iteration: its last request, and all requests so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) iteration: usize,
    /// Messages and tokens of the iteration's last request.
    pub(crate) messages: usize,
    pub(crate) tokens: u64,
    /// Of the run so far.
    pub(crate) requests: usize,
    pub(crate) sent_tokens: u64,
    pub(crate) read_tokens: u64,
    pub(crate) written_tokens: u64,
    pub(crate) cost: Cost,
    /// What it would have been without a cache.
    pub(crate) uncached_cost: Cost,
}

/// A run, iteration by iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) api: Api,
    pub(crate) kept: Kept,
    pub(crate) rows: Vec<Row>,
}

/// Tool calls of an iteration, from 1: five to ten.
pub(crate) fn calls(iteration: usize) -> usize {
    5 + (iteration - 1) % 6
}

/// Messages in the last request of an iteration when everything is kept. The first answer of an iteration makes two calls,
/// every other one, so that an iteration of `c` calls takes `c` requests: one prompt, `c - 1` answers with calls and their
/// results, and the answer that ends it. Anthropic has all results of an answer in one message, OpenAI each in its own,
/// and the system prompt before them.
pub(crate) fn predicted_messages(api: Api, iteration: usize) -> usize {
    let in_iteration = |number: usize| match api {
        Api::Anthropic => 1 + 2 * (calls(number) - 1),
        Api::OpenAi => 1 + (calls(number) - 1) + calls(number),
    };
    let earlier: usize = (1..iteration).map(|number| in_iteration(number) + 1).sum();
    earlier + in_iteration(iteration) + usize::from(api == Api::OpenAi)
}

/// What the formula has wrong about a run that keeps everything.
pub(crate) fn unpredicted(run: &Run) -> Option<String> {
    let is_wrong = |row: &&Row| row.messages != predicted_messages(run.api, row.iteration);
    let wrong = run.rows.iter().filter(|_| run.kept == Kept::Everything).find(is_wrong)?;
    Some(format!("{}: {} messages in iteration {}", run.api.name(), wrong.messages, wrong.iteration))
}

fn scenario() -> Scenario {
    let mut read = 0;
    let mut next = || {
        read += 1;
        Call::new("read_file", json!({"path": format!("src/file_{read}.rs")}))
    };
    let mut scenario = Scenario::new("growth");
    for iteration in 1..=ITERATIONS {
        for turn in 1..calls(iteration) {
            let made: Vec<Call> = (0..if turn == 1 { 2 } else { 1 }).map(|_| next()).collect();
            let said = format!("Step {turn} of part {iteration}: the plan names this file, so I read it now.");
            scenario = scenario.turn(Turn::calls(made).saying(said));
        }
        let is_last = iteration == ITERATIONS;
        let complete = || Turn::calls([Call::new("task_complete", json!({"path": "."}))]);
        let pause = || Turn::text(format!("Part {iteration} is done; the next part follows from the plan."));
        scenario = scenario.turn(if is_last { complete() } else { pause() });
    }
    scenario
}

/// The one tool that works, and the one that ends the task.
#[derive(Debug)]
struct Scripted(&'static str);

#[async_trait::async_trait]
impl Tool for Scripted {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        ToolDefinition { name: self.0.to_owned(), description: format!("The tool {}.", self.0), schema }
    }

    async fn call(&self, arguments: Value) -> ToolOutput {
        if self.0 == "task_complete" {
            let signal = Some(Signal::Complete("Done.".to_owned()));
            return ToolOutput { signal, ..ToolOutput::default() };
        }
        let digits: String = arguments["path"].to_string().chars().filter(char::is_ascii_digit).collect();
        let number: usize = digits.parse().unwrap_or_default();
        let line = format!("{number}: what the file says, line after line, until it ends. ");
        ToolOutput { text: filled(&line, OUTPUT_CHARS[number % OUTPUT_CHARS.len()]), ..ToolOutput::default() }
    }
}

fn filled(line: &str, chars: usize) -> String {
    line.chars().cycle().take(chars).collect()
}

/// Runs the task once.
pub(crate) async fn run(api: Api, kept: Kept) -> Result<Run, Box<dyn Error>> {
    // The books expire by the clock, and no figure here may depend on how fast this machine is.
    let builder = Sandbox::builder().scenario(scenario()).clock(Arc::new(ManualClock::default()));
    let sandbox = builder.start("127.0.0.1:0").await?;
    let mut options = ExecuteOptions::new(api.model());
    options.system_prompt = Some(filled("Work carefully, follow the plan, and say what you do. ", SYSTEM_CHARS));
    kept.configure(&mut options.window)?;
    options.window.counter = CounterChoice::Chars4;
    let tools = ["read_file", "task_complete"].map(|name| Arc::new(Scripted(name)) as Arc<dyn Tool>);
    let config = ExecutorConfig { max_iterations: ITERATIONS, ..ExecutorConfig::new(options) };
    let executor = Executor::new(api.provider(&sandbox.url())?, Arc::new(ToolSet::new(tools)), config);
    let summary = executor.run("Work through the plan, part by part.").await?;
    if !matches!(summary.outcome, RunOutcome::Completed(_)) {
        return Err(format!("{} with {}: {:?}", api.name(), kept.name(), summary.outcome).into());
    }
    let journal = sandbox.journal();
    sandbox.shutdown().await;
    if let Some(refused) = journal.iter().find(|entry| entry.status != 200) {
        return Err(format!("{} with {}: refused, {refused:?}", api.name(), kept.name()).into());
    }
    Ok(Run { api, kept, rows: rows(api, &journal)? })
}

/// As many requests as calls in every iteration.
fn rows(api: Api, journal: &[JournalEntry]) -> Result<Vec<Row>, Box<dyn Error>> {
    let model = Catalog::builtin().find(api.model()).ok_or("an unknown model")?.model;
    let mut requests = journal.iter();
    let mut row = Row::default();
    let mut rows = Vec::new();
    for iteration in 1..=ITERATIONS {
        for entry in requests.by_ref().take(calls(iteration)) {
            let (cache_read_tokens, cache_write_tokens) = (entry.cache_read_tokens, entry.cache_write_tokens);
            let input_tokens = entry.input_tokens - cache_read_tokens - cache_write_tokens;
            let usage = Usage { input_tokens, output_tokens: 0, cache_read_tokens, cache_write_tokens };
            let uncached = Usage { input_tokens: entry.input_tokens, ..Usage::default() };
            row = Row {
                iteration,
                messages: entry.messages,
                tokens: entry.input_tokens,
                requests: row.requests + 1,
                sent_tokens: row.sent_tokens + entry.input_tokens,
                read_tokens: row.read_tokens + cache_read_tokens,
                written_tokens: row.written_tokens + cache_write_tokens,
                cost: row.cost + usage.cost(&model),
                uncached_cost: row.uncached_cost + uncached.cost(&model),
            };
        }
        rows.push(row);
    }
    Ok(rows)
}

/// All runs as a table that other programs read.
pub(crate) fn csv(runs: &[Run]) -> String {
    let mut text = "provider,kept,iteration,requests,messages,tokens,sent_tokens,cache_read_tokens,cache_write_tokens,\
                    input_usd,input_usd_without_cache\n"
        .to_owned();
    for run in runs {
        for row in &run.rows {
            let Row { iteration, messages, tokens, requests, sent_tokens, read_tokens, written_tokens, .. } = row;
            text += &format!(
                "{},{},{iteration},{requests},{messages},{tokens},{sent_tokens},{read_tokens},{written_tokens},{:.4},{:.4}\n",
                run.api.name(),
                run.kept.name(),
                row.cost.usd(),
                row.uncached_cost.usd()
            );
        }
    }
    text
}
