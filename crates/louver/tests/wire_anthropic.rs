//! Anthropic Messages: what is in a message, judged by serde_json's reading of it, and what is refused.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod wire_history;

use louver::wire::{Format, MediaKind, Message, PartKind, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_history::{Request, corpus, legality_cases};

const FORMAT: Format = Format::Anthropic;

/// Classes that the refused list names and the corpus index does not judge.
const NOT_IN_INDEX: [&str; 2] = ["blank-text", "empty-content"];

/// What a part should say, read from the value that serde_json sees.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    kind: Option<PartKind>,
    text: String,
    name: String,
    id: String,
    chars: usize,
    nested: bool,
    blank: bool,
    is_error: bool,
}

fn readings(message: &Value) -> Vec<Reading> {
    match &message["content"] {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text_reading(text)],
        Value::Array(blocks) => blocks.iter().flat_map(block_readings).collect(),
        other => vec![other_reading(other)],
    }
}

fn block_readings(block: &Value) -> Vec<Reading> {
    let nested = match (&block["content"], reading(block).kind) {
        (Value::Array(blocks), Some(PartKind::ToolResult | PartKind::ServerToolResult)) => blocks.clone(),
        _ => Vec::new(),
    };
    let nested = nested.iter().map(|block| Reading { nested: true, ..reading(block) });
    std::iter::once(reading(block)).chain(nested).collect()
}

fn reading(block: &Value) -> Reading {
    let of = |kind| Reading { kind: Some(kind), ..Reading::default() };
    match block["type"].as_str().unwrap_or_default() {
        "text" => text_reading(block["text"].as_str().unwrap_or_default()),
        "tool_use" => call_reading(block, PartKind::ToolCall),
        "server_tool_use" | "mcp_tool_use" => call_reading(block, PartKind::ServerToolCall),
        "tool_result" => result_reading(block, PartKind::ToolResult),
        "thinking" => Reading { kind: Some(PartKind::Thinking), ..text_only(block["thinking"].as_str().unwrap()) },
        "redacted_thinking" => of(PartKind::Thinking),
        "image" => media_reading(block, MediaKind::Image),
        "document" if block["source"]["type"] == "text" => {
            Reading { kind: Some(PartKind::Other), ..text_only(block["source"]["data"].as_str().unwrap()) }
        }
        "document" => media_reading(block, MediaKind::Document),
        kind if kind.ends_with("_tool_result") => result_reading(block, PartKind::ServerToolResult),
        _ => other_reading(block),
    }
}

fn text_only(text: &str) -> Reading {
    Reading { text: text.to_owned(), chars: text.chars().count(), ..Reading::default() }
}

fn text_reading(text: &str) -> Reading {
    Reading { kind: Some(PartKind::Text), blank: text.trim().is_empty(), ..text_only(text) }
}

fn call_reading(block: &Value, kind: PartKind) -> Reading {
    let input = block["input"].to_string();
    let name = block["name"].as_str().unwrap().to_owned();
    let chars = input.chars().count() + name.chars().count();
    let id = block["id"].as_str().unwrap().to_owned();
    Reading { kind: Some(kind), text: input, name, id, chars, ..Reading::default() }
}

fn result_reading(block: &Value, kind: PartKind) -> Reading {
    let read = match &block["content"] {
        Value::Null => Reading::default(),
        Value::String(text) => text_only(text),
        Value::Array(_) => Reading { text: block["content"].to_string(), ..Reading::default() },
        other => text_only(&other.to_string()),
    };
    let id = block["tool_use_id"].as_str().unwrap().to_owned();
    Reading { kind: Some(kind), id, is_error: block["is_error"] == true, ..read }
}

fn media_reading(block: &Value, kind: MediaKind) -> Reading {
    let source = &block["source"];
    let data = ["data", "url", "file_id"].iter().find_map(|key| source[key].as_str()).unwrap_or_default();
    let name = source["media_type"].as_str().unwrap_or_default().to_owned();
    Reading { kind: Some(PartKind::Media(kind)), text: data.to_owned(), name, ..Reading::default() }
}

