//! `louver replay`.

use crate::{Run, louver, louver_with};
use assert_cmd::cargo::cargo_bin_cmd;
use serde_json::{Value, json};

#[test]
fn a_table_fits_eighty_columns_and_says_what_it_cannot() {
    let run = louver("replay examples/agent.json --counter chars4 --context-window 40000 --model gpt-5.2");
    let table = run.done();
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let said = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let assumed = "Assumed: overhead";
    for word in
        ["everything", "ladder", "(optimum)", "off-policy", "nothing here is task success", assumed, "window 40,000"]
    {
        assert!(said.contains(word), "{word} is not in {table}");
    }
    assert!(run.stderr.contains("requests/s"), "{}", run.stderr);
}

#[test]
fn json_has_a_row_per_conversation_and_policy() {
    let run = louver("replay examples/agent.json --policy everything,messages --counter chars4 --json -");
    let report: Value = serde_json::from_str(run.done()).unwrap();
    let rows = report["runs"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let fields = [
        "file",
        "format",
        "model",
        "policy",
        "requests",
        "cost_usd",
        "baseline_usd",
        "baseline",
        "baseline_overflows",
        "saving",
        "saving_of_paid",
        "saving_after_recall",
        "saving_after_recall_passage",
        "saving_after_reread",
        "recalls_per_request",
        "recall_passage",
        "recall_line_intact",
        "recall_line_old",
        "recorded_usd",
        "simulated_over_recorded",
        "regret",
        "overflows",
        "illegal",
        "inherited",
        "prefix_stability",
        "hit_rate",
        "tokens_kept",
        "recall_window",
        "recall_line",
        "recall_retrievable",
        "edit_recall",
        "user_recall",
        "cuts",
    ];
    assert!(fields.iter().all(|field| rows[0].get(field).is_some()), "{}", rows[0]);
    assert!(rows[0].get("micros_per_request").is_none());
    let totals = &report["totals"][0];
    for summary in ["median", "mean", "p10", "p90", "p95"] {
        assert!(totals[summary].get("saving").is_some(), "{totals}");
    }
    assert!(totals["sums"]["cost_usd"].is_number());
    let timed = louver("replay examples/agent.json --policy everything --counter chars4 --timings --json -");
    let timed: Value = serde_json::from_str(timed.done()).unwrap();
    assert!(timed["runs"][0]["micros_per_request"].is_number());
}

#[test]
fn what_cannot_be_read_is_named_and_skipped() {
    let run =
        louver("replay examples/agent.json examples/config.yml no-such-file.json --policy everything --counter chars4");
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("skipped examples/config.yml") && run.stderr.contains("skipped no-such-file.json"));
    assert!(run.stdout.contains("1 conversation, "), "{}", run.stdout);
}

#[test]
fn a_page_and_a_report_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (json, html) = (path("report.json"), path("page.html"));
    louver(&format!("replay examples --policy everything,tokens --counter chars4 --json {json} --html {html}")).done();
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && !page.contains("http://"));
    assert!(serde_json::from_slice::<Value>(&std::fs::read(json).unwrap()).is_ok());
}

#[test]
fn one_request_can_be_explained() {
    let run = louver("replay examples/agent.json --policy everything,mask --counter chars4 --explain 2");
    assert!(run.done().contains("request 2 of") && run.done().contains("mask: "), "{}", run.stdout);
    let refused = louver("replay examples/agent.json --counter chars4 --explain 9999");
    assert!(refused.refused().contains("no request 9999"));
    louver("replay examples --counter chars4 --explain 1").refused();
}

#[test]
fn stdin_and_bad_words_are_understood() {
    let body =
        r#"{"model":"gpt-5.2","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello"}]}"#;
    let run = louver_with("replay - --policy everything --counter chars4", body);
    assert!(run.done().contains("1 conversation, 1 request, "));
    louver("replay examples/agent.json --policy magic").refused();
    louver("replay examples/agent.json --prices 1").refused();
    louver("replay examples/agent.json --model no-such-thing").refused();
    louver("replay examples/agent.json --since yesterday").refused();
    louver("replay examples/agent.json --json - --html -").refused();
    let nothing = louver_with("replay - --counter chars4", "[]");
    assert!(nothing.refused().contains("stdin holds no messages"), "{}", nothing.stderr);
}

