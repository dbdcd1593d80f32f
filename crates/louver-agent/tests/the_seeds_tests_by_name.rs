//! Tasks 121 and 122, test by test, under the names they have in the plan.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use louver::condense::SUMMARY_PROMPT;
use louver::policy::MessagesConfig;
use louver::seeds::{Trimmed, estimate_tokens, trim};
use louver::wire::{Format, Message, Role};
use louver_agent::seeds::{SummarizeError, summarize, trim_with_summary};
use std::sync::Arc;

const FORMAT: Format = Format::OpenAiChat;

fn parsed(raw: &str) -> Arc<Message> {
    Arc::new(Message::parse(FORMAT, raw).unwrap())
}

fn list(count: usize) -> Vec<Arc<Message>> {
    let said = |n: usize| format!(r#"{{"role":"user","content":"Message {n}: read src/a.rs and decided to go on."}}"#);
    (0..count).map(|n| parsed(&said(n))).collect()
}

fn config(max_messages: usize, preserve_first_n: usize, preserve_last_n: usize) -> MessagesConfig {
    MessagesConfig { max_messages, preserve_first_n, preserve_last_n, summarize_on_trim: true }
}

/// The numbers of the messages that stay.
fn kept(trimmed: &Trimmed) -> Vec<usize> {
    let number = |message: &Message| -> usize {
        let rest = message.raw().split("Message ").nth(1).unwrap();
        rest.split(':').next().unwrap().parse().unwrap()
    };
    trimmed.trimmed.iter().filter(|message| message.raw().contains("Message ")).map(number).collect()
}

#[test]
fn trim_returns_messages_unchanged_when_under_the_cap() {
    let messages = list(5);
    let trimmed = trim(FORMAT, &messages, config(10, 1, 3)).unwrap();
    assert_eq!(kept(&trimmed), [0, 1, 2, 3, 4]);
    assert!(trimmed.evicted.is_empty());
}

#[test]
fn trim_preserves_first_and_last() {
    let trimmed = trim(FORMAT, &list(20), config(6, 2, 4)).unwrap();
    assert_eq!(kept(&trimmed), [0, 1, 16, 17, 18, 19]);
}

#[test]
fn trim_evicts_the_oldest_of_the_middle_first() {
    let trimmed = trim(FORMAT, &list(20), config(8, 1, 3)).unwrap();
    assert_eq!(kept(&trimmed), [0, 13, 14, 15, 16, 17, 18, 19]);
    assert_eq!(trimmed.evicted.len(), 12);
}

#[test]
fn trim_handles_fewer_messages_than_are_preserved() {
    let trimmed = trim(FORMAT, &list(4), config(3, 2, 20)).unwrap();
    assert_eq!(kept(&trimmed), [0, 1, 2, 3], "and none of them twice");
}

#[test]
fn trim_handles_exactly_the_cap() {
    assert!(trim(FORMAT, &list(10), config(10, 1, 3)).unwrap().evicted.is_empty());
}

#[test]
fn trim_handles_an_empty_list() {
    let trimmed = trim(FORMAT, &[], config(10, 1, 3)).unwrap();
    assert_eq!((trimmed.trimmed.len(), trimmed.metrics.estimated_tokens), (0, 0));
}

#[test]
fn estimates_are_reasonable_for_strings_objects_and_mixtures() {
    assert_eq!(estimate_tokens(&[parsed(r#"{"role":"user","content":"Hello world"}"#)]), 3);
    let object = parsed(r#"{"role":"user","content":[{"type":"text","text":"Hello world"}]}"#);
    let chars = r#"[{"type":"text","text":"Hello world"}]"#.chars().count() as u64;
    assert_eq!(estimate_tokens(std::slice::from_ref(&object)), chars.div_ceil(4));
    let mixed = [parsed(r#"{"role":"user","content":"Hello world"}"#), object];
    assert_eq!(estimate_tokens(&mixed), (chars + 11).div_ceil(4));
}

#[test]
fn metrics_agree_with_the_lists() {
    let trimmed = trim(FORMAT, &list(20), config(8, 1, 3)).unwrap();
    let metrics = trimmed.metrics;
    assert_eq!((metrics.total_messages, metrics.preserved_messages, metrics.evicted_messages), (20, 8, 12));
    assert_eq!(
        metrics.estimated_tokens,
        estimate_tokens(&trimmed.trimmed.into_iter().map(Arc::new).collect::<Vec<_>>())
    );
}

#[test]
fn defaults_are_applied_where_fields_are_omitted() {
    let defaults = MessagesConfig::default();
    assert_eq!((defaults.max_messages, defaults.preserve_first_n, defaults.preserve_last_n), (100, 1, 20));
    assert!(!defaults.summarize_on_trim);
}

#[tokio::test]
async fn a_summary_replaces_evicted_messages_with_one_synthetic_message() {
    let trimmed = trim_with_summary(FORMAT, &list(30), config(8, 1, 3), async |_| Ok("src/a.rs was read.".to_owned()))
        .await
        .unwrap();
    let summaries: Vec<&Message> =
        trimmed.trimmed.iter().filter(|message| message.raw().contains("[Conversation Summary]")).collect();
    assert_eq!(summaries.len(), 1);
    assert_eq!(summaries[0].shape().role, Role::Assistant);
    assert!(summaries[0].raw().contains(r"[Conversation Summary]\nsrc/a.rs was read."), "{}", summaries[0].raw());
    assert_eq!((trimmed.trimmed.len(), trimmed.evicted.len()), (9, 22), "it counts neither as kept nor as evicted");
}

#[tokio::test]
async fn the_summary_stands_between_head_and_tail() {
    let trimmed =
        trim_with_summary(FORMAT, &list(30), config(8, 2, 6), async |_| Ok("Short.".to_owned())).await.unwrap();
    let place = trimmed.trimmed.iter().position(|message| message.raw().contains("[Conversation Summary]"));
    assert_eq!(place, Some(2));
    assert_eq!(kept(&trimmed), [0, 1, 24, 25, 26, 27, 28, 29]);
}

#[tokio::test]
async fn a_failed_summary_falls_back_to_plain_eviction() {
    for answer in [Err("HTTP 500".to_owned()), Ok(String::new()), Ok("word ".repeat(9000))] {
        let trimmed = trim_with_summary(FORMAT, &list(30), config(8, 1, 3), async |_| answer).await.unwrap();
        assert_eq!((trimmed.trimmed.len(), trimmed.evicted.len()), (8, 22));
        assert_eq!(trimmed.warnings.len(), 1, "{:?}", trimmed.warnings);
    }
}

fn tools_only() -> Vec<Arc<Message>> {
    let call = |n: usize| {
        let function = r#"{"name":"read","arguments":"{}"}"#;
        let call = format!(r#"{{"id":"c{n}","type":"function","function":{function}}}"#);
        let assistant = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
        [parsed(&assistant), parsed(&format!(r#"{{"role":"tool","tool_call_id":"c{n}","content":"result"}}"#))]
    };
    std::iter::once(parsed(r#"{"role":"user","content":"Go."}"#)).chain((0..20).flat_map(call)).collect()
}

#[tokio::test]
async fn a_summary_is_skipped_when_nothing_evicted_has_text() {
    let never = async |_| -> Result<String, String> { panic!("nobody should be asked") };
    let trimmed = trim_with_summary(FORMAT, &tools_only(), config(8, 1, 3), never).await.unwrap();
    assert!(trimmed.evicted.len() > 10);
    let nothing = summarize(FORMAT, &tools_only()[1..], async |_| Ok(String::new())).await;
    assert_eq!(nothing, Err(SummarizeError::NothingToSay));
}

#[tokio::test]
async fn a_small_trim_asks_for_no_summary() {
    let never = async |_| -> Result<String, String> { panic!("nobody should be asked") };
    let trimmed = trim_with_summary(FORMAT, &list(17), config(8, 1, 3), never).await.unwrap();
    assert_eq!(trimmed.evicted.len(), 9);
}

#[tokio::test]
async fn the_prompt_has_the_promised_form() {
    let mut prompt = String::new();
    let keep = async |asked: String| {
        prompt = asked;
        Ok("Short.".to_owned())
    };
    trim_with_summary(FORMAT, &list(30), config(8, 1, 3), keep).await.unwrap();
    let (instruction, lines) = prompt.split_once("\n\n").unwrap();
    assert_eq!(instruction, SUMMARY_PROMPT);
    assert!(lines.starts_with("[user]: Message 1: read src/a.rs"), "{lines}");
    assert_eq!(lines.lines().count(), 22);
}
