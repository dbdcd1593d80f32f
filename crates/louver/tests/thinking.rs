//! Thinking behind a cut.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver::catalog::{Catalog, ThinkingBinding};
use louver::policy::{MessagesConfig, ObservationsConfig, PolicyKind};
use louver::tokens::CounterChoice;
use louver::trim::{Trimmed, trim};
use louver::window::WindowConfig;
use louver::wire::{Body, Format};
use serde_json::{Value, json};

fn thought(number: usize) -> Value {
    json!({ "type": "thinking", "thinking": format!("Hm, {number}."), "signature": "c2lnbmF0dXJl" })
}

fn history(model: &str) -> Body {
    let mut messages = vec![json!({ "role": "user", "content": "Fix the test." })];
    for number in 0..6 {
        let id = format!("toolu_{number}");
        let call = json!({ "type": "tool_use", "id": id, "name": "read", "input": {} });
        messages.push(json!({ "role": "assistant", "content": [thought(number), call] }));
        messages.push(
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "ok" }] }),
        );
    }
    messages.push(json!({ "role": "assistant", "content": [thought(6)] }));
    messages.push(json!({ "role": "user", "content": "Go on." }));
    Body::parse(&json!({ "model": model, "max_tokens": 100, "messages": messages }).to_string(), None).unwrap()
}

fn config(model: &str, policy: PolicyKind) -> WindowConfig {
    let found = Catalog::builtin().find(model).unwrap();
    WindowConfig::new(Format::Anthropic, policy).with_model(Some(&found.model), CounterChoice::Chars4)
}

fn trimmed(model: &str, max_messages: usize) -> Trimmed {
    let cap = MessagesConfig { max_messages, preserve_last_n: 2, ..MessagesConfig::default() };
    trim(&history(model), config(model, PolicyKind::Messages(cap))).unwrap()
}

#[test]
fn a_model_that_binds_thinking_gets_none_behind_a_cut() {
    let trimmed = trimmed("claude-sonnet-5-5", 7);
    assert!(!trimmed.json.contains("\"thinking\""), "{}", trimmed.json);
    assert!(!trimmed.report.edited.is_empty());
    assert!(trimmed.json.contains("\"toolu_5\""), "the calls stay");
    let body = Body::parse(&trimmed.json, None).unwrap();
    assert_eq!(louver::legality::check(&body), [], "a message of thinking alone is not left empty");
}

#[test]
fn thinking_behind_a_message_that_was_changed_goes_as_well() {
    let model = "claude-sonnet-5-5";
    let long = history(model).text().replace(r#""content":"ok""#, &format!(r#""content":"{}""#, "long ".repeat(60)));
    let body = Body::parse(&long, None).unwrap();
    let mask = ObservationsConfig { keep: 2, ..ObservationsConfig::MASK };
    let trimmed = trim(&body, config(model, PolicyKind::Mask(mask))).unwrap();
    assert!(trimmed.report.evicted.is_empty() && trimmed.json.contains("[Old tool result cleared]"));
    assert!(trimmed.json.contains("Hm, 0."), "what stands before the first change is as it was");
    assert!(!trimmed.json.contains("Hm, 1."), "{}", trimmed.json);
    assert_eq!(trimmed.json.matches("\"type\":\"thinking\"").count(), 1);
}

#[test]
fn without_a_cut_thinking_stays_as_it_is() {
    let trimmed = trimmed("claude-sonnet-5-5", 100);
    assert_eq!(trimmed.json, history("claude-sonnet-5-5").text());
}

#[test]
fn a_model_that_forbids_stripping_an_open_turn_keeps_all_thinking() {
    let found = Catalog::builtin().find("claude-sonnet-4-5").unwrap();
    assert_eq!(found.model.traits.thinking, ThinkingBinding::OpenTurn);
    let trimmed = trimmed("claude-sonnet-4-5", 7);
    assert_eq!(trimmed.json.matches("\"type\":\"thinking\"").count(), 3);
    assert_eq!(trimmed.report.edited, [0usize; 0]);
}
