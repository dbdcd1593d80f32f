//! `louver run`: a task, a model, and the window between them.

use super::interrupt::cancel_on_interrupt;
use super::keys::Keys;
use super::log;
use super::mcp_servers::McpServers;
use super::models::Models;
use super::private_memory::keep_memory_private;
use super::summary_box::summary_box;
use super::toolbox::Toolbox;
use super::watched::{Show, Watched};
use super::{Exit, Shell};
use crate::config::{Config, Provider, ProviderKind};
use crate::input::read_file;
use crate::printer::safe;
use crate::settings::Run;
use anyhow::{Context, anyhow, bail, ensure};
use louver::catalog::Catalog;
use louver::{Budget, PolicyKind};
use louver_agent::provider::{Category, Connection};
use louver_agent::tools::ToolSet;
use louver_agent::{
    CancellationToken, ExecuteOptions, ExecutionError, ExecutorConfig, Existing, RunError, RunOutcome, RunSummary,
    StateError,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What a task with the sandbox has to know: it does something else, and does it to files.
const SCRIPTED: &str = "the sandbox answers: its model follows a script whatever the task says, and writes to notes/; \
    --provider anthropic-api or openai-api asks a real model";

/// No task is longer; what is, does not fit into any window.
const MAX_TASK_BYTES: u64 = 4_000_000;

pub(super) fn run(job: &Run<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    keep_memory_private();
    let task = read_task(&job.args.task)?;
    let Toolbox { mut tools, programs, asking } = Toolbox::of(job, shell)?;
    let show = Show {
        talk: true,
        asking: asking.clone(),
        decisions: job.args.events.as_deref().map(log::append_to).transpose()?,
        log: log::start(job.args.log.as_deref())?,
    };
    runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        cancel_on_interrupt(&cancel)?;
        let models = Models::reach(&job.provider, job.condensing.as_ref(), &shell.keys, max_silence(job)).await?;
        warn_of_exposed_keys(job, shell);
        if job.provider.kind == ProviderKind::Sandbox && job.provider.base_url.is_none() {
            shell.printer.warning(SCRIPTED);
        }
        if !job.config.tools.mcp_servers.is_empty() {
            shell.printer.progress("starting the MCP servers");
        }
        let servers =
            McpServers::start(&job.config.tools.mcp_servers, &mut tools, &programs, &shell.keys, &cancel).await;
        if let Some(asking) = &asking {
            tools = tools.asking(Arc::clone(asking) as Arc<_>);
        }
        shell.printer.end_progress();
        let servers = servers?;
        let ended = match &servers {
            Some(_) => watch(job, &task, &models, (tools, show), cancel, shell).await,
            None => Ok(RunSummary { outcome: RunOutcome::Cancelled, ..RunSummary::default() }),
        };
        servers.unwrap_or_default().shut_down().await;
        models.close().await;
        conclude(job, &ended?, shell)
    })
}

async fn watch(
    job: &Run<'_>,
    task: &str,
    models: &Models,
    (tools, show): (ToolSet, Show),
    cancel: CancellationToken,
    shell: &mut Shell<'_>,
) -> anyhow::Result<RunSummary> {
    let mut config = ExecutorConfig::new(options(&models.conversation.model, &job.config)?);
    config.options.condense.handler.clone_from(&models.condensing);
    check_prices(&config.options)?;
    shell.warn_of_idle(&job.config.idle_keys(&config.options.window.policy), config.options.window.policy.name());
    if let Some(asked) = job.config.execution.max_tokens.filter(|asked| *asked > config.options.max_tokens) {
        let (model, most) = (&config.options.model, config.options.max_tokens);
        shell.printer.warning(&format!("`{model}` writes {most} tokens at most; {asked} were asked for"));
    }
    config.options.cancel = cancel;
    config.options.task_id = task_id(&job.args.task)?;
    config.max_iterations = usize::try_from(job.config.execution.max_iterations)?;
    config.state_file.clone_from(&job.args.state);
    config.existing = if job.args.force { Existing::Override } else { Existing::Protect };
    let resumed = job.args.resume.then_some(job.args.state.as_deref()).flatten();
    let provider = Arc::clone(&models.conversation.provider);
    let ended = Watched { provider, tools: Arc::new(tools), config, show }.run(task, resumed, shell).await;
    ended.map_err(|error| match way_out(&error, &job.args.task) {
        Some(advice) => anyhow!("{error}{advice}"),
        None => error.into(),
    })
}

