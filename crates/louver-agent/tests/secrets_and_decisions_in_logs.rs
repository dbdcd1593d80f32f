//! What is logged: every decision, and never a key.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver_agent::tools::{AllowList, Environment, Limits, Root, RunCommand, ToolSet};
use louver_agent::{ApiKey, CondenseTiming, Executor, ExecutorConfig, Existing, RunOutcome};
use louver_sandbox::{Call, Fault, Scenario, Turn};
use serde_json::json;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing_subscriber::fmt::MakeWriter;
use world::{Api, World, connection, read, steps};

/// Collects what is logged.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

fn listening() -> (Lines, tracing::subscriber::DefaultGuard) {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(lines.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    (lines, guard)
}

#[tokio::test(flavor = "current_thread")]
async fn trimming_is_logged_in_the_promised_words() {
    let (lines, _guard) = listening();
    let world = World::new(Api::Chat, steps(10)).await;
    let mut options = world.options();
    options.window.policy =
        PolicyKind::Messages(MessagesConfig { max_messages: 10, preserve_last_n: 4, ..MessagesConfig::default() });
    world.execute(&options).await;
    let text = lines.text();
    let trimmed = text.lines().find(|line| line.contains("Trimmed conversation: ")).unwrap();
    assert!(trimmed.contains("DEBUG"), "{trimmed}");
    assert!(trimmed.contains("Trimmed conversation: 2 messages removed, 11 kept (~"), "{trimmed}");
    assert!(trimmed.trim_end().ends_with(" tokens)"), "{trimmed}");
}

#[tokio::test(flavor = "current_thread")]
async fn every_decision_is_one_event_with_all_its_fields() {
    let (lines, _guard) = listening();
    let world = World::new(Api::Anthropic, steps(20)).await;
    let mut options = world.options();
    options.window.policy = PolicyKind::Messages(MessagesConfig {
        max_messages: 14,
        preserve_last_n: 6,
        summarize_on_trim: true,
        ..MessagesConfig::default()
    });
    options.condense.timing = CondenseTiming::Immediate;
    let result = world.execute(&options).await;
    let text = lines.text();
    let decisions: Vec<&str> = text.lines().filter(|line| line.contains("louver::decision")).collect();
    let fields = [
        "trigger=",
        "policy=",
        "task_id=\"task-7\"",
        "messages_before=",
        "messages_after=",
        "tokens_before=",
        "tokens_after=",
        "evicted=",
        "cost_usd=",
        "duration_ms=",
    ];
    for decision in &decisions {
        assert!(fields.iter().all(|field| decision.contains(field)), "{decision}");
    }
    let summaries = decisions.iter().filter(|decision| decision.contains("trigger=SummaryArrived")).count();
    assert_eq!(summaries, result.condensing.asked);
    let cuts = world.lines().iter().filter(|line| line.starts_with("Context truncated")).count();
    assert_eq!(decisions.len(), summaries + cuts);
}

#[tokio::test(flavor = "current_thread")]
async fn nothing_is_decided_when_it_is_switched_off() {
    let (lines, _guard) = listening();
    let world = World::new(Api::Responses, steps(20)).await;
    let mut options = world.options();
    options.window.policy =
        PolicyKind::Messages(MessagesConfig { max_messages: 0, summarize_on_trim: true, ..MessagesConfig::default() });
    world.execute(&options).await;
    assert!(!lines.text().contains("louver::decision"));
}

#[tokio::test(flavor = "current_thread")]
async fn a_key_is_nowhere() {
    let secret = "bad-secret-sk-0123456789abcdef";
    let (lines, _guard) = listening();
    let folder = tempfile::tempdir().unwrap();
    let (key_file, state) = (folder.path().join("key"), folder.path().join("state"));
    let mut everything = String::new();
    for key in [secret, &secret["bad-".len()..]] {
        std::fs::write(&key_file, key).unwrap();
        for api in Api::ALL {
            let broken =
                Turn::calls([read("a")]).after(Fault::ServerError).after(Fault::Reset).after(Fault::StreamError);
            let world = World::new(api, Scenario::new("x").turn(broken).turn(world::complete())).await;
            let key = ApiKey::from_file(&key_file).unwrap();
            everything += &format!("{key:?}");
            let provider = api.provider(connection(&world.sandbox.url()), key);
            everything += &format!("{provider:?}");
            let state_file = Some(state.clone());
            let existing = Existing::Override;
            let config = ExecutorConfig { state_file, existing, ..ExecutorConfig::new(world.options()) };
            let executor = Executor::new(provider, world.tools.clone(), config);
            everything += &format!("{executor:?}");
            let summary = executor.run("Do the task.").await.unwrap();
            if let RunOutcome::Failed(error) = &summary.outcome {
                everything += &format!("{error} {error:?}");
            }
            everything += &format!("{summary:?}");
            everything += &std::fs::read_to_string(&state).unwrap();
            everything += &format!("{:?}", world.events.lock().unwrap());
        }
    }
    everything += &lines.text();
    assert!(everything.len() > 10_000, "there was something to search");
    assert!(!everything.contains(&secret["bad-".len()..]), "the key is somewhere");
}

#[test]
fn a_key_comes_from_a_file_or_the_environment_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::write(&empty, " \n").unwrap();
    assert!(ApiKey::from_file(&empty).unwrap_err().to_string().contains("holds no key"));
    assert!(ApiKey::from_file(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    let error = ApiKey::from_env("LOUVER_NO_SUCH_KEY").unwrap_err();
    assert_eq!(error.to_string(), "the environment variable LOUVER_NO_SUCH_KEY holds no key");
}

/// Tools that find the key where it was left: in a file of the root, in the environment of a command.
fn finding(root: &std::path::Path, key: &str) -> ToolSet {
    std::fs::write(root.join(".env"), format!("KEY={key}\n")).unwrap();
    let root = Root::open(root).unwrap();
    let mut tools = ToolSet::for_root(&root, Limits::default());
    let allow = AllowList::new(["cat", "printf"]).unwrap();
    let environment = Environment::new([("PATH", std::env::var_os("PATH").unwrap())]);
    tools.add(Arc::new(RunCommand::new(root, Limits::default(), allow, environment))).unwrap();
    tools
}

#[tokio::test(flavor = "current_thread")]
async fn a_key_that_a_tool_finds_or_the_task_names_is_nowhere_either() {
    let secret = "sk-left-in-a-file-0123456789";
    let (lines, _guard) = listening();
    for api in Api::ALL {
        let folder = tempfile::tempdir().unwrap();
        let (key_file, state) = (folder.path().join("key"), folder.path().join("state"));
        std::fs::write(&key_file, secret).unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        let calls = [
            Call::new("read_file", json!({"path": ".env"})),
            Call::new("search_files", json!({"pattern": "KEY"})),
            Call::new("run_command", json!({"command": "cat .env"})),
            Call::new("no_such_tool", json!({})),
        ];
        let scenario = Scenario::new("finding").turn(Turn::calls(calls)).turn(world::complete());
        let world = World::new(api, scenario).await;
        let provider = api.provider(connection(&world.sandbox.url()), ApiKey::from_file(&key_file).unwrap());
        let config = ExecutorConfig { state_file: Some(state.clone()), ..ExecutorConfig::new(world.options()) };
        let executor = Executor::new(provider, Arc::new(finding(&root, secret)), config);
        let summary = executor.run(&format!("Find {secret}.")).await.unwrap();
        assert_eq!(summary.outcome, RunOutcome::Completed("All done.".to_owned()), "{api:?}");
        let messages: Vec<&str> = summary.log.messages.iter().map(|message| message.raw()).collect();
        let kept = std::fs::read_to_string(&state).unwrap();
        assert!(messages.concat().matches("KEY=***").count() >= 3, "{api:?}: {messages:?}");
        let everything = format!("{messages:?}{kept}{:?}{}", world.events.lock().unwrap(), lines.text());
        assert!(!everything.contains(secret), "{api:?}: the key is somewhere: {everything}");
    }
}