fn other_reading(block: &Value) -> Reading {
    let mut seen = block.clone();
    if let Some(fields) = seen.as_object_mut() {
        fields.remove("encrypted_content");
    }
    // Without the value, its key, colon and comma are gone too.
    let key_chars = if seen == *block { 0 } else { r#""encrypted_content":,"#.len() };
    let chars = seen.to_string().chars().count() + key_chars;
    Reading { kind: Some(PartKind::Other), text: block.to_string(), chars, ..Reading::default() }
}

/// Texts that are JSON are compared as values: serde_json sorts keys.
fn normal(text: &str) -> String {
    let is_json = text.starts_with(['{', '[']);
    match serde_json::from_str::<Value>(text) {
        Ok(value) if is_json => value.to_string(),
        _ => text.to_owned(),
    }
}

fn parts(message: &Message) -> Vec<Reading> {
    let read = |part: &louver::wire::Part| Reading {
        kind: Some(part.kind),
        text: normal(&message.text_of(part)),
        name: message.name_of(part).into_owned(),
        id: message.id_of(part).into_owned(),
        chars: part.chars as usize,
        nested: part.nested,
        blank: part.blank,
        is_error: part.is_error,
    };
    message.shape().parts.iter().map(read).collect()
}

fn assert_reads_like_serde(raw: &str, message: &Message, name: &str) {
    let value: Value = serde_json::from_str(raw).unwrap();
    let expected: Vec<_> = readings(&value).into_iter().map(|it| Reading { text: normal(&it.text), ..it }).collect();
    assert_eq!(parts(message), expected, "{name}");
    let content = &value["content"];
    let estimate = match content {
        Value::Null => 0,
        Value::String(text) => text.chars().count(),
        other => other.to_string().chars().count(),
    };
    assert_eq!(message.shape().estimate_chars, estimate as u64, "{name}");
    let marks = content.as_array().into_iter().flatten().filter(|block| !block["cache_control"].is_null()).count();
    assert_eq!(message.shape().cache_marks, marks as u32, "{name}");
    assert_spans_hold_blocks(message, content, name);
}

fn assert_spans_hold_blocks(message: &Message, content: &Value, name: &str) {
    let Some(blocks) = content.as_array() else { return };
    let outer = message.shape().parts.iter().filter(|part| !part.nested);
    for (part, block) in outer.zip(blocks) {
        let spanned: Value = serde_json::from_str(part.span.of(message.raw())).unwrap();
        assert_eq!(&spanned, block, "{name}");
    }
}

fn message(raw: &Value) -> Message {
    Message::parse(FORMAT, &raw.to_string()).unwrap()
}

#[test]
fn every_message_of_the_corpus_reads_as_serde_reads_it() {
    for conversation in corpus(FORMAT) {
        for (index, (raw, message)) in conversation.raws.iter().zip(&conversation.messages).enumerate() {
            assert_eq!(message.raw(), raw);
            assert_reads_like_serde(raw, message, &format!("{}[{index}]", conversation.name));
        }
    }
}

#[test]
fn check_agrees_with_the_index_of_the_corpus() {
    for conversation in corpus(FORMAT) {
        let request = Request::of(conversation.messages);
        let mut violations = FORMAT.wire().check(&request.history());
        violations.retain(|violation| !NOT_IN_INDEX.contains(&violation.rule));
        assert_eq!(violations.is_empty(), conversation.is_legal, "{}: {violations:?}", conversation.name);
    }
}

#[test]
fn each_refused_line_has_a_request_on_either_side_of_it() {
    for (rule, legal, illegal) in legality_cases(include_str!("data/legality/anthropic.json"), FORMAT) {
        assert_eq!(FORMAT.wire().check(&legal.history()), [], "{rule}");
        let violations = FORMAT.wire().check(&illegal.history());
        let rules: Vec<_> = violations.iter().map(|violation| violation.rule).collect();
        assert_eq!(rules, [rule], "{violations:?}");
    }
}

#[test]
fn keys_come_in_any_order_and_the_last_of_two_wins() {
    let raw = r#"{"content":[{"tool_use_id":"t1","content":[{"text":"a","type":"text"}],"type":"tool_result"},
        {"content":["x",1],"text":"no","text":"yes","type":"text","cache_control":null}],"role":"assistant","role":"user"}"#;
    let message = Message::parse(FORMAT, raw).unwrap();
    assert_eq!(message.shape().role, Role::User);
    let parts = &message.shape().parts;
    assert_eq!(
        parts.iter().map(|part| part.kind).collect::<Vec<_>>(),
        [PartKind::ToolResult, PartKind::Text, PartKind::Text]
    );
    assert_eq!(message.text_of(&parts[2]), "yes");
    assert_eq!(message.shape().cache_marks, 0);
}

