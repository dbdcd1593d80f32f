//! Twenty kills at random moments, and every completed tool call stands in the state exactly once.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver::wire::{Format, Message, PartKind};
use louver_agent::{CondenseTiming, ExecuteOptions, Executor, ExecutorConfig, Interrupted, RunOutcome};
use louver_sandbox::{Call, Sandbox, Scenario, Turn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use world::{Api, World, assert_sound_log, read};

const KILLS: u64 = 20;
const TURNS: usize = 1500;

fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let example = own.parent().unwrap().parent().unwrap().join("examples/resumable");
    if !example.exists() {
        // Only a run of all tests builds the examples.
        let build = ["build", "-p", "louver-agent", "--example", "resumable"];
        assert!(Command::new(env!("CARGO")).args(build).status().unwrap().success());
    }
    example
}

fn start(url: &str, state: &Path, notes: &Path) -> Child {
    Command::new(example()).arg(url).arg(state).arg(notes).spawn().unwrap()
}

/// Every third turn makes three calls at once.
fn notes() -> Scenario {
    let note = |turn: usize, call: usize| Call::new("note", json!({"path": format!("{turn}.{call}")}));
    let turn = |n: usize| Turn::calls((0..if n.is_multiple_of(3) { 3 } else { 1 }).map(|call| note(n, call)));
    let ending = Turn::calls([Call::new("task_complete", json!({"summary": "Done."}))]);
    (0..TURNS).fold(Scenario::new("notes"), |scenario, n| scenario.turn(turn(n))).turn(ending)
}

/// The messages of a state file, as any reader of the format would have them.
fn messages(state: &Path) -> Vec<Message> {
    let text = std::fs::read_to_string(state).unwrap();
    let mut open = Vec::new();
    let mut log = Vec::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let raw = |key: &str| record[key].as_array().cloned().unwrap_or_default();
        log.extend(raw("push"));
        if record.get("answer").is_some() {
            open = raw("answer");
        }
        if record.get("end_of_turn").is_some() {
            log.append(&mut open);
            log.extend(raw("end_of_turn"));
        }
    }
    log.iter().map(|raw| Message::parse(Format::Anthropic, raw.as_str().unwrap()).unwrap()).collect()
}

fn counted(items: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    items.into_iter().for_each(|item| *counts.entry(item).or_default() += 1);
    counts
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_completed_call_stands_in_the_state_exactly_once() {
    let folder = tempfile::tempdir().unwrap();
    let (state, notes_file) = (folder.path().join("state.jsonl"), folder.path().join("notes"));
    let sandbox = Sandbox::builder().scenario(notes()).start("127.0.0.1:0").await.unwrap();
    let seed = RandomState::new().hash_one(0);
    let random = |kill: u64| BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, kill));
    let length = || std::fs::metadata(&state).map_or(0, |state| state.len());
    for kill in 0..KILLS {
        let mut child = start(&sandbox.url(), &state, &notes_file);
        // A random moment of the work, however fast the machine is; the first comes as early as can be.
        let (from, work) = (length(), if kill == 0 { 0 } else { random(kill) % 6000 });
        while length() < from + work && child.try_wait().unwrap().is_none() {
            tokio::time::sleep(Duration::from_micros(200 + random(kill + KILLS) % 800)).await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let mut last = start(&sandbox.url(), &state, &notes_file);
    let status = tokio::task::spawn_blocking(move || last.wait().unwrap()).await.unwrap();
    assert!(status.success(), "seed {seed}: the run completes");

    let log = messages(&state);
    let calls = |message: &Message| -> Vec<(String, String)> {
        let of = |part| (message.id_of(part).into_owned(), message.text_of(part).into_owned());
        message.shape().parts_of(PartKind::ToolCall).map(of).collect()
    };
    let made: Vec<(String, String)> = log.iter().flat_map(calls).collect();
    let result_ids = log.iter().flat_map(|message| {
        message.shape().parts_of(PartKind::ToolResult).map(|part| message.id_of(part).into_owned()).collect::<Vec<_>>()
    });
    assert_eq!(counted(made.iter().map(|(id, _)| id.clone())), counted(result_ids), "seed {seed}");
    let done = counted(std::fs::read_to_string(&notes_file).unwrap().lines().map(str::to_owned));
    assert!(done.values().all(|times| *times == 1), "seed {seed}: nothing was done twice");
    let arguments = counted(made.into_iter().map(|(_, arguments)| arguments));
    for note in done.keys() {
        let stands = arguments.get(&json!({"path": note}).to_string());
        assert_eq!(stands, Some(&1), "seed {seed}: {note}");
    }
    assert!(done.len() > TURNS, "seed {seed}: {} notes", done.len());
    let refused = sandbox.journal().iter().filter(|entry| entry.status == 400).count();
    assert_eq!(refused, 0, "seed {seed}");
}

/// A state file as a kill leaves it: the first lines of a whole one, and a piece of the next.
fn cut(whole: &str, lines: usize, torn: &str) -> String {
    let kept: String = whole.lines().take(lines).map(|line| format!("{line}\n")).collect();
    kept + torn
}

#[tokio::test]
async fn a_run_goes_on_from_every_line_of_its_state_file() {
    for api in Api::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let whole = {
            let world = World::new(api, world::steps(4)).await;
            let config = ExecutorConfig { state_file: Some(path.clone()), ..ExecutorConfig::new(world.options()) };
            Executor::new(world.provider.clone(), world.tools.clone(), config).run("Go.").await.unwrap();
            std::fs::read_to_string(&path).unwrap()
        };
        for lines in 1..=whole.lines().count() {
            for interrupted in [Interrupted::Report, Interrupted::Rerun] {
                std::fs::write(&path, cut(&whole, lines, "{\"push\":[\"{half")).unwrap();
                let world = World::new(api, world::steps(2)).await;
                let mut options = world.options();
                options.interrupted = interrupted;
                let executor = Executor::new(world.provider.clone(), world.tools.clone(), ExecutorConfig::new(options));
                let summary = executor.resume(&path).await.unwrap();
                assert_eq!(summary.outcome, RunOutcome::Completed("All done.".to_owned()), "{api:?}, line {lines}");
                assert_sound_log(api, &summary.log);
                assert_eq!(world.refused(), 0, "{api:?}, line {lines}");
            }
        }
    }
}

