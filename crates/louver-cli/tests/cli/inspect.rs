//! `inspect`: the table and its data.

use crate::{json, louver, louver_with};
use unicode_width::UnicodeWidthStr;

#[test]
fn the_table_shows_what_fills_the_window() {
    insta::assert_snapshot!("inspect_chat", louver("inspect examples/chat.json --context-window 12000").done());
    insta::assert_snapshot!(
        "inspect_agent",
        louver("inspect examples/agent.json --context-window 24000 --limit 12").done()
    );
}

#[test]
fn no_line_is_wider_than_a_hundred_columns() {
    for words in ["examples/agent.json", "examples/chat.json --policy tokens", "examples/agent.json --limit 3"] {
        let run = louver(&format!("inspect {words}"));
        assert!(run.done().lines().all(|line| line.width() <= 100), "{}", run.stdout);
    }
}

#[test]
fn data_and_table_agree() {
    let survey = json(louver("inspect examples/agent.json --policy messages --json").done());
    let messages = survey["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 60);
    assert_eq!(messages[59]["cumulative_tokens"], survey["total_tokens"]);
    let totals = survey["totals"].as_object().unwrap();
    let sum: u64 = totals.values().map(|tokens| tokens.as_u64().unwrap()).sum();
    assert_eq!(sum, survey["total_tokens"].as_u64().unwrap());
    for category in
        ["system", "tools", "user_text", "assistant_text", "thinking", "tool_calls", "tool_results", "media"]
    {
        assert!(totals.contains_key(category), "{category}");
    }
    let pinned: Vec<usize> = (0..60).filter(|index| messages[*index]["pinned"] == true).collect();
    assert_eq!(pinned, [0].into_iter().chain(39..60).collect::<Vec<_>>());
    let survey = json(louver("inspect examples/agent.json --json").done());
    let pinned: Vec<usize> = (0..60).filter(|index| survey["messages"][*index]["pinned"] == true).collect();
    assert_eq!(pinned, [0].into_iter().chain(52..60).collect::<Vec<_>>(), "first request and what is recent");
    assert_eq!((&messages[1]["unit"], &messages[2]["unit"]), (&serde_json::json!(1), &serde_json::json!(1)));
}

#[test]
fn the_report_and_the_table_count_alike() {
    let survey = json(louver("inspect examples/agent.json --json").done());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.json");
    louver(&format!("trim examples/agent.json --report {}", path.display())).done();
    let report = json(&std::fs::read_to_string(path).unwrap());
    assert_eq!(survey["total_tokens"], report["tokens"]["before"]);
}

#[test]
fn colours_come_when_asked_for() {
    assert!(!louver("inspect examples/chat.json").done().contains('\u{1b}'));
    assert!(louver("inspect examples/chat.json --color always").done().contains('\u{1b}'));
    assert!(!louver("--color never inspect examples/chat.json").done().contains('\u{1b}'));
}

#[test]
fn whatever_a_message_holds_it_stays_in_its_row() {
    let input =
        r#"[{"role":"user","content":"a\u001b[31mb\r\nc\u202ed 日本語日本語日本語日本語日本語日本語日本語日本語"}]"#;
    let run = louver_with("inspect --format openai-chat", input);
    assert!(!run.done().contains(['\u{1b}', '\r', '\u{202e}']), "{}", run.stdout);
    assert!(run.stdout.lines().all(|line| line.width() <= 100), "{}", run.stdout);
}

#[test]
fn long_conversations_can_be_shortened() {
    let messages: Vec<String> = (0..5000).map(|i| format!(r#"{{"role":"user","content":"Message {i}"}}"#)).collect();
    let input = format!("[{}]", messages.join(","));
    let short = louver_with("inspect --format openai-chat --limit 10", input.clone());
    assert!(short.done().contains("⋮  4,990 messages not shown (#5 to #4,994)"), "{}", short.stdout);
    assert!(short.stdout.lines().count() < 40);
    assert!(louver_with("inspect --format openai-chat", input).done().lines().count() > 5000);
}

#[test]
fn an_empty_conversation_has_an_empty_table() {
    let run = louver_with("inspect", "[]");
    assert!(run.done().contains("0 messages in 0 units"));
    assert_eq!(json(louver_with("inspect --json", "[]").done())["total_tokens"], 0);
}
