//! `louver run`: a task, a model, and the window between them.

use super::{Exit, Shell};
use crate::config::{Config, Provider as ProviderConfig, ProviderKind};
use crate::meaning::Run;
use crate::printer::{grouped, safe};
use anyhow::Context;
use louver_agent::provider::{AnthropicProvider, Connection, OpenAiProvider, Provider};
use louver_agent::tools::{AllowList, Environment, Limits, Root, RunCommand, ToolSet};
use louver_agent::{ApiKey, ExecuteOptions, Executor, ExecutorConfig, LiveState, Observer, RunOutcome, RunSummary};
use louver_sandbox::{Running, Sandbox, Scenario};
use std::path::Path;
use std::sync::Arc;
use tokio::sync::mpsc;

/// The model that the sandbox plays where none is named.
const SANDBOX_MODEL: &str = "claude-sonnet-4-5";

pub(super) fn run(job: &Run, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let task = std::fs::read_to_string(&job.task).with_context(|| job.task.display().to_string())?;
    let tools = tools(&job.root, &job.allow)?;
    runtime()?.block_on(async {
        let (provider, model, sandbox) = provider(job).await?;
        let mut config = ExecutorConfig::new(options(&model, &job.config));
        config.max_iterations = usize::try_from(job.config.execution.max_iterations)?;
        config.state_file.clone_from(&job.state);
        let resumed = job.resume.then(|| job.state.clone()).flatten();
        let watched = Watched { provider, tools, config };
        let summary = watched.run(&task, resumed.as_deref(), shell).await?;
        if let Some(sandbox) = sandbox {
            sandbox.shutdown().await;
        }
        shell.printer.text(&summary_box(&summary))?;
        Ok(exit(&summary.outcome))
    })
}

/// One runtime for whatever talks or serves.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// File tools inside the folder, and the commands that are allowed.
pub(super) fn tools(root: &Path, allow: &[String]) -> anyhow::Result<Arc<ToolSet>> {
    let root = Root::open(root).with_context(|| root.display().to_string())?;
    let mut tools = ToolSet::for_root(&root, Limits::default());
    if !allow.is_empty() {
        let environment = Environment::inherit::<&str>([]);
        tools.add(Arc::new(RunCommand::new(root, Limits::default(), AllowList::new(allow)?, environment)))?;
    }
    Ok(Arc::new(tools))
}

type Chosen = (Arc<dyn Provider>, String, Option<Running>);

async fn provider(job: &Run) -> anyhow::Result<Chosen> {
    let named = job.config.provider.as_ref();
    let model = named.and_then(|provider| provider.model.clone());
    match job.provider {
        ProviderKind::Sandbox => {
            let sandbox = Sandbox::builder().scenario(Scenario::named("demo")?).start("127.0.0.1:0").await?;
            let provider = AnthropicProvider::new(Connection::to(&sandbox.url()), ApiKey::sandbox())?;
            Ok((Arc::new(provider), model.unwrap_or_else(|| SANDBOX_MODEL.to_owned()), Some(sandbox)))
        }
        ProviderKind::AnthropicApi => {
            let (connection, key) = reach(named, "https://api.anthropic.com", "ANTHROPIC_API_KEY")?;
            let model = model.unwrap_or_else(|| "claude-sonnet-5-5".to_owned());
            Ok((Arc::new(AnthropicProvider::new(connection, key)?), model, None))
        }
        ProviderKind::OpenaiApi => {
            let (connection, key) = reach(named, "https://api.openai.com", "OPENAI_API_KEY")?;
            let model = model.unwrap_or_else(|| "gpt-5.5".to_owned());
            Ok((Arc::new(OpenAiProvider::chat(connection, key)?), model, None))
        }
    }
}

