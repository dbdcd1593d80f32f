//! `louver demo`: the whole story on one machine, no key.

use super::task::{Watched, boxed, options, runtime, summary_box, tools};
use super::{Exit, Shell};
use crate::config::Config;
use crate::printer::grouped;
use louver_agent::provider::{AnthropicProvider, Connection, OpenAiProvider, Provider};
use louver_agent::{ApiKey, ExecutorConfig, RunOutcome};
use louver_sandbox::{JournalEntry, Running, Sandbox, Scenario, demo_files};
use std::path::Path;
use std::sync::Arc;

/// The cap on messages that the demo runs with.
const CAP: usize = 30;

/// What the model is asked.
const TASK: &str = "Read every module of this project, note what it exports, check the log, and write a report.";

/// The providers that are played, with a model of each.
#[derive(Clone, Copy)]
enum Played {
    Anthropic,
    OpenAi,
}

impl Played {
    fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic Messages",
            Self::OpenAi => "OpenAI Chat Completions",
        }
    }

    fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi => "gpt-5.5",
        }
    }

    fn provider(self, sandbox: &Running) -> anyhow::Result<Arc<dyn Provider>> {
        let connection = Connection::to(&sandbox.url());
        Ok(match self {
            Self::Anthropic => Arc::new(AnthropicProvider::new(connection, ApiKey::sandbox())?),
            Self::OpenAi => Arc::new(OpenAiProvider::chat(connection, ApiKey::sandbox())?),
        })
    }
}

pub(super) fn run(shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for played in [Played::Anthropic, Played::OpenAi] {
        let folder = tempfile::tempdir()?;
        lay_out(folder.path())?;
        exit = runtime()?.block_on(play(played, folder.path(), shell))?;
        if exit != Exit::Done {
            break;
        }
    }
    shell.printer.text(
        "Next: louver replay FOLDER shows what each policy would have cost and forgotten on your own sessions;\n\
         louver run TASK.md runs a task of yours; louver sandbox serves this stand-in to any client.\n",
    )?;
    Ok(exit)
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

async fn play(played: Played, folder: &Path, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    shell.printer.text(&format!("{}, at most {CAP} messages, strict stand-in on this machine\n", played.name()))?;
    let sandbox = Sandbox::builder().scenario(Scenario::named("demo")?).start("127.0.0.1:0").await?;
    let mut config = ExecutorConfig::new(options(played.model(), &Config::default()));
    config.options.window.settings.messages.max_messages = CAP;
    let tools = tools(folder, &["wc".to_owned()])?;
    let watched = Watched { provider: played.provider(&sandbox)?, tools, config };
    let summary = watched.run(TASK, None, shell).await?;
    shell.printer.text(&summary_box(&summary))?;
    shell.printer.text(&boxed("What the stand-in judged", &judged(&sandbox.journal())))?;
    sandbox.shutdown().await;
    Ok(if matches!(summary.outcome, RunOutcome::Completed(_)) { Exit::Done } else { Exit::Finding })
}

/// Figures of the journal.
fn judged(journal: &[JournalEntry]) -> Vec<(&'static str, String)> {
    let refused = journal.iter().filter(|entry| entry.status >= 400).count();
    let largest = journal.iter().map(|entry| entry.messages).max().unwrap_or_default();
    let input: u64 = journal.iter().map(|entry| entry.input_tokens).sum();
    let read: u64 = journal.iter().map(|entry| entry.cache_read_tokens).sum();
    let share = (read * 100).checked_div(input).unwrap_or_default();
    vec![
        ("Requests", journal.len().to_string()),
        ("Refused", refused.to_string()),
        ("Largest view", format!("{largest} messages")),
        ("From cache", format!("{} of {} tokens ({share} %)", grouped(read), grouped(input))),
    ]
}
