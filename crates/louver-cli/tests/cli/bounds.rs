//! `run` within its bounds.

use super::louver_with;
use std::net::TcpListener;

/// Runs a task with a configuration in a folder of its own.
fn run(config: &str, flags: &str) -> super::Run {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("TASK.md"), "Look around.").unwrap();
    std::fs::write(path("config.yml"), config).unwrap();
    let root = folder.path().display();
    louver_with(&format!("run {} --config {} --root {root} {flags}", path("TASK.md"), path("config.yml")), "")
}

#[test]
fn a_run_out_of_budget_says_so() {
    let run = run("execution: {max_cost_usd: 0.05}", "");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert!(run.stdout.contains("out of budget"), "{}", run.stdout);
    assert!(run.stderr.contains("the next call may cost up to $"), "{}", run.stderr);
    assert!(run.stderr.contains("Not done: raise execution.max_cost_usd."), "{}", run.stderr);
}

#[test]
fn a_budget_that_nobody_can_keep_is_refused() {
    let run = run("provider: {type: sandbox, model: nobody-knows}\nexecution: {max_cost_usd: 1}", "");
    let said = "execution.max_cost_usd cannot be kept: the catalogue has no prices for `nobody-knows`";
    assert!(run.code == 2 && run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn a_reply_longer_than_the_model_writes_is_cut_down_aloud() {
    let said = "`claude-sonnet-4-5` writes 64000 tokens at most; 99999 were asked for";
    assert!(run("execution: {max_tokens: 99999}", "").stderr.contains(said));
    assert!(run("execution: {max_tokens: 10}", "--max-output 99999").stderr.contains(said));
}

#[test]
fn a_silent_provider_fails_in_the_time_that_was_chosen() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let run = run(&format!("provider: {{type: sandbox, base_url: '{url}'}}\nexecution: {{timeout_seconds: 1}}"), "");
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("the provider said nothing for "), "{}", run.stderr);
}

#[test]
fn keys_that_nobody_reads_and_models_that_nobody_knows_are_named() {
    let config = "policy: ladder\nprovider: {type: sandbox, model: claude-sonnet-4-4}\nprofile: code\nversion: 1";
    let run = run(config, "");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stderr.contains("profile has no effect with the policy `ladder`"), "{}", run.stderr);
    assert!(run.stderr.contains("version: is ignored"), "{}", run.stderr);
    assert!(
        run.stderr.contains("a window of 200000 tokens is taken, that of `claude-sonnet-4-20250514`"),
        "{}",
        run.stderr
    );
}
