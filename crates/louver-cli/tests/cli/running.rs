//! `run`, `sandbox` and `demo`: whatever talks to a model.

use super::{louver_with, root};
use assert_cmd::cargo::cargo_bin;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn the_demo_ends_well_on_both_providers_with_nothing_refused() {
    let run = louver_with("demo", "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.stdout.matches("Outcome        completed").count(), 2, "{}", run.stdout);
    assert_eq!(run.stdout.matches("Refused       0 ").count(), 2, "{}", run.stdout);
    assert_eq!(run.stdout.matches("(65 tool calls)").count(), 2, "{}", run.stdout);
    let views = run.stdout.lines().filter_map(|line| line.split_once("Largest view  ")?.1.split_once(' '));
    let views: Vec<usize> = views.map(|(messages, _)| messages.parse().unwrap()).collect();
    assert!(views.len() == 2 && views.iter().all(|messages| *messages <= 33), "the cap is 30: {views:?}");
    assert_eq!(run.stdout.matches("Two windows, two bills").count(), 2, "{}", run.stdout);
    let bills = |policy: &str| -> Vec<f64> {
        let lines = run.stdout.lines().filter_map(|line| line.split_once(policy)?.1.split_once('$'));
        lines.map(|(_, rest)| rest.split_whitespace().next().unwrap().parse().unwrap()).collect()
    };
    let (messages, ladder) = (bills("messages  "), bills("ladder  "));
    assert!(messages.len() == 2 && ladder.len() == 2, "{}", run.stdout);
    assert!(ladder.iter().zip(&messages).all(|(ladder, messages)| ladder < messages), "{}", run.stdout);
    assert!(run.stdout.contains("\nNext\n"), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(run.stderr.contains("Context truncated: ") && !run.stderr.contains('\u{1b}'), "{}", run.stderr);
}

#[test]
fn a_task_runs_against_the_sandbox_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("TASK.md");
    std::fs::write(&task, "Look around.").unwrap();
    let state = folder.path().join("run.state");
    let words = format!("run {} --root {} --state {}", task.display(), folder.path().display(), state.display());
    let run = louver_with(&words, "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("Execution summary"), "{}", run.stdout);
    assert!(run.stderr.contains("Conversation: "), "{}", run.stderr);
    assert!(run.stderr.starts_with("warning: the sandbox answers: its model follows a script"), "{}", run.stderr);
    let resumed = louver_with(&format!("{words} --resume"), "");
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
}

#[test]
fn a_missing_key_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let task = folder.path().join("TASK.md");
    std::fs::write(&task, "Look around.").unwrap();
    let mut command = Command::new(cargo_bin!("louver"));
    command.args(["run", "--provider", "anthropic-api"]).arg(&task).env_remove("ANTHROPIC_API_KEY");
    let output = command.current_dir(root()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(2), Vec::new()));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: no key in ANTHROPIC_API_KEY: set it, or use --provider sandbox, which needs none\n");
}

#[test]
fn a_task_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let refused = |name: &str| louver_with(&format!("run {}", path(name)), "").refused().replace(&path(name), name);
    std::fs::write(path("empty.md"), " \n").unwrap();
    std::fs::write(path("binary.md"), [0xff, 0xfe]).unwrap();
    assert_eq!(refused("nowhere.md"), "nowhere.md: no such file or directory");
    assert_eq!(refused("empty.md"), "empty.md: there is nothing in it; write down what is to be done");
    assert_eq!(refused("binary.md"), "binary.md: not UTF-8 text");
}

#[test]
fn the_sandbox_says_where_it_listens_first() {
    let mut child = Command::new(cargo_bin!("louver"))
        .args(["sandbox", "--scenario", "echo"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.starts_with("http://127.0.0.1:"), "{line}");
}

#[test]
fn an_unknown_scenario_is_refused() {
    let run = louver_with("sandbox --scenario nowhere", "");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("nowhere"), "{}", run.stderr);
}
