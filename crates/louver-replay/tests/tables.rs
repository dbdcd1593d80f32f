//! The tables and the page where there is little to say.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver_replay::input::read_text;
use louver_replay::report::{page, session_table, table};
use louver_replay::{Options, replay};
use serde_json::json;

#[test]
fn a_model_that_costs_nothing_has_no_shares() {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let body = json!({"model": "gemma-3-27b-it", "contents": [said("user", "Hello"), said("model", "Hi there.")]});
    let found = read_text("free.json", &body.to_string()).unwrap();
    let report = replay(&found, &Options::of_policies(&["everything", "ladder"]).unwrap(), &|_| {}).unwrap();
    assert_eq!(report.sessions[0].saving_of_paid, None);
    let text = table(&report);
    assert!(text.contains("(optimum)") && !text.contains("saving\n"), "{text}");
    let sessions = session_table(&report, 5);
    assert!(!sessions.contains('%') && sessions.lines().nth(1).unwrap().ends_with(" -"), "{sessions}");
    let page = page(&report);
    assert!(!page.contains("it would have been"), "{page}");
}

#[test]
fn nobody_has_a_star_where_all_do_the_same() {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let body = json!({"model": "gpt-5.2", "messages": [said("user", "Hello"), said("assistant", "Hi there.")]});
    let found = read_text("short.json", &body.to_string()).unwrap();
    let report = replay(&found, &Options::of_policies(&["everything", "ladder"]).unwrap(), &|_| {}).unwrap();
    let text = table(&report);
    assert!(text.lines().filter(|line| line.starts_with("ladder ")).all(|line| !line.contains('*')), "{text}");
}

#[test]
fn a_measure_that_no_policy_has_is_not_named() {
    let said = |role: &str, text: &str| json!({"role": role, "content": text});
    let body = json!({"model": "gpt-5.2", "messages": [said("user", "Hello"), said("assistant", "Hi there.")]});
    let found = read_text("short.json", &body.to_string()).unwrap();
    let mut options = Options::of_policies(&["everything", "ladder"]).unwrap();
    options.overhead = Some(500);
    options.context_window = Some(100);
    let text = table(&replay(&found, &options, &|_| {}).unwrap());
    assert!(!text.contains(": .") && !text.contains("lines ;") && !text.contains("Regret"), "{text}");
}
