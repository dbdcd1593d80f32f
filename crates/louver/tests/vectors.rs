//! The cases as data: every one must pass.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

use louver::budget::Budget;
use louver::policy::{Decision, MessagesConfig, TokensConfig, decide, effective_threshold};
use louver::seeds::{estimate_tokens, trim, truncate_conversation};
use louver::tokens::{Chars4, Counter, Image};
use louver::wire::{Body, Format, Message};
use serde_json::Value;
use std::sync::Arc;

fn cases(file: &str) -> Value {
    serde_json::from_str(file).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap()
}

fn number(value: &Value, key: &str) -> usize {
    usize::try_from(value[key].as_u64().unwrap()).unwrap()
}

fn indices(value: &Value, key: &str) -> Vec<usize> {
    list(value, key).iter().map(|index| usize::try_from(index.as_u64().unwrap()).unwrap()).collect()
}

/// Message i as the vectors describe it.
fn numbered(count: usize) -> Vec<Arc<Message>> {
    let message = |index: usize| {
        let role = if index.is_multiple_of(2) { "user" } else { "assistant" };
        let raw = serde_json::json!({ "role": role, "content": format!("Message {index}") });
        Arc::new(Message::parse(Format::OpenAiChat, &raw.to_string()).unwrap())
    };
    (0..count).map(message).collect()
}

fn positions(messages: &[Message], all: &[Arc<Message>]) -> Vec<usize> {
    messages.iter().map(|message| all.iter().position(|other| **other == *message).unwrap()).collect()
}

#[test]
fn the_message_window_keeps_what_the_vectors_say() {
    let vectors = cases(include_str!("data/vectors/message_window.json"));
    for case in list(&vectors, "cases") {
        let messages = numbered(number(case, "messages"));
        let config = MessagesConfig {
            max_messages: number(case, "max_messages"),
            preserve_first_n: number(case, "preserve_first_n"),
            preserve_last_n: number(case, "preserve_last_n"),
            summarize_on_trim: false,
        };
        let result = trim(Format::OpenAiChat, &messages, config).unwrap();
        let name = &case["name"];
        assert_eq!(positions(&result.trimmed, &messages), indices(case, "kept"), "{name}");
        assert_eq!(positions(&result.evicted, &messages), indices(case, "evicted"), "{name}");
        assert_eq!(!result.warnings.is_empty(), case["warns"].as_bool().unwrap(), "{name}");
        assert_eq!(serde_json::to_value(result.metrics).unwrap(), case["metrics"], "{name}");
    }
}

#[test]
fn fractions_drop_what_the_vectors_say() {
    let vectors = cases(include_str!("data/vectors/fraction.json"));
    for case in list(&vectors, "cases") {
        let messages = numbered(number(case, "messages"));
        let kept = truncate_conversation(Format::OpenAiChat, &messages, case["fraction"].as_f64().unwrap());
        assert_eq!(kept, indices(case, "kept"), "{case}");
    }
}

#[test]
fn estimates_are_what_the_vectors_say() {
    let vectors = cases(include_str!("data/vectors/estimate.json"));
    for case in list(&vectors, "cases") {
        let body = Body::parse(&case["messages"].to_string(), Some(Format::OpenAiChat)).unwrap();
        assert_eq!(estimate_tokens(body.messages()), case["estimated_tokens"].as_u64().unwrap(), "{case}");
    }
    for case in list(&vectors, "images") {
        let data = "A".repeat(number(case, "data_length"));
        let tokens = Chars4.image(&Image::from_base64(&data)).ceil_tokens();
        assert_eq!(tokens, case["tokens"].as_u64().unwrap(), "{case}");
    }
}

#[test]
fn the_token_window_decides_as_the_vectors_say() {
    let vectors = cases(include_str!("data/vectors/token_decision.json"));
    for case in list(&vectors, "cases") {
        let expect = &case["expect"];
        let config = token_config(case);
        let budget = Budget::new(case["context_window"].as_u64().unwrap(), case["max_output_tokens"].as_u64()).unwrap();
        let context_tokens = case["total_tokens"].as_u64().unwrap() + case["last_message_tokens"].as_u64().unwrap();
        assert_eq!(expect["prev_context_tokens"], context_tokens, "{case}");
        assert_eq!(expect["allowed_tokens"].as_f64(), Some(budget.allowed_tokens() as f64), "{case}");
        let (threshold, warning) = effective_threshold(&config);
        assert_eq!(expect["effective_threshold"], threshold, "{case}");
        assert_eq!(expect["warns"], warning.is_some(), "{case}");
        let condenses = case["condense_succeeds"].as_bool().unwrap();
        let action = match decide(&config, budget, context_tokens) {
            Decision::Keep => "none",
            Decision::Condense(_) if condenses => "condense",
            Decision::Condense(_) if !budget.is_exceeded_by(context_tokens) => "none",
            Decision::Condense(_) | Decision::Truncate => "truncate",
        };
        assert_eq!(expect["action"], action, "{case}");
    }
}

fn token_config(case: &Value) -> TokensConfig {
    let mut config = TokensConfig {
        auto_condense_context: case["auto_condense"].as_bool().unwrap(),
        auto_condense_context_percent: u8::try_from(number(case, "auto_condense_percent")).unwrap(),
        ..TokensConfig::default()
    };
    if let Some(threshold) = case["profile_threshold"].as_i64() {
        config.profile_thresholds.insert("own".to_owned(), threshold);
        config.current_profile_id = Some("own".to_owned());
    }
    config
}