/// A window that cuts on every turn and asks for summaries, so that a run may end while one is on its way.
fn condensing(world: &World) -> ExecuteOptions {
    let mut options = world.options();
    options.window.policy = PolicyKind::Messages(MessagesConfig {
        max_messages: 4,
        preserve_last_n: 2,
        summarize_on_trim: true,
        ..MessagesConfig::default()
    });
    options.condense.timing = CondenseTiming::Immediate;
    options
}

#[tokio::test]
async fn a_run_with_summaries_goes_on_from_every_line_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let world = World::new(Api::Chat, world::steps(9)).await;
    let config = ExecutorConfig { state_file: Some(path.clone()), ..ExecutorConfig::new(condensing(&world)) };
    Executor::new(world.provider.clone(), world.tools.clone(), config).run("Go.").await.unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    assert!(whole.contains("{\"answered\""), "a summary is in it: {whole}");
    let unfinished = whole.lines().take_while(|line| !line.contains("All done."));
    for lines in 1..=unfinished.count() {
        std::fs::write(&path, cut(&whole, lines, "")).unwrap();
        let world = World::new(Api::Chat, world::steps(7)).await;
        let config = ExecutorConfig::new(condensing(&world));
        let summary = Executor::new(world.provider.clone(), world.tools.clone(), config).resume(&path).await.unwrap();
        assert_eq!(summary.outcome, RunOutcome::Completed("All done.".to_owned()), "line {lines}");
        assert!(summary.condensing.accepted > 0, "line {lines}: {:?}", summary.condensing);
        assert_sound_log(Api::Chat, &summary.log);
        assert_eq!(world.refused(), 0, "line {lines}");
    }
}

#[tokio::test]
async fn a_state_file_of_another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let world = World::new(Api::Chat, Scenario::new("x").turn(Turn::calls([read("a")]))).await;
    let executor = Executor::new(world.provider.clone(), world.tools.clone(), ExecutorConfig::new(world.options()));
    for text in
        ["", "hello\n", "{\"louver\":{\"version\":3,\"format\":\"anthropic\",\"task_id\":\"\",\"task\":\"\"}}\n"]
    {
        std::fs::write(&path, text).unwrap();
        assert!(executor.resume(&path).await.is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "and left as it is");
    }
    let old = "{\"louver\":{\"version\":2,\"format\":\"openai-chat\",\"task_id\":\"\",\"task\":\"\"}}\n";
    std::fs::write(&path, old).unwrap();
    let error = executor.resume(&path).await.unwrap_err();
    assert!(error.to_string().contains("it has version 2"), "{error}");
}

#[tokio::test]
async fn a_line_that_is_not_what_was_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let world = World::new(Api::Chat, world::steps(3)).await;
    let config = ExecutorConfig { state_file: Some(path.clone()), ..ExecutorConfig::new(world.options()) };
    let executor = Executor::new(world.provider.clone(), world.tools.clone(), config);
    executor.run("Go.").await.unwrap();
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    let mut missing = lines.clone();
    missing.remove(5);
    let edited = whole.replacen("Go.", "No!", 2);
    for (text, line) in
        [(swapped.join("\n"), 4), (missing.join("\n"), 6), (edited, 1), (whole.replace("Step 1", "Step 9"), 0)]
    {
        std::fs::write(&path, format!("{}\n", text.trim_end())).unwrap();
        let error = executor.resume(&path).await.unwrap_err().to_string();
        let expected =
            if line == 1 { "it does not begin like one".to_owned() } else { "its checksum is wrong".to_owned() };
        assert!(error.contains(&expected), "{error}");
        assert!(line < 2 || error.starts_with(&format!("line {line} of the state file")), "{error}");
    }
}

#[tokio::test]
async fn a_finished_run_is_read_back_as_it_was_and_not_run_again() {
    for api in Api::ALL {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state");
        let world = World::with(api, Sandbox::builder().scenario(world::steps(40)).context_window(1500)).await;
        let mut options = world.options();
        options.max_tokens = 16;
        options.window.policy = PolicyKind::Messages(MessagesConfig {
            max_messages: 30,
            preserve_last_n: 10,
            summarize_on_trim: true,
            ..MessagesConfig::default()
        });
        let config = ExecutorConfig { state_file: Some(path.clone()), ..ExecutorConfig::new(options) };
        let executor = Executor::new(world.provider.clone(), world.tools.clone(), config);
        let lived = executor.run("Go.").await.unwrap();
        assert_eq!(lived.outcome, RunOutcome::Completed("All done.".to_owned()), "{api:?}");
        let requests = world.sandbox.journal().len();
        let read = executor.resume(&path).await.unwrap();
        assert_eq!(read.outcome, lived.outcome, "{api:?}");
        assert_eq!(read.conversation_metrics, lived.conversation_metrics, "{api:?}: the same view");
        assert_eq!(read.log.messages, lived.log.messages, "{api:?}: byte for byte");
        assert_eq!(world.sandbox.journal().len(), requests, "{api:?}: nobody was asked");
    }
}
