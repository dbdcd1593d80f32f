//! `config check` and `config schema`.

use crate::{json, louver};
use std::fs;

fn check(text: &str) -> crate::Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yml");
    fs::write(&path, text).unwrap();
    let mut run = louver(&format!("config check {}", path.display()));
    run.stderr = run.stderr.replace(&format!("{}/", folder.path().display()), "");
    run
}

#[test]
fn the_example_is_valid() {
    let run = louver("config check examples/config.yml");
    assert_eq!((run.done(), run.stderr.as_str()), ("", "examples/config.yml: valid (policy: messages)\n"));
}

#[test]
fn all_errors_are_told_at_once() {
    let run = check(
        "polcy: both
policy: ladders
provider: { type: anthropic, model: 7, base_url: gateway, api_key_env: sk-not-a-name, api_key: abc }
execution:
  max_iterations: 0
  max_conversation_messages: lots
  conversation:
    max_messages: 5
    max_messages: 6
    preserve_first_n: 1.5
    preserve_last_n: -1
    summarize_on_trim: sometimes
    preserve_last: 3
context:
  auto_condense_context_percent: 0
  profile_thresholds: { code: high }
  condensing_provider: { model: gpt-5 }
profile: { a: b }
",
    );
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    insta::assert_snapshot!("config_errors", run.stderr);
}

#[test]
fn what_is_not_yaml_has_one_error_with_its_line() {
    assert_eq!(
        check("policy: both\na: b: c\n").refused(),
        "config.yml:2: not YAML: mapping values are not allowed in this context"
    );
    assert_eq!(check("just words").refused(), "config.yml:1: expected a block of keys, found text");
    assert_eq!(
        check("a: 1\n---\nb: 2\n").refused(),
        "config.yml:2: a configuration is one document, but a second one starts here"
    );
    check(&"[".repeat(10_000)).refused();
    let stairs: Vec<String> = (0..500).map(|depth| format!("{}a:", " ".repeat(depth))).collect();
    check(&stairs.join("\n")).refused();
    assert_eq!(check(&format!("policy: {}", "x".repeat(2_000_000))).code, 2);
}

#[test]
fn a_missing_file_is_named() {
    assert_eq!(louver("config check no/config.yml").refused(), "no/config.yml: no such file or directory");
    assert_eq!(
        louver("trim examples/chat.json --config no/config.yml").refused(),
        "no/config.yml: no such file or directory"
    );
}

#[test]
fn a_broken_configuration_stops_trim() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yml");
    fs::write(&path, "execution: {max_iterations: 0, conversation: {max_messages: x}}").unwrap();
    let run = louver(&format!("trim examples/chat.json --config {}", path.display()));
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.lines().count()), (2, "", 2));
}

#[test]
fn the_schema_is_a_schema() {
    let schema = json(louver("config schema").done());
    assert_eq!(schema["title"], "Louver configuration");
    assert_eq!(schema["properties"]["policy"]["enum"][0], "messages");
    assert_eq!(schema["additionalProperties"], false);
}