/// What to do about a state file that protects what it holds.
fn way_out(error: &RunError, task: &Path) -> Option<String> {
    match error {
        RunError::State(StateError::Unfinished(_)) => {
            Some(": --resume goes on with it, --force starts anew and loses it".to_owned())
        }
        RunError::State(StateError::OtherTask(_)) => Some(format!(
            ": put {} back as it was; --resume --force goes on with the task as it was, --force starts anew with the new one",
            task.display()
        )),
        _ => None,
    }
}

/// Names a run of a task in logs and events: two runs of the same file are told apart.
fn task_id(path: &Path) -> anyhow::Result<String> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let tail = getrandom::u32().map_err(|error| anyhow!("no random numbers: {error}"))?;
    Ok(format!("{name}-{tail:08x}"))
}

/// Says which keys others can read: on the way, or in the environment.
fn warn_of_exposed_keys(job: &Run<'_>, shell: &mut Shell<'_>) {
    let own =
        [("provider.base_url", Some(&job.provider)), ("context.condensing_provider.base_url", job.condensing.as_ref())];
    let own = own.into_iter().filter_map(|(key, provider)| Some((key.to_owned(), provider?.base_url.as_deref()?)));
    let servers = job.config.tools.mcp_servers.iter();
    let servers =
        servers.filter_map(|(name, server)| Some((format!("tools.mcp_servers.{name}.url"), server.url.as_deref()?)));
    for (key, _) in own.chain(servers).filter(|(_, url)| Connection::to(url).is_readable_on_the_way()) {
        let danger = "is plain http to another machine: anybody on the way can read the key and all that is said";
        shell.printer.warning(&format!("{key} {danger}"));
    }
    for variable in Keys::left_in_environment(job) {
        let danger = "stays in the environment of this process, where commands can read it if they run as root";
        shell.printer.warning(&format!("{variable} {danger}"));
    }
}

fn read_task(path: &Path) -> anyhow::Result<String> {
    let bytes = read_file(path, MAX_TASK_BYTES).with_context(|| path.display().to_string())?;
    let Ok(task) = String::from_utf8(bytes) else { bail!("{}: not UTF-8 text", path.display()) };
    ensure!(!task.trim().is_empty(), "{}: there is nothing in it; write down what is to be done", path.display());
    Ok(task)
}

/// Shows the box, and beside it what the reader has to know or do.
fn conclude(job: &Run<'_>, summary: &RunSummary, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    if summary.outcome == RunOutcome::Cancelled && summary.iterations == 0 {
        shell.printer.note("Stopped before it began.");
        return Ok(Exit::Finding);
    }
    shell.printer.text(&summary_box(summary))?;
    match &summary.outcome {
        RunOutcome::Completed(said) => {
            let lines: String = said.lines().map(|line| format!("{}\n", safe(line))).collect();
            shell.printer.text(&lines)?;
        }
        RunOutcome::Blocked(reason) => shell.printer.note(&format!("The model is blocked: {}", safe(reason))),
        RunOutcome::OutOfIterations => {
            shell.printer.note("Not done: raise execution.max_iterations, or cut the task into smaller ones.");
        }
        RunOutcome::OutOfBudget => shell.printer.note("Not done: raise execution.max_cost_usd."),
        RunOutcome::Cancelled if job.args.state.is_some() => {
            shell.printer.note("Stopped: the same command with --resume goes on from here.");
        }
        RunOutcome::Cancelled => shell.printer.note("Stopped: a run with --state FILE could go on from here."),
        RunOutcome::Failed(error) => shell.printer.error(&format!("{error}{}", advice(&job.provider, error))),
    }
    Ok(exit(&summary.outcome))
}

