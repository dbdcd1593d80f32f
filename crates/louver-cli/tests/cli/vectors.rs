//! The cases that every window must pass, through the real program where it can say them.

use crate::{json, louver_with};
use serde_json::{Value, json as value};
use std::fs;

fn cases(name: &str) -> Vec<Value> {
    let path = crate::root().join("crates/louver/tests/data/vectors").join(name);
    json(&fs::read_to_string(path).unwrap())["cases"].as_array().unwrap().clone()
}

fn trim(flags: &str, messages: &Value) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    let words = format!("trim --format openai-chat {flags} --report {}", path.display());
    let run = louver_with(&words, messages.to_string());
    (json(run.done()), json(&fs::read_to_string(path).unwrap()))
}

#[test]
fn the_message_window_keeps_what_the_vectors_say() {
    for case in cases("message_window.json") {
        let role = |i: u64| if i.is_multiple_of(2) { "user" } else { "assistant" };
        let count = case["messages"].as_u64().unwrap();
        let messages: Vec<Value> =
            (0..count).map(|i| value!({"role": role(i), "content": format!("Message {i}")})).collect();
        let flags = format!(
            "--max-messages {} --preserve-first {} --preserve-last {}",
            case["max_messages"], case["preserve_first_n"], case["preserve_last_n"]
        );
        let (trimmed, report) = trim(&flags, &value!(messages));
        for field in ["kept", "evicted", "metrics"] {
            assert_eq!(report[field], case[field], "{}: {field}", case["name"]);
        }
        assert_eq!(!report["warnings"].as_array().unwrap().is_empty(), case["warns"] == true, "{}", case["name"]);
        let kept = case["kept"].as_array().unwrap().iter();
        let expected: Vec<&Value> = kept.map(|index| &messages[index.as_u64().unwrap() as usize]).collect();
        assert_eq!(trimmed, value!(expected), "{}", case["name"]);
    }
}

#[test]
fn the_estimate_is_what_the_vectors_say() {
    for case in cases("estimate.json") {
        let (trimmed, report) = trim("--max-messages 0", &case["messages"]);
        assert_eq!(report["metrics"]["estimated_tokens"], case["estimated_tokens"], "{}", case["messages"]);
        assert_eq!(trimmed, case["messages"]);
    }
}
