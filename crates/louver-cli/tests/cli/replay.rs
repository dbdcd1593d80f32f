//! `louver replay`.

use crate::{louver, louver_with};
use serde_json::Value;

#[test]
fn a_table_fits_a_hundred_columns_and_says_what_it_cannot() {
    let run = louver("replay examples/agent.json --counter chars4 --context-window 40000 --model gpt-5.2");
    let table = run.done();
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    for word in ["everything", "ladder", "(optimum)", "off-policy", "nothing here is task success"] {
        assert!(table.contains(word), "{word} is not in {table}");
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
        "baseline_overflows",
        "saving",
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
    louver("replay").refused();
    let nothing = louver_with("replay - --counter chars4", "[]");
    assert_eq!(nothing.code, 1);
    assert!(nothing.stderr.contains("skipped stdin: holds no messages"), "{}", nothing.stderr);
}

#[test]
fn nothing_read_is_no_table() {
    let run = louver("replay no/such/folder");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""));
    assert!(run.stderr.ends_with("No conversation could be read, so there is nothing to compare.\n"), "{}", run.stderr);
}
