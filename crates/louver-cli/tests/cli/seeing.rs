//! What a run shows, and what it leaves in files.

use crate::json;
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the demo's script on a cap, in a folder of its own.
fn run(folder: &Path, arguments: &[&str], log: Option<&str>) -> Output {
    fs::write(folder.join("TASK.md"), "Look around.").unwrap();
    fs::write(folder.join("config.yml"), "execution: {max_conversation_messages: 30}").unwrap();
    let mut command = Command::new(cargo_bin!("louver"));
    command
        .args(["run", "TASK.md", "--config", "config.yml"])
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG");
    if let Some(log) = log {
        command.env("RUST_LOG", log);
    }
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_run_shows_what_the_model_says_and_calls_and_nothing_when_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let said = stderr(&run(folder.path(), &[], None));
    assert!(said.lines().any(|line| line.starts_with("> read_file {\"path\":")), "{said}");
    assert!(said.lines().any(|line| line.starts_with("> task_complete ")), "{said}");
    assert!(said.lines().any(|line| line.starts_with("Conversation: ")), "{said}");
    let quiet = run(folder.path(), &["-q"], None);
    assert_eq!((quiet.status.code(), stderr(&quiet).as_str()), (Some(0), ""));
    assert!(String::from_utf8(quiet.stdout).unwrap().contains("Execution summary"));
}

#[test]
fn every_decision_is_a_line_of_the_events_file() {
    let folder = tempfile::tempdir().unwrap();
    let said = stderr(&run(folder.path(), &["--events", "decisions.jsonl"], None));
    let lines = fs::read_to_string(folder.path().join("decisions.jsonl")).unwrap();
    let cuts = said.lines().filter(|line| line.starts_with("Context truncated: ")).count();
    assert_eq!((lines.lines().count(), lines.is_empty()), (cuts, false));
    for line in lines.lines() {
        let decision = json(line);
        assert!(decision["task_id"].as_str().unwrap().starts_with("TASK-"), "{line}");
        assert_eq!((&decision["policy"], &decision["trigger"]), (&"messages".into(), &"MessageCap".into()), "{line}");
    }
}

#[test]
fn the_log_has_every_trim_and_every_decision() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), &["--log", "run.log", "-q"], None);
    let log = fs::read_to_string(folder.path().join("run.log")).unwrap();
    let trimmed = |line: &&str| line.contains("DEBUG") && line.contains("Trimmed conversation: ");
    let trims = log.lines().filter(trimmed).count();
    assert!(trims > 0 && log.lines().filter(|line| line.contains("louver::decision")).count() == trims, "{log}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.path().join("run.log")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn the_environment_asks_for_a_log_on_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let said = stderr(&run(folder.path(), &["-q"], Some("louver_agent=debug")));
    assert!(
        said.lines().any(|line| line.contains("DEBUG louver_agent") && line.contains("Trimmed conversation: ")),
        "{said}"
    );
    let bad = run(folder.path(), &[], Some("louver=loud"));
    assert_eq!((bad.status.code(), bad.stdout.len()), (Some(2), 0));
    assert!(stderr(&bad).starts_with("error: RUST_LOG: "), "{}", stderr(&bad));
    let nowhere = run(folder.path(), &["--log", "no/such/folder.log"], None);
    assert_eq!(stderr(&nowhere), "error: no/such/folder.log: no such file or directory\n");
}
