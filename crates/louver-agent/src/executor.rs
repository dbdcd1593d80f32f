//! Iterates calls of the tool loop until the task is done.

use crate::condensing::cost;
use crate::conversation::Recorded;
use crate::provider::{Category, Provider};
use crate::tools::{Signal, ToolSet};
use crate::{
    Conversation, ExecuteOptions, ExecutionError, ExecutionResult, Existing, Observer, RunEvent, RunOutcome,
    RunSummary, StateError, StateFile, Stop, execute, redact,
};
use louver::catalog::Cost;
use louver::window::WindowConfig;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The tool by which a model says that a task is done.
const COMPLETION_TOOL: &str = "task_complete";

/// What the model is told when it ended its turn without saying that the task is done.
const GO_ON: &str = "Go on with the task. Call task_complete when it is done, or task_blocked if you cannot go on.";

/// How a task is run.
#[derive(Clone, Debug)]
pub struct ExecutorConfig {
    /// What every call of the tool loop is told.
    pub options: ExecuteOptions,
    /// Iterations at most: each is one whole tool loop, of up to [`max_turns`](ExecuteOptions::max_turns) calls of the model.
    pub max_iterations: usize,
    /// The file from which a killed run goes on.
    pub state_file: Option<PathBuf>,
    /// What may become of a run that this file holds already.
    pub existing: Existing,
}

impl ExecutorConfig {
    /// Fifty iterations, and nothing remembered.
    pub fn new(options: ExecuteOptions) -> Self {
        Self { options, max_iterations: 50, state_file: None, existing: Existing::default() }
    }
}

/// What can be shown while a task runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveState {
    /// The iteration, from 1.
    pub iteration: usize,
    /// Messages in the last request.
    pub conversation_message_count: Option<usize>,
    /// The cap on them, if there is one.
    pub max_messages: Option<usize>,
    /// Tokens in the last request, as the provider counted.
    pub prompt_tokens: u64,
    /// Tokens that fit into the model's window, if it is known.
    pub context_window: Option<u64>,
    /// Tool calls so far.
    pub tool_calls: usize,
    /// Messages that were left out so far.
    pub evicted_messages: usize,
    /// Summaries that took their place so far.
    pub summaries: usize,
    /// What it cost so far, summaries included, as far as prices are known.
    pub cost: Cost,
}

