//! `trim`: same kind of JSON out, a report, a line for people.

use crate::{json, louver, louver_with, root};
use serde_json::{Value, json as value};
use std::fs;

fn report_of(words: &str, stdin: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    louver_with(&format!("trim {words} --report {}", path.display()), stdin).done();
    json(&fs::read_to_string(path).unwrap())
}

#[test]
fn nothing_to_do_returns_the_input_byte_for_byte() {
    for example in ["examples/agent.json", "examples/chat.json"] {
        let run = louver(&format!("trim {example}"));
        assert_eq!(run.done(), fs::read_to_string(root().join(example)).unwrap());
        assert!(run.stderr.starts_with("Nothing to trim: "), "{}", run.stderr);
    }
    assert_eq!(louver_with("trim", "[]").done(), "[]");
    assert_eq!(louver_with("trim -", " [ ]\n").done(), " [ ]\n");
}

#[test]
fn what_stays_is_byte_for_byte_what_came_in() {
    let run = louver("trim examples/agent.json --max-messages 30");
    let original = fs::read_to_string(root().join("examples/agent.json")).unwrap();
    let lines: Vec<&str> = original.lines().collect();
    assert!(run.done().lines().all(|line| lines.contains(&line) || lines.contains(&format!("{line},").as_str())));
    assert_eq!(json(&run.stdout)["messages"].as_array().unwrap().len(), 30);
    assert_eq!(run.stderr, "Trimmed conversation: 30 messages removed, 30 kept (~4,702 tokens)\n");
    assert_eq!(louver_with("check", run.stdout).code, 0);
}

#[test]
fn the_report_has_the_fields_that_other_tools_read() {
    let kept: Vec<usize> = [0].into_iter().chain(31..60).collect();
    let report = report_of("examples/agent.json --max-messages 30 --counter chars4", "");
    let before = report["tokens"]["before"].as_u64().unwrap();
    let after = report["tokens"]["after"].as_u64().unwrap();
    assert!(before > after);
    assert_eq!(
        report,
        value!({
            "policy": "messages",
            "format": "anthropic",
            "action": "truncate",
            "trigger": "message-cap",
            "metrics": {
                "total_messages": 60,
                "preserved_messages": 30,
                "evicted_messages": 30,
                "estimated_tokens": 4702
            },
            "tokens": { "before": before, "after": after, "allowed": null },
            "kept": kept,
            "evicted": (1..31).collect::<Vec<_>>(),
            "edited": [],
            "prev_context_tokens": before,
            "new_context_tokens": after,
            "summary": null,
            "cost": null,
            "error": null,
            "warnings": []
        })
    );
}

#[test]
fn a_token_window_keeps_its_limit() {
    let report = report_of("examples/agent.json --policy tokens --context-window 24000", "");
    assert_eq!((&report["policy"], &report["trigger"]), (&value!("tokens"), &value!("token-limit")));
    assert_eq!(report["tokens"]["allowed"], 13_408);
    assert!(report["tokens"]["after"].as_u64().unwrap() <= 13_408);
    let run = louver("trim examples/agent.json --policy tokens --context-window 24000");
    assert!(run.stderr.contains("tokens of 13,408 allowed)"), "{}", run.stderr);
}

#[test]
fn model_and_reserve_come_from_flags_then_the_body_then_the_default() {
    let allowed =
        |words: &str, body: &str| report_of(&format!("--policy tokens {words}"), body)["tokens"]["allowed"].clone();
    let body = r#"{"model":"claude-sonnet-4-5","max_tokens":10000,"messages":[]}"#;
    assert_eq!(allowed("", body), 170_000);
    assert_eq!(allowed("--max-output 20000", body), 160_000);
    assert_eq!(allowed("--max-output 0", body), 170_000);
    assert_eq!(allowed("--context-window 100000", body), 80_000);
    assert_eq!(allowed("--context-window 100000", "[]"), 81_808);
    // The most a model writes is only a ceiling.
    assert_eq!(allowed("--max-output 150000", body), 180_000 - 64_000);
    let config = tempfile::NamedTempFile::new().unwrap();
    fs::write(config.path(), "provider: {type: anthropic-api, model: claude-sonnet-4-5}").unwrap();
    assert_eq!(allowed(&format!("--config {}", config.path().display()), "[]"), 171_808);
}

