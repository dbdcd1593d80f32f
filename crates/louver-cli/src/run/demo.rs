//! `louver demo`: the whole story on one machine, no key.

use super::interrupt::cancel_on_interrupt;
use super::models::{Model, reach};
use super::summary_box::{boxed, summary_box};
use super::task::{options, runtime};
use super::toolbox::{open_root, tools};
use super::watched::{Show, Watched};
use super::{Exit, Shell};
use crate::config::{Config, Provider as Named, ProviderKind, Wire};
use crate::printer::{dollars, grouped, percent_of};
use async_trait::async_trait;
use louver::Format;
use louver_agent::provider::{Answer, Provider, ProviderError, Request};
use louver_agent::{CancellationToken, ExecutorConfig, RunOutcome, RunSummary};
use louver_sandbox::{JournalEntry, Sandbox, Scenario, demo_files};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The cap on messages that the demo runs with.
const CAP: usize = 30;

/// How long the scripted model thinks where a person watches.
const PACE: Duration = Duration::from_millis(100);

/// What to do after the demo.
const NEXT: &str = "
Next
  louver replay        what each policy would have cost and forgotten on your
                       own sessions of Claude Code, Codex and Gemini CLI
  louver inspect FILE  what fills the window of a conversation
  louver run TASK.md   a task of your own; on a real model with
                       ANTHROPIC_API_KEY and --provider anthropic-api
  louver sandbox       this stand-in, for any client; its journal is at
                       /_sandbox/journal
";

/// What the model is asked.
const TASK: &str = "Read every module of this project, note what it exports, check the log, and write a report.";

/// The APIs that are played.
const PLAYED: [(&str, Wire); 2] = [("Anthropic Messages", Wire::Messages), ("OpenAI Chat Completions", Wire::Chat)];

/// A provider that takes its time, as a real model does: without it a person would see nothing of the window at work.
#[derive(Debug)]
struct Paced(Arc<dyn Provider>);

#[async_trait]
impl Provider for Paced {
    fn format(&self) -> Format {
        self.0.format()
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        // Whoever cancels is heard by the provider itself.
        let _ = cancel.run_until_cancelled(tokio::time::sleep(PACE)).await;
        self.0.send(request, cancel).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        self.0.count_tokens(request, cancel).await
    }
}

pub(super) fn run(shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    shell.printer.text(&format!(
        "A scripted model works through a small project with 65 tool calls. Its history\n\
         grows and grows, but the window sends only {CAP} messages of it at a time, and a\n\
         few more where a tool call would lose its result. Then the same under the\n\
         default policy, which leaves out what does not pay. A stand-in on this machine\n\
         judges and bills every request by the provider's own rules. No key, and nothing\n\
         leaves this machine.\n"
    ))?;
    runtime()?.block_on(async {
        let cancel = CancellationToken::new();
        cancel_on_interrupt(&cancel)?;
        for (name, wire) in PLAYED {
            let exit = play(name, wire, &cancel, shell).await?;
            if exit != Exit::Done {
                return Ok(exit);
            }
        }
        shell.printer.text(NEXT)?;
        Ok(Exit::Done)
    })
}

/// The project that the scripted model reads.
fn lay_out(folder: &Path) -> anyhow::Result<()> {
    for (path, content) in demo_files() {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, content)?;
    }
    Ok(())
}

/// One run of the task, and what the stand-in made of it.
struct Played {
    summary: RunSummary,
    journal: Vec<JournalEntry>,
}

async fn play(name: &str, wire: Wire, cancel: &CancellationToken, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    shell.printer.text(&format!("\n{name}: at most {CAP} messages\n"))?;
    let mut capped = Config::default();
    capped.execution.max_conversation_messages = Some(CAP);
    let messages = run_once(wire, &capped, cancel, shell).await?;
    shell.printer.text(&summary_box(&messages.summary))?;
    shell.printer.text(&boxed("What the stand-in judged", &judged(&messages.journal)))?;
    if !matches!(messages.summary.outcome, RunOutcome::Completed(_)) {
        return Ok(Exit::Finding);
    }
    shell.printer.text(&format!("\n{name}: the same task under the default policy\n"))?;
    let ladder = Config { policy: Some("ladder".to_owned()), ..Config::default() };
    let ladder = run_once(wire, &ladder, cancel, shell).await?;
    let bills = [("messages", &messages), ("ladder", &ladder)].map(|(policy, played)| (policy, bill(played)));
    shell.printer.text(&boxed("Two windows, two bills", &bills))?;
    Ok(if matches!(ladder.summary.outcome, RunOutcome::Completed(_)) { Exit::Done } else { Exit::Finding })
}

/// What a run cost, and why.
fn bill(played: &Played) -> String {
    let input: u64 = played.journal.iter().map(|entry| entry.input_tokens).sum();
    let read: u64 = played.journal.iter().map(|entry| entry.cache_read_tokens).sum();
    let cost = dollars(played.summary.cost.usd(), 4);
    format!("{cost} for {} tokens in, {} % of them from the cache", grouped(input), percent_of(read, input))
}

async fn run_once(
    wire: Wire,
    window: &Config,
    cancel: &CancellationToken,
    shell: &mut Shell<'_>,
) -> anyhow::Result<Played> {
    let sandbox = Sandbox::builder().scenario(Scenario::named("demo")?).start("127.0.0.1:0").await?;
    let named = Named { wire: Some(wire), ..Named::new(ProviderKind::Sandbox) };
    let Model { mut provider, model } =
        reach(&named, &sandbox.url(), &shell.keys, Duration::from_secs(Config::default().execution.timeout_seconds))?;
    let folder = tempfile::tempdir()?;
    lay_out(folder.path())?;
    let tools = Arc::new(tools(open_root(folder.path(), [])?, &["wc".to_owned()], shell.launcher.clone())?);
    let mut config = ExecutorConfig::new(options(&model, window)?);
    config.options.cancel = cancel.clone();
    if shell.printer.shows_progress() {
        provider = Arc::new(Paced(provider));
    }
    let ended = Watched { provider, tools, config, show: Show::default() }.run(TASK, None, shell).await;
    let journal = sandbox.journal();
    sandbox.shutdown().await;
    Ok(Played { summary: ended?, journal })
}

/// Figures of the journal.
fn judged(journal: &[JournalEntry]) -> Vec<(&'static str, String)> {
    let refused = journal.iter().filter(|entry| entry.status >= 400).count();
    let largest = journal.iter().map(|entry| entry.messages).max().unwrap_or_default();
    let input: u64 = journal.iter().map(|entry| entry.input_tokens).sum();
    let read: u64 = journal.iter().map(|entry| entry.cache_read_tokens).sum();
    let share = percent_of(read, input);
    vec![
        ("Requests", journal.len().to_string()),
        ("Refused", refused.to_string()),
        ("Largest view", format!("{largest} messages")),
        ("From cache", format!("{} of {} tokens ({share} %)", grouped(read), grouped(input))),
    ]
}