/// One runtime for whatever talks or serves.
pub(super) fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// What the configuration says of the window and of the bounds.
pub(super) fn options(model: &str, config: &Config) -> anyhow::Result<ExecuteOptions> {
    let mut options = ExecuteOptions::new(model);
    let execution = &config.execution;
    options.max_tokens = ExecuteOptions::most_reply(model, execution.max_tokens.unwrap_or(options.max_tokens));
    options.max_turns = usize::try_from(execution.max_turns)?;
    options.max_cost = execution.max_cost_usd;
    let known = config.context.context_window.map(|_| PolicyKind::default_for(true));
    if let Some(policy) = config.wanted_policy().or(known) {
        options.window.policy = policy;
    }
    config.apply(&mut options.window.policy);
    options.window.custom_condensing_prompt.clone_from(&config.context.custom_condensing_prompt);
    if options.window.policy.needs_budget() {
        options.window.budget = budget(&options, config.context.context_window)?;
    }
    Ok(options)
}

/// A bound on money that nobody could keep is refused.
fn check_prices(options: &ExecuteOptions) -> anyhow::Result<()> {
    let summaries = options.condense.handler.as_ref().map(|handler| &handler.model);
    for model in summaries.into_iter().chain([&options.model]).filter(|_| options.max_cost.is_some()) {
        ensure!(
            Catalog::builtin().find(model).is_some(),
            "execution.max_cost_usd cannot be kept: the catalogue has no prices for `{model}`"
        );
    }
    Ok(())
}

fn max_silence(job: &Run<'_>) -> Duration {
    Duration::from_secs(job.config.execution.timeout_seconds)
}

/// The configured window, less the room for a reply. The model's own is left to the agent, which knows it as well.
fn budget(options: &ExecuteOptions, configured: Option<u64>) -> anyhow::Result<Option<Budget>> {
    let budget = configured.map(|window| Budget::new(window, Some(options.max_tokens))).transpose();
    let budget = budget.context("context.context_window")?;
    let (policy, model) = (options.window.policy.name(), &options.model);
    ensure!(
        budget.is_some() || options.window.context_window(model).is_some(),
        "the policy `{policy}` needs to know the context window of `{model}`, which is not in the catalogue: set \
         context.context_window"
    );
    Ok(budget)
}

/// What to do about a failure, where it is likely to be on this side.
fn advice(provider: &Provider, error: &ExecutionError) -> String {
    match (error.category, &provider.base_url, provider.key_variable()) {
        (Category::Network, Some(url), _) => format!("; is provider.base_url right ({})?", host(url)),
        (Category::Network, None, _) => "; is the network there, and does it want a proxy (HTTPS_PROXY)?".to_owned(),
        (Category::Auth, _, Some(variable)) => format!("; is the key in {variable} right?"),
        _ => String::new(),
    }
}

/// The host in an address, which may hold a password besides.
fn host(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default().to_owned()
}

fn exit(outcome: &RunOutcome) -> Exit {
    match outcome {
        RunOutcome::Completed(_) => Exit::Done,
        RunOutcome::Blocked(_) | RunOutcome::OutOfIterations | RunOutcome::OutOfBudget | RunOutcome::Cancelled => {
            Exit::Finding
        }
        RunOutcome::Failed(error) if is_ours(error) => Exit::Refused,
        RunOutcome::Failed(_) => Exit::ProviderFailed,
    }
}

/// Whether no provider is to blame: a history that cannot fit, or a state file that cannot be written.
fn is_ours(error: &ExecutionError) -> bool {
    error.status.is_none() && matches!(error.category, Category::Overflow | Category::Tool)
}