#[test]
fn both_and_the_configuration_work_together() {
    let config = tempfile::NamedTempFile::new().unwrap();
    fs::write(config.path(), "policy: both\nexecution: {max_conversation_messages: 40}\n").unwrap();
    let report = report_of(&format!("examples/agent.json --config {}", config.path().display()), "");
    assert_eq!((&report["policy"], report["kept"].as_array().unwrap().len()), (&value!("both"), 40));
    let flags = format!("examples/agent.json --config {} --policy messages --max-messages 50", config.path().display());
    assert_eq!(report_of(&flags, "")["kept"].as_array().unwrap().len(), 50);
}

#[test]
fn condensing_is_configured_but_never_done() {
    let config = tempfile::NamedTempFile::new().unwrap();
    fs::write(config.path(), "execution: {conversation: {max_messages: 30, summarize_on_trim: true}}").unwrap();
    let run = louver(&format!("trim examples/agent.json --config {}", config.path().display()));
    run.done();
    assert!(run.stderr.starts_with("warning: condensing is configured, but trim calls no model"), "{}", run.stderr);
}

#[test]
fn it_explains_itself() {
    let run = louver("trim examples/agent.json --max-messages 30 --explain -q");
    insta::assert_snapshot!("explain_messages", run.stderr);
    let run = louver("trim examples/agent.json --policy tokens --context-window 24000 --explain -q");
    insta::assert_snapshot!("explain_tokens", run.stderr);
    let run = louver("trim examples/chat.json --explain -q");
    insta::assert_snapshot!("explain_nothing", run.stderr);
}

#[test]
fn the_ladder_says_that_it_cuts_where_it_pays_and_can_be_told_not_to() {
    let config = tempfile::NamedTempFile::new().unwrap();
    let trim = |when: &str| {
        fs::write(config.path(), format!("ladder: {{keep_recent_tokens: 500, ledger_tokens: 300{when}}}")).unwrap();
        let flags = "--counter chars4 --context-window 200000 --explain";
        louver(&format!("trim examples/agent.json {flags} --config {}", config.path().display()))
    };
    let run = trim("");
    let pays = "; the ladder cuts where it pays (ladder.when: full in a config.yml: only where it must)\n";
    assert!(run.stderr.starts_with("Trimmed conversation: ") && run.stderr.contains(pays), "{}", run.stderr);
    let full = trim(", when: full");
    assert_eq!(full.done(), fs::read_to_string(root().join("examples/agent.json")).unwrap());
    assert!(full.stderr.starts_with("Nothing to trim: 60 messages kept"), "{}", full.stderr);
    assert!(full.stderr.contains("That is within the limits, so nothing was changed."), "{}", full.stderr);
}

#[test]
fn quiet_says_nothing() {
    let run = louver_with(
        "trim -q --policy tokens --context-window 20000 --max-messages 3",
        r#"[{"role":"user","content":"a"}]"#,
    );
    run.done();
    assert_eq!(run.stderr, "");
}

#[test]
fn warnings_are_told_and_reported() {
    let run = louver_with("trim", r#"[{"role":"user","content":"hi"}]"#);
    assert!(run.stderr.starts_with("warning: this could be more than one format"), "{}", run.stderr);
    let report = report_of("", r#"[{"role":"user","content":"hi"}]"#);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
    let certain = louver_with("trim --format anthropic", r#"[{"role":"user","content":"hi"}]"#);
    assert!(certain.stderr.starts_with("Nothing to trim"), "{}", certain.stderr);
    let idle = louver("trim examples/chat.json --policy tokens --max-messages 3");
    assert!(idle.stderr.contains("--max-messages has no effect with the policy `tokens`"), "{}", idle.stderr);
}

#[test]
fn every_policy_of_the_table_can_be_named() {
    for row in louver::policy::TABLE {
        let run = louver(&format!("trim examples/agent.json --policy {} --context-window 24000 --explain", row.name));
        assert!(json(run.done())["messages"].is_array(), "{}", row.name);
    }
}

#[test]
fn a_wrapper_comes_back_as_a_wrapper() {
    let input = r#"{"format":"gemini","source":"x","messages":[{"role":"user","parts":[{"text":"a"}]},
        {"role":"model","parts":[{"text":"b"}]},{"role":"user","parts":[{"text":"c"}]}]}"#;
    let run = louver_with("trim --max-messages 2 --preserve-first 0 --preserve-last 1", input);
    let trimmed = json(run.done());
    assert_eq!((&trimmed["format"], &trimmed["source"]), (&value!("gemini"), &value!("x")));
}
