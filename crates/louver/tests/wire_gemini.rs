//! Gemini contents: what is in a content, judged by serde_json's reading of it, and what is refused.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skips")]

mod wire_history;

use louver::wire::{Body, Format, MediaKind, Message, Part, PartKind, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_history::{Request, corpus, legality_cases};

const FORMAT: Format = Format::Gemini;

/// A class that the refused list names and the corpus index does not judge: a call turn behind a turn of the model.
const NOT_IN_INDEX: [&str; 1] = ["call-out-of-place"];

/// What a part should say, read from the value that serde_json sees.
#[derive(Debug, Default, PartialEq)]
struct Reading {
    kind: Option<PartKind>,
    text: String,
    name: String,
    id: String,
    chars: usize,
    blank: bool,
    is_error: bool,
}

fn reading(part: &Value) -> Reading {
    if let Some(call) = part.get("functionCall") {
        return function(call, "args", PartKind::ToolCall);
    }
    if let Some(response) = part.get("functionResponse") {
        let is_error = response["response"].get("error").is_some();
        return Reading { is_error, ..function(response, "response", PartKind::ToolResult) };
    }
    for (key, kind) in [("toolCall", PartKind::ServerToolCall), ("toolResponse", PartKind::ServerToolResult)] {
        if let Some(value) = part.get(key) {
            let id = value["id"].as_str().unwrap_or_default().to_owned();
            return Reading { kind: Some(kind), id, ..json_reading(value) };
        }
    }
    for (key, data) in [("inlineData", "data"), ("fileData", "fileUri")] {
        if let Some(media) = part.get(key) {
            return media_reading(media, data);
        }
    }
    match part["text"].as_str() {
        Some(text) => text_reading(text, part["thought"] == true),
        None => Reading { kind: Some(PartKind::Other), ..json_reading(part) },
    }
}

fn json_reading(value: &Value) -> Reading {
    let text = value.to_string();
    Reading { chars: text.chars().count(), text, ..Reading::default() }
}

fn function(value: &Value, payload: &str, kind: PartKind) -> Reading {
    let read = json_reading(&value[payload]);
    let name = value["name"].as_str().unwrap().to_owned();
    let id = value["id"].as_str().unwrap_or_default().to_owned();
    Reading { kind: Some(kind), chars: read.chars + name.chars().count(), name, id, ..read }
}

fn media_reading(media: &Value, data: &str) -> Reading {
    let name = media["mimeType"].as_str().unwrap().to_owned();
    let kind = match name.split('/').next().unwrap() {
        "image" => MediaKind::Image,
        "audio" | "video" => MediaKind::Audio,
        _ => MediaKind::Document,
    };
    let text = media[data].as_str().unwrap().to_owned();
    Reading { kind: Some(PartKind::Media(kind)), text, name, ..Reading::default() }
}

fn text_reading(text: &str, is_thought: bool) -> Reading {
    let kind = if is_thought { PartKind::Thinking } else { PartKind::Text };
    let blank = !is_thought && text.trim().is_empty();
    Reading { kind: Some(kind), text: text.to_owned(), chars: text.chars().count(), blank, ..Reading::default() }
}

/// Texts that are JSON are compared as values: serde_json sorts keys.
fn normal(text: &str) -> String {
    let is_json = text.starts_with(['{', '[']);
    match serde_json::from_str::<Value>(text) {
        Ok(value) if is_json => value.to_string(),
        _ => text.to_owned(),
    }
}

fn assert_reads_like_serde(raw: &str, message: &Message, name: &str) {
    let value: Value = serde_json::from_str(raw).unwrap();
    let parts = value["parts"].as_array().unwrap();
    let expected: Vec<_> = parts.iter().map(reading).map(|it| Reading { text: normal(&it.text), ..it }).collect();
    let read = |part: &Part| Reading {
        kind: Some(part.kind),
        text: normal(&message.text_of(part)),
        name: message.name_of(part).into_owned(),
        id: message.id_of(part).into_owned(),
        chars: part.chars as usize,
        blank: part.blank,
        is_error: part.is_error,
    };
    assert_eq!(message.shape().parts.iter().map(read).collect::<Vec<_>>(), expected, "{name}");
    assert_eq!(message.shape().estimate_chars, value["parts"].to_string().chars().count() as u64, "{name}");
    for (part, value) in message.shape().parts.iter().zip(parts) {
        let spanned: Value = serde_json::from_str(part.span.of(message.raw())).unwrap();
        assert_eq!(&spanned, value, "{name}");
    }
}

fn message(raw: &Value) -> Message {
    Message::parse(FORMAT, &raw.to_string()).unwrap()
}

#[test]
fn every_content_of_the_corpus_reads_as_serde_reads_it() {
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
    for (rule, legal, illegal) in legality_cases(include_str!("data/legality/gemini.json"), FORMAT) {
        assert_eq!(FORMAT.wire().check(&legal.history()), [], "{rule}");
        let violations = FORMAT.wire().check(&illegal.history());
        let rules: Vec<_> = violations.iter().map(|violation| violation.rule).collect();
        // A call turn right behind another leaves the first one without its responses, too, and nothing else.
        let call_behind_call = rule == "call-out-of-place" && rules.len() == 2;
        let expected = if call_behind_call { vec!["response-count", &*rule] } else { vec![&*rule] };
        assert_eq!(rules, expected, "{violations:?}");
    }
}

#[test]
fn both_spellings_of_a_key_are_read_and_nulls_make_no_part() {
    let message = message(&json!({"role": "model", "parts": [
        {"function_call": {"name": "f", "args": {}}, "functionResponse": null, "text": null},
        {"inline_data": {"mime_type": "image/png", "data": "aGk="}},
        {"text": "hm", "thought": true, "thought_signature": "c2ln"},
    ]}));
    let kinds: Vec<_> = message.shape().parts.iter().map(|part| part.kind).collect();
    assert_eq!(kinds, [PartKind::ToolCall, PartKind::Media(MediaKind::Image), PartKind::Thinking]);
    assert_eq!(message.shape().role, Role::Assistant);
}

#[test]
fn media_in_a_response_follow_it_as_nested_parts() {
    let media = json!({"inlineData": {"mimeType": "image/png", "data": "aGk="}});
    let response = json!({"functionResponse": {"parts": [media], "name": "f", "response": {"error": "no"}}});
    let message = message(&json!({"role": "user", "parts": [response, {"text": " "}]}));
    let [response, media, text] = message.shape().parts[..] else { panic!() };
    assert!(response.is_error && !response.nested);
    assert_eq!(response.chars as usize, r#"f{"error":"no"}"#.len());
    assert!(media.nested && media.chars == 0);
    assert!(text.blank && !text.nested);
}

#[test]
fn what_is_no_content_is_an_error_with_its_place() {
    for (raw, error) in [
        (r#""x""#, "expected an object, found a string (byte 0)"),
        (r#"{"parts":[]}"#, "the content has no `role` (byte 0)"),
        (
            r#"{"role":"function","parts":[]}"#,
            "$.role: unknown role `function`: please use a valid role: user, model (byte 8)",
        ),
        (r#"{"role":"user","parts":"x"}"#, "$.parts: expected an array of parts, found a string (byte 23)"),
        (r#"{"role":"user","parts":["x"]}"#, "$.parts[0]: expected an object, found a string (byte 24)"),
    ] {
        assert_eq!(Message::parse(FORMAT, raw).unwrap_err().to_string(), error, "{raw}");
    }
}

const KEYS: [&str; 12] = [
    "text",
    "thought",
    "thoughtSignature",
    "functionCall",
    "functionResponse",
    "inlineData",
    "executableCode",
    "name",
    "args",
    "response",
    "parts",
    "id",
];

/// Values under the right names and of the wrong kinds, keys repeated.
fn any_value() -> impl Strategy<Value = String> {
    let words = proptest::sample::select(&["f", " ", "image/png", r"\ud800"]);
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
        let raw = format!(r#"{{"parts":{value},"role":"user"}}"#);
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

#[test]
fn the_reply_length_stands_in_the_generation_config() {
    for (config, length) in [
        (r#""generationConfig":{"temperature":0,"maxOutputTokens":900}"#, Some(900)),
        (r#""generation_config":{"max_output_tokens":700}"#, Some(700)),
        (r#""generationConfig":{"maxOutputTokens":null}"#, None),
        (r#""generationConfig":{"thinkingConfig":{"maxOutputTokens":1}}"#, None),
    ] {
        let text = format!(r#"{{"contents":[{{"role":"user","parts":[{{"text":"Hi"}}]}}],{config}}}"#);
        assert_eq!(Body::parse(&text, None).unwrap().max_output(), length, "{config}");
    }
}
