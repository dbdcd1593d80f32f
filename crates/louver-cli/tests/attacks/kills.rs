//! Kills at random moments of work in progress, with summaries on and commands running.

use crate::world::{World, said};
use louver_sandbox::{Call, Scenario, Turn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, RandomState};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many, unless `LOUVER_KILLS` says otherwise.
const KILLS: u64 = 6;

/// How long what was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(30);

/// Notes something, and leaves a child in a session of its own behind. Every third turn does so twice at once.
fn working(turns: usize) -> Scenario {
    let said =
        "It was named in the plan, and nothing that was done so far contradicts it, so it is done now. ".repeat(3);
    let note = |turn: usize, call: usize| {
        let line = format!("setsid sleep 1000 & echo {turn}.{call} >> notes; sleep 0.02");
        Call::new("run_command", json!({"command": "sh", "args": ["-c", line]}))
    };
    let turn = |n: usize| Turn::calls((0..if n.is_multiple_of(3) { 2 } else { 1 }).map(|call| note(n, call)));
    let scenario =
        (0..turns).fold(Scenario::new("working"), |scenario, n| scenario.turn(turn(n).saying(format!("{n}. {said}"))));
    scenario.turn(Turn::calls([Call::new("task_complete", json!({"summary": "Done."}))]))
}

/// Processes that work in a folder.
fn working_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let works =
        |entry: &std::fs::DirEntry| std::fs::read_link(entry.path().join("cwd")).is_ok_and(|at| at.starts_with(folder));
    entries
        .filter(works)
        .map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default())
        .collect()
}

fn wait_until_nobody_works_in(folder: &Path) {
    let since = Instant::now();
    loop {
        let left = working_in(folder);
        if left.is_empty() {
            return;
        }
        assert!(since.elapsed() < PATIENCE, "left running: {left:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn counted(items: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    items.into_iter().for_each(|item| *counts.entry(item).or_default() += 1);
    counts
}

/// The ids of a state file's parts of a kind.
fn ids(state: &str, kind: &str, field: &str) -> Vec<String> {
    let mut messages: Vec<Value> = Vec::new();
    let mut open: Vec<Value> = Vec::new();
    for line in state.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let raw = |key: &str| record[key].as_array().cloned().unwrap_or_default();
        messages.extend(raw("push"));
        if record.get("answer").is_some() {
            open = raw("answer");
        }
        if record.get("end_of_turn").is_some() {
            messages.append(&mut open);
            messages.extend(raw("end_of_turn"));
        }
    }
    let parsed = messages.iter().map(|raw| serde_json::from_str::<Value>(raw.as_str().unwrap()).unwrap());
    let parts = parsed.flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
    parts.filter(|part| part["type"] == kind).map(|part| part[field].as_str().unwrap().to_owned()).collect()
}

#[test]
fn nothing_is_lost_doubled_or_left_running() {
    let kills = std::env::var("LOUVER_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let turns = usize::try_from(kills * 4 + 12).unwrap();
    let world = World::new(working(turns));
    world.configure("execution: {conversation: {max_messages: 12, preserve_last_n: 4, summarize_on_trim: true}}");
    let root = world.path("root").canonicalize().unwrap();
    let state = world.path("run.state");
    let seed = RandomState::new().hash_one(0);
    let random = |kill: u64| BuildHasherDefault::<DefaultHasher>::default().hash_one((seed, kill));
    let length = || std::fs::metadata(&state).map_or(0, |state| state.len());
    for kill in 0..kills {
        let resume: &[&str] = if state.exists() { &["--allow", "sh", "--resume"] } else { &["--allow", "sh"] };
        let mut child = world.command(resume).spawn().unwrap();
        // A random moment of the work, however fast the machine is; the first comes as early as can be.
        let (from, work) = (length(), if kill == 0 { 0 } else { random(kill) % 6000 });
        while length() < from + work && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200 + random(kill + kills) % 5000));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until_nobody_works_in(&root);
    }
    let resume: &[&str] = if state.exists() { &["--allow", "sh", "--resume"] } else { &["--allow", "sh"] };
    let output = world.run(resume);
    assert_eq!(output.status.code(), Some(0), "seed {seed}: {}", said(&output));
    wait_until_nobody_works_in(&root);

    let kept = std::fs::read_to_string(&state).unwrap();
    let (calls, results) = (ids(&kept, "tool_use", "id"), ids(&kept, "tool_result", "tool_use_id"));
    assert_eq!(counted(calls.clone()), counted(results), "seed {seed}: every call is answered");
    assert!(counted(calls).values().all(|times| *times == 1), "seed {seed}: and stands there once");
    let notes = std::fs::read_to_string(world.inside("notes")).unwrap();
    let done = counted(notes.lines().map(str::to_owned));
    assert!(done.values().all(|times| *times == 1), "seed {seed}: done twice: {done:?}");
    for note in done.keys() {
        assert!(kept.contains(&format!("echo {note} >> notes")), "seed {seed}: {note} was done and is not remembered");
    }
    assert!(kept.contains("{\\\"answered\\\"") || kept.contains("\"answered\""), "seed {seed}: summaries were made");
    let refused = world.sandbox.journal().iter().filter(|entry| entry.status == 400).count();
    assert_eq!(refused, 0, "seed {seed}");
    eprintln!("{kills} kills, {} notes, {} lines of state", done.len(), kept.lines().count());
}