#[test]
fn nothing_to_replay_is_an_error_that_names_the_place() {
    let run = louver("replay no/such/folder");
    assert!(run.refused().starts_with("nothing to replay in no/such/folder: "), "{}", run.stderr);
    let folder = tempfile::tempdir().unwrap();
    let empty = louver(&format!("replay {}", folder.path().display()));
    assert!(empty.refused().contains(&format!("in {}", folder.path().display())), "{}", empty.stderr);
    let old = louver("replay examples/agent.json --project nowhere --counter chars4");
    assert!(old.refused().contains("of project `nowhere`"), "{}", old.stderr);
}

#[test]
fn a_place_that_nothing_can_be_written_to_is_said_before_the_work() {
    for flag in ["--html", "--json"] {
        // That there is nothing to replay would be found out only by reading.
        let run = louver(&format!("replay no/such/folder {flag} no/such/result"));
        assert_eq!(run.refused(), "no/such/result: no such file or directory");
        let run = louver(&format!("replay no/such/folder {flag} examples"));
        assert_eq!(run.refused(), "examples: is a folder");
    }
}

#[test]
fn what_is_no_conversation_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chat.json");
    let refused = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let run = louver(&format!("replay {}", path.display()));
        run.refused().rsplit_once("chat.json ").unwrap().1.to_owned()
    };
    assert_eq!(refused(""), "is empty");
    assert_eq!(refused("hello"), "cannot be read: not JSON, expected a value (byte 0)");
}

/// A home with a session of Claude Code: two requests, as they were billed.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-work-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let mut lines = String::new();
    let mut parent = Value::Null;
    for (number, read) in [(1_u64, 0_u64), (2, 20_100)] {
        let second = format!("2026-03-01T10:00:0{number}.000Z");
        let text = format!("Question {number}: {}", "what is in src/shop.rs? ".repeat(20));
        let (user, answer) = (format!("u{number}"), format!("a{number}"));
        let usage = json!({"input_tokens": 3, "cache_read_input_tokens": read, "output_tokens": 50,
            "cache_creation_input_tokens": 20_000 + number * 200 - read});
        let common = json!({"sessionId": "s-1", "cwd": "/work/shop", "timestamp": second, "isSidechain": false});
        let record = |kind: &str, uuid: &str, parent: &Value, message: Value| {
            let mut record = common.clone();
            record["type"] = json!(kind);
            record["uuid"] = json!(uuid);
            record["parentUuid"] = parent.clone();
            record["message"] = message;
            format!("{record}\n")
        };
        lines += &record("user", &user, &parent, json!({"role": "user", "content": text}));
        let said = json!({"id": format!("msg{number}"), "role": "assistant", "model": "claude-opus-4-5", "usage": usage,
            "content": [{"type": "text", "text": format!("The shop_{number} of src/shop.rs.")}]});
        lines += &record("assistant", &answer, &json!(user), said);
        parent = json!(answer);
    }
    std::fs::write(folder.join("s-1.jsonl"), lines).unwrap();
    home
}

fn at_home(home: &tempfile::TempDir, words: &str) -> Run {
    let mut command = cargo_bin_cmd!("louver");
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"] {
        command.env_remove(variable);
    }
    let command = command.env("HOME", home.path()).current_dir(home.path()).args(words.split_whitespace());
    Run::of(&command.output().unwrap())
}