#[test]
fn cache_marks_count_on_blocks_and_on_the_blocks_of_results() {
    let marked = json!({"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [marked], "cache_control": {}});
    assert_eq!(message(&json!({"role": "user", "content": [result, marked]})).shape().cache_marks, 3);
}

#[test]
fn a_compaction_is_read_as_text_and_one_that_failed_is_none() {
    let read = |block: Value| message(&json!({"role": "assistant", "content": [block]})).shape().parts[0];
    let part = read(json!({"type": "compaction", "content": "So far.", "signature": "s"}));
    assert_eq!((part.kind, part.chars), (PartKind::Compaction, 7));
    let part = read(json!({"type": "compaction", "encrypted_content": "ZW5j"}));
    assert_eq!((part.kind, part.chars), (PartKind::Compaction, 0));
    for failed in [json!({"type": "compaction", "content": null}), json!({"type": "compaction"})] {
        let part = read(failed);
        assert_eq!((part.kind, part.chars), (PartKind::Other, 0));
    }
}

#[test]
fn ids_that_come_again_or_are_no_words_are_advised_against_and_legal() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "f", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
    let turn = |ids: &[&str]| {
        let calls: Vec<_> = ids.iter().map(|id| call(id)).collect();
        let results: Vec<_> = ids.iter().map(|id| result(id)).collect();
        [json!({"role": "assistant", "content": calls}), json!({"role": "user", "content": results})]
    };
    let ask = json!({"role": "user", "content": "Go"});
    let values =
        [vec![ask], turn(&["a", "call.1"]).to_vec(), turn(&["b-_9", "a"]).to_vec(), turn(&[""]).to_vec()].concat();
    let request = Request::of(values.iter().map(message).collect());
    assert_eq!(FORMAT.wire().check(&request.history()), []);
    let found: Vec<_> = FORMAT.wire().advise(&request.history()).iter().map(ToString::to_string).collect();
    let pattern = "String should match pattern '^[a-zA-Z0-9_-]+$'";
    assert_eq!(
        found,
        [
            format!("[1].content[1]: tool-use-id-malformed: messages.1.content.1.id: {pattern}"),
            "[3].content[1]: tool-use-id-repeats: messages.3.content.1: `tool_use` ids must be unique".to_owned(),
            format!("[5].content[0]: tool-use-id-malformed: messages.5.content.0.id: {pattern}"),
        ]
    );
}

#[test]
fn content_that_is_an_object_is_one_part() {
    let message = message(&json!({"role": "user", "content": {"foo": "bar"}}));
    assert_eq!(message.shape().parts.len(), 1);
    assert_eq!(message.shape().parts[0].kind, PartKind::Other);
    assert_eq!(message.shape().estimate_chars, 13);
}

#[test]
fn what_is_no_message_is_an_error_with_its_place() {
    for (raw, error) in [
        (r#"[]"#, "expected an object, found an array (byte 0)"),
        (r#"{"content":"x"}"#, "the message has no `role` (byte 0)"),
        (r#"{"role":7}"#, "$.role: expected a string, found a number (byte 8)"),
        (r#"{"role":"bot"}"#, "$.role: unknown role `bot`: expected user, assistant or system (byte 8)"),
        (
            r#"{"role":"user","content":7}"#,
            "$.content: expected a string or an array of blocks, found a number (byte 25)",
        ),
        (r#"{"role":"user","content":["x"]}"#, "$.content[0]: expected an object, found a string (byte 26)"),
        (
            r#"{"role":"user","content":[{"type":"tool_result","content":["x"]}]}"#,
            "$.content[0].content[0]: expected an object, found a string (byte 59)",
        ),
    ] {
        assert_eq!(Message::parse(FORMAT, raw).unwrap_err().to_string(), error, "{raw}");
    }
}

const KEYS: [&str; 13] = [
    "type",
    "text",
    "thinking",
    "id",
    "tool_use_id",
    "name",
    "input",
    "content",
    "source",
    "is_error",
    "cache_control",
    "signature",
    "data",
];

/// Values under the right names and of the wrong kinds, keys repeated.
fn any_value() -> impl Strategy<Value = String> {
    let words = proptest::sample::select(&[
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "image",
        "document",
        "g_tool_result",
        "compaction",
        " ",
        r"\ud800",
    ]);
    let leaf = prop_oneof![
        4 => words.prop_map(|word| if word == r"\ud800" { r#""\ud800""#.to_owned() } else { json!(word).to_string() }),
        1 => proptest::sample::select(&["null", "true", "7", "[]", "{}"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let member = (proptest::sample::select(&KEYS), inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        let object = proptest::collection::vec(member, 0..5).prop_map(|members| format!("{{ {} }}", members.join(" , ")));
        prop_oneof![3 => object, 2 => proptest::collection::vec(inner, 0..4).prop_map(|list| format!("[{}]", list.join(",")))]
    })
}

proptest! {
    #[test]
    fn values_of_any_kind_are_read_or_refused_and_spans_stay_inside(value in any_value()) {
        let raw = format!(r#"{{"content":{value},"role":"user"}}"#);
        if let Ok(message) = Message::parse(FORMAT, &raw) {
            for part in &message.shape().parts {
                let holder = part.span.of(message.raw());
                prop_assert!(!holder.is_empty());
                prop_assert!(holder.contains(part.text.of(message.raw())));
                prop_assert!(part.text.is_empty() || part.text.start >= part.span.start && part.text.end <= part.span.end);
                let _ = (message.text_of(part), message.id_of(part), message.name_of(part), message.media_of(part));
            }
            let request = Request::of(vec![message]);
            let fixes = FORMAT.wire().repair(&request.history());
            prop_assert_eq!(FORMAT.wire().check(&request.fixed(FORMAT, &fixes).history()), []);
        }
    }
}