fn reach(named: Option<&ProviderConfig>, url: &str, variable: &str) -> anyhow::Result<(Connection, ApiKey)> {
    let url = named.and_then(|provider| provider.base_url.as_deref()).unwrap_or(url);
    let variable = named.and_then(|provider| provider.api_key_env.as_deref()).unwrap_or(variable);
    let key = ApiKey::from_env(variable)
        .with_context(|| format!("no key in {variable}: set it, or use --provider sandbox, which needs none"))?;
    Ok((Connection::to(url), key))
}

/// What the configuration says of the window.
pub(super) fn options(model: &str, config: &Config) -> ExecuteOptions {
    let mut options = ExecuteOptions::new(model);
    if let Some(policy) = &config.policy {
        options.window.policy.clone_from(policy);
    }
    options.window.settings.messages = config.messages();
    options.window.settings.tokens = config.tokens();
    options.window.custom_condensing_prompt.clone_from(&config.context.custom_condensing_prompt);
    options
}

/// A run that is shown while it lasts.
pub(super) struct Watched {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) tools: Arc<ToolSet>,
    pub(super) config: ExecutorConfig,
}

impl Watched {
    /// Runs to the end, or until Ctrl-C, and draws what is going on.
    pub(super) async fn run(
        mut self,
        task: &str,
        resumed: Option<&Path>,
        shell: &mut Shell<'_>,
    ) -> anyhow::Result<RunSummary> {
        let (sender, mut lines) = mpsc::unbounded_channel();
        self.config.options.observer = Observer::new(move |event| {
            if let Some(line) = event.message() {
                // Nobody reads any more once the run is over.
                let _ = sender.send(line);
            }
        });
        let cancel = self.config.options.cancel.clone();
        let executor = Executor::new(self.provider, self.tools, self.config);
        let mut live = executor.live();
        let mut work = std::pin::pin!(async {
            match resumed {
                Some(path) => executor.resume(path).await,
                None => executor.run(task).await,
            }
        });
        loop {
            tokio::select! {
                summary = &mut work => {
                    while let Ok(line) = lines.try_recv() {
                        shell.printer.note(&safe(&line));
                    }
                    return Ok(summary?);
                }
                Some(line) = lines.recv() => shell.printer.note(&safe(&line)),
                Ok(()) = live.changed() => {
                    let line = status(&live.borrow_and_update());
                    shell.printer.progress(&line);
                }
                stop = tokio::signal::ctrl_c() => {
                    stop?;
                    cancel.cancel();
                }
            }
        }
    }
}

fn status(live: &LiveState) -> String {
    format!(
        "iteration {}  {} tool calls  window {} messages, {} tokens  {} left out",
        live.iteration,
        live.tool_calls,
        live.conversation_message_count.unwrap_or_default(),
        grouped(live.prompt_tokens),
        live.evicted_messages
    )
}

/// The summary in a box.
pub(super) fn summary_box(summary: &RunSummary) -> String {
    boxed("Execution summary", &summary.rows())
}

pub(super) fn boxed(title: &str, rows: &[(&str, String)]) -> String {
    let label = rows.iter().map(|(label, _)| label.chars().count()).max().unwrap_or_default();
    let lines: Vec<String> = rows.iter().map(|(name, value)| format!("{name:<label$}  {}", safe(value))).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or_default().clamp(40, 96);
    let mut text = format!(
        "\u{256d}\u{2500} {title} {}\u{256e}\n",
        "\u{2500}".repeat(width.saturating_sub(title.chars().count() + 1))
    );
    for line in lines {
        let line: String = line.chars().take(width).collect();
        text.push_str(&format!("\u{2502} {line:<width$} \u{2502}\n"));
    }
    text.push_str(&format!("\u{2570}{}\u{256f}\n", "\u{2500}".repeat(width + 2)));
    text
}

fn exit(outcome: &RunOutcome) -> Exit {
    match outcome {
        RunOutcome::Completed(_) => Exit::Done,
        RunOutcome::Blocked(_) | RunOutcome::OutOfIterations | RunOutcome::Cancelled => Exit::Finding,
        RunOutcome::Failed(_) => Exit::ProviderFailed,
    }
}