#[test]
fn without_a_path_the_sessions_of_the_clients_are_found_and_named() {
    let home = home();
    let run = at_home(&home, "replay --counter chars4");
    let said = run.done();
    assert!(run.stderr.contains(".claude/projects (Claude Code, 1 file)"), "{}", run.stderr);
    assert!(said.contains("1 conversation, 2 requests, ") && said.contains("Recorded: $"), "{said}");
    assert!(said.contains("as billed"), "{said}");
    let json = at_home(&home, "replay --counter chars4 --policy everything --json -");
    let report: Value = serde_json::from_str(json.done()).unwrap();
    let row = &report["runs"][0];
    assert!(row["recorded_usd"].is_number() && row["overhead_tokens"].as_u64().unwrap() > 15_000, "{row}");
    assert_eq!(report["command"], "louver replay --counter chars4 --policy everything --json -");
    assert_eq!(report["sessions"][0]["project"], "/work/shop");
    let late = at_home(&home, "replay --since 2026-03-02");
    assert_eq!((late.code, late.stdout.as_str()), (2, ""), "{}", late.stderr);
    assert!(late.stderr.contains("error: nothing to replay in ") && late.stderr.contains("--since"), "{}", late.stderr);
    at_home(&home, "replay --since 2026-03-01 --project /work/shop").done();
    let nobody = tempfile::tempdir().unwrap();
    let refused = at_home(&nobody, "replay");
    assert!(refused.refused().contains(".codex/sessions (Codex)"), "{}", refused.stderr);
}

#[test]
fn configurations_are_rows_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let short = write("short.yml", "policy: ladder\nladder: {keep_recent_tokens: 1000}");
    let cap = write("cap.yml", "execution: {max_conversation_messages: 12}");
    let words = "replay examples/agent.json --counter chars4 --policy everything --json -";
    let run = louver(&format!("{words} --config {short} --config {cap}"));
    let report: Value = serde_json::from_str(run.done()).unwrap();
    let policies: Vec<&str> =
        report["totals"].as_array().unwrap().iter().map(|row| row["policy"].as_str().unwrap()).collect();
    assert_eq!(policies, ["everything", "short", "cap"]);
    assert!(report["totals"][2]["sums"]["cuts"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_page_can_go_to_stdout() {
    let page = louver("replay examples/agent.json --policy everything,ladder --counter chars4 --html -");
    let page = page.done();
    assert!(page.starts_with("<!DOCTYPE html>"), "{}", &page[..80]);
    assert!(page.contains("Content-Security-Policy") && page.contains("louver replay examples/agent.json"));
}

#[test]
fn other_commands_read_sessions_too() {
    let home = home();
    let session = ".claude/projects/-work-shop/s-1.jsonl";
    let all = at_home(&home, &format!("inspect {session} --json"));
    let all: Value = serde_json::from_str(all.done()).unwrap();
    assert_eq!(all["messages"].as_array().unwrap().len(), 4, "{all}");
    let before = at_home(&home, &format!("inspect {session} --at 2 --json"));
    let before: Value = serde_json::from_str(before.done()).unwrap();
    assert_eq!(before["messages"].as_array().unwrap().len(), 3, "{before}");
    let trimmed = at_home(&home, &format!("trim {session} --max-messages 1 --preserve-last 1 --preserve-first 0"));
    let trimmed: Value = serde_json::from_str(trimmed.done()).unwrap();
    assert_eq!((&trimmed["format"], &trimmed["model"]), (&json!("anthropic"), &json!("claude-opus-4-5")));
    at_home(&home, &format!("check {session} --at 1")).done();
    assert!(at_home(&home, &format!("recall 1 {session}")).done().contains("shop_1"));
    let beyond = at_home(&home, &format!("inspect {session} --at 3"));
    assert_eq!(beyond.refused(), format!("{session}: has no request 3, the last is 2"));
    let none = at_home(&home, &format!("inspect {session} --at x"));
    assert!(none.refused().ends_with("expected a whole number, 1 or more"), "{}", none.stderr);
    let body = louver("inspect examples/agent.json --at 1 --json");
    let body: Value = serde_json::from_str(body.done()).unwrap();
    assert!(body["messages"].as_array().unwrap().len() < 3, "{body}");
}