/// A run that could not begin.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The state file.
    #[error(transparent)]
    State(#[from] StateError),
    /// The window.
    #[error(transparent)]
    Window(#[from] louver::Error),
}

/// Runs tasks.
///
/// A task is complete when a tool says so. Where there is no `task_complete` among the tools, it is complete when the
/// model ends its turn.
#[derive(Debug)]
pub struct Executor {
    provider: Arc<dyn Provider>,
    tools: Arc<ToolSet>,
    config: ExecutorConfig,
    live: watch::Sender<LiveState>,
}

impl Executor {
    /// An executor with a model, tools and a configuration.
    pub fn new(provider: Arc<dyn Provider>, tools: Arc<ToolSet>, config: ExecutorConfig) -> Self {
        let window = &config.options.window;
        let live = LiveState {
            max_messages: window.message_cap(),
            context_window: window.context_window(&config.options.model),
            ..LiveState::default()
        };
        Self { provider, tools, config, live: watch::Sender::new(live) }
    }

    /// What is going on, now and from now on.
    pub fn live(&self) -> watch::Receiver<LiveState> {
        self.live.subscribe()
    }

    /// Runs a task from its beginning.
    ///
    /// # Errors
    ///
    /// A window that cannot be made, or a state file that cannot be written. Everything after that is in the summary.
    pub async fn run(&self, task: &str) -> Result<RunSummary, RunError> {
        let mut conversation = Conversation::new(self.window_config()?)?;
        if let Some(path) = &self.config.state_file {
            let task_id = &self.config.options.task_id;
            let format = self.provider.format();
            conversation.record_to(StateFile::create(path, format, task_id, task, self.config.existing)?);
        }
        let id = self.config.options.task_id.clone();
        Ok(self.iterate(conversation, Some(task.to_owned()), 1, id, RunSummary::default()).await)
    }

    /// Goes on with a killed run from its last completed call, as its state file says, and goes on writing that file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read or is none of this format's, or a window that cannot be made.
    pub async fn resume(&self, path: &Path) -> Result<RunSummary, RunError> {
        let (file, recorded) = StateFile::resume(path, self.provider.format())?;
        self.go_on(file, recorded).await
    }

    /// The same, if the run began with this very task; one with another is continued only where that is
    /// [said](Existing::Override), and then with the task it began with.
    ///
    /// # Errors
    ///
    /// As [`resume`](Self::resume), and another task.
    pub async fn resume_task(&self, path: &Path, task: &str) -> Result<RunSummary, RunError> {
        let (file, recorded) = StateFile::resume(path, self.provider.format())?;
        if recorded.task != redact(task) && self.config.existing == Existing::Protect {
            return Err(StateError::OtherTask(path.to_owned()).into());
        }
        self.go_on(file, recorded).await
    }

    async fn go_on(&self, file: StateFile, recorded: Recorded) -> Result<RunSummary, RunError> {
        let iteration = recorded.iteration.max(1);
        let (own, totals) = (&self.config.options.task_id, RunSummary::after(recorded.totals.clone()));
        let id = if recorded.task_id.is_empty() { own.clone() } else { recorded.task_id.clone() };
        let prompt = next_prompt(&recorded);
        let completion = recorded.completion.clone();
        let conversation = Conversation::resume(self.window_config()?, file, recorded)?;
        if let Some(signal) = completion {
            return Ok(finished(signal, iteration, &conversation, totals));
        }
        self.live.send_modify(|live| live.go_on(&totals, &conversation));
        Ok(self.iterate(conversation, prompt, iteration, id, totals).await)
    }

    fn window_config(&self) -> Result<WindowConfig, louver::Error> {
        self.config.options.window_config(self.provider.format(), &self.tools.definitions())
    }

    async fn iterate(
        &self,
        conversation: Conversation,
        prompt: Option<String>,
        first: usize,
        task_id: String,
        before: RunSummary,
    ) -> RunSummary {
        let started = Instant::now();
        let options = ExecuteOptions { observer: self.observer(), task_id, ..self.config.options.clone() };
        let (mut prompt, mut state) = (prompt, Some(conversation));
        let (lasted, mut summary) = (before.duration, before);
        for iteration in first..=self.config.max_iterations.max(first) {
            options.observer.emit(&RunEvent::IterationStarted { iteration });
            if let Some(conversation) = &mut state {
                conversation.begin_iteration(iteration);
            }
            let mut result = execute(&self.provider, &self.tools, prompt.as_deref(), &options, state.take()).await;
            state = result.conversation_state.take();
            self.report(&result, &options);
            summary.add(iteration, &result);
            if let Some(conversation) = &mut state {
                conversation.note_elapsed(lasted + started.elapsed());
            }
            if let Some(outcome) = self.outcome(result) {
                if let (RunOutcome::Completed(said), Some(conversation)) = (&outcome, &mut state) {
                    conversation.finish(said);
                }
                summary.outcome = outcome;
                break;
            }
            prompt = Some(GO_ON.to_owned());
        }
        if let Some(conversation) = &mut state {
            bill_open_summary(conversation, &options).await;
            summary.condensing = conversation.condensing();
        }
        summary.duration = lasted + started.elapsed();
        summary.log = state.map(|conversation| conversation.window().log()).unwrap_or_default();
        summary
    }

    /// How the run ends with this result, if it does.
    fn outcome(&self, result: ExecutionResult) -> Option<RunOutcome> {
        let needs_signal = self.tools.definitions().iter().any(|tool| tool.name == COMPLETION_TOOL);
        match (result.stop, result.completion) {
            (_, Some(signal)) => Some(signal.into()),
            (Stop::Failed, None) => {
                let unknown = || ExecutionError::new(Category::Api, "the run failed".to_owned());
                Some(RunOutcome::Failed(result.error.unwrap_or_else(unknown)))
            }
            (Stop::Cancelled, None) => Some(RunOutcome::Cancelled),
            (Stop::OutOfBudget, None) => Some(RunOutcome::OutOfBudget),
            (Stop::EndOfTurn, None) if !needs_signal => Some(RunOutcome::Completed(result.output)),
            _ => None,
        }
    }

    fn report(&self, result: &ExecutionResult, options: &ExecuteOptions) {
        let metrics = result.conversation_metrics;
        let finished = RunEvent::IterationFinished { metrics };
        let cap = options.window.message_cap();
        let approaching = cap.and_then(|cap| RunEvent::approaching(metrics.message_count, cap));
        for event in [Some(finished), approaching].into_iter().flatten() {
            if let Some(line) = event.message() {
                match event {
                    RunEvent::ApproachingLimit { .. } => tracing::warn!(task_id = %options.task_id, "{line}"),
                    _ => tracing::info!(task_id = %options.task_id, "{line}"),
                }
            }
            options.observer.emit(&event);
        }
    }

    /// Keeps the live state up to date, then tells whoever else watches.
    fn observer(&self) -> Observer {
        let (live, outer) = (self.live.clone(), self.config.options.observer.clone());
        Observer::new(move |event| {
            live.send_if_modified(|state| state.take(event));
            outer.emit(event);
        })
    }
}

/// What the model has to be told so that a killed run goes on.
fn next_prompt(recorded: &Recorded) -> Option<String> {
    match recorded.log.messages.last() {
        _ if recorded.open.is_some() => None,
        None => Some(recorded.task.clone()),
        Some(last) if last.shape().is_from_model() => Some(GO_ON.to_owned()),
        Some(_) => None,
    }
}

/// A run that was done when it was killed.
fn finished(signal: Signal, iterations: usize, conversation: &Conversation, before: RunSummary) -> RunSummary {
    RunSummary {
        outcome: signal.into(),
        iterations,
        conversation_metrics: conversation.metrics(),
        log: conversation.window().log(),
        ..before
    }
}

/// A summary that is still being written when a run ends stands in no view, but somebody pays for it.
async fn bill_open_summary(conversation: &mut Conversation, options: &ExecuteOptions) {
    let Some(mut pending) = conversation.pending.take() else {
        return;
    };
    // What has arrived meanwhile says what it took.
    let usage = pending.within(Duration::ZERO).await.map_or(pending.expected, |attempt| attempt.usage);
    let cost = cost(&pending.model, usage);
    conversation.bill_summary(&pending.model, usage, cost);
    conversation.condensing.failed += 1;
    let warning = format!(
        "a summary was still being written when the run ended: it stands in no view, and is billed with at most {}",
        louver::display::dollars(cost.usd(), 4)
    );
    tracing::warn!(task_id = %options.task_id, "{warning}");
    options.observer.emit(&RunEvent::Billed { cost });
    options.observer.emit(&RunEvent::Warning(warning));
}

impl LiveState {
    /// Takes over what earlier processes of the run did.
    fn go_on(&mut self, before: &RunSummary, conversation: &Conversation) {
        self.tool_calls = before.tool_calls;
        self.cost = before.cost + before.condensing.cost;
        self.summaries = before.condensing.accepted;
        self.evicted_messages = conversation.metrics().evicted_messages;
    }

    /// Takes an event in; whether anything changed.
    fn take(&mut self, event: &RunEvent) -> bool {
        match event {
            RunEvent::IterationStarted { iteration } => self.iteration = *iteration,
            RunEvent::Answered { message_count, evicted_messages, prompt_tokens, .. } => {
                self.evicted_messages = *evicted_messages;
                self.conversation_message_count = Some(*message_count);
                self.prompt_tokens = *prompt_tokens;
            }
            RunEvent::Billed { cost } => self.cost += *cost,
            RunEvent::ToolFinished { .. } => self.tool_calls += 1,
            RunEvent::Truncated { messages } => self.evicted_messages += messages,
            RunEvent::IterationFinished { metrics } => {
                self.conversation_message_count = Some(metrics.message_count);
                self.evicted_messages = metrics.evicted_messages;
            }
            RunEvent::Condensed { .. } => self.summaries += 1,
            RunEvent::ToolStarted { .. }
            | RunEvent::Discarded { .. }
            | RunEvent::Decided(_)
            | RunEvent::Retrying { .. }
            | RunEvent::Warning(_)
            | RunEvent::ApproachingLimit { .. } => return false,
        }
        true
    }
}
