//! Chat Completions: what is read, what is refused, what is repaired.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and says what it skipped")]

mod wire_openai;

use louver::wire::{Format, Message, PartKind, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use wire_openai::{
    Expected, any_object, assert_cut_text_is_refused, assert_harmless, assert_legality, assert_repairs, chars, check,
    corpus, describe, expected_part, object, string,
};

const CHAT: Format = Format::OpenAiChat;

fn read(raw: &str) -> Message {
    Message::parse(CHAT, raw).unwrap()
}

fn error(raw: &str) -> String {
    Message::parse(CHAT, raw).unwrap_err().to_string()
}

/// The parts of a message as serde_json's reading has them, in no order.
fn expected_parts(message: &Value) -> Vec<String> {
    let is_result = matches!(message["role"].as_str(), Some("tool" | "function"));
    let content = &message["content"];
    let mut parts: Vec<Expected> = match content {
        Value::String(_) if is_result => Vec::new(),
        Value::String(_) => vec![Expected::new("Text").reading(content)],
        Value::Array(parts) => parts.iter().map(expected_part).collect(),
        Value::Object(_) => vec![Expected::new("Other").reading(content)],
        _ => Vec::new(),
    };
    if message["role"] == "assistant" {
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let callee = if call["custom"].is_object() { &call["custom"] } else { &call["function"] };
            parts.push(Expected { id: string(call, "id"), ..expected_call(callee) });
        }
        parts.extend(message["function_call"].is_object().then(|| expected_call(&message["function_call"])));
    }
    for (key, kind) in [("reasoning_content", "Thinking"), ("refusal", "Text")] {
        parts.extend((!message[key].is_null()).then(|| Expected::new(kind).reading(&message[key])));
    }
    if is_result {
        parts.iter_mut().for_each(|part| part.nested = true);
        let result = Expected::new("ToolResult").reading(content);
        let chars = if content.is_string() { result.chars } else { 0 };
        parts.push(Expected { id: string(message, "tool_call_id"), name: string(message, "name"), chars, ..result });
    }
    let mut lines: Vec<String> = parts.iter().map(Expected::line).collect();
    lines.sort();
    lines
}

fn expected_call(callee: &Value) -> Expected {
    let input = if callee["arguments"].is_null() { &callee["input"] } else { &callee["arguments"] };
    let call = Expected::new("ToolCall").reading(input);
    Expected { name: string(callee, "name"), chars: call.chars + chars(&callee["name"]), ..call }
}

/// Compares what was read with serde_json's reading.
fn assert_read_as_serde_does(message: &Message) {
    let value: Value = serde_json::from_str(message.raw()).unwrap();
    let mut lines: Vec<_> = message.shape().parts.iter().map(|part| describe(message, part)).collect();
    lines.sort();
    assert_eq!(lines, expected_parts(&value), "{value}");
    assert_eq!(message.shape().estimate_chars, chars(&value["content"]) as u64, "{value}");
    for part in message.shape().parts_of(PartKind::Text) {
        assert_eq!(part.blank, message.text_of(part).trim().is_empty());
    }
}

#[test]
fn every_message_of_the_corpus_is_read_as_serde_reads_it() {
    for transcript in corpus(CHAT) {
        transcript.messages.iter().for_each(assert_read_as_serde_does);
    }
}

#[test]
fn the_corpus_is_judged_as_its_index_says_and_repaired() {
    for transcript in corpus(CHAT) {
        let violations = check(CHAT, &transcript.messages);
        assert_eq!(violations.is_empty(), transcript.legal, "{}: {violations:?}", transcript.name);
        assert_repairs(CHAT, &transcript.messages);
    }
}

#[test]
fn the_corpus_with_holes_is_judged_by_the_letter_and_repaired() {
    for transcript in corpus(CHAT) {
        for stride in [2, 5] {
            let numbered = transcript.messages.iter().enumerate();
            let rest: Vec<_> =
                numbered.filter(|(at, _)| at % stride != 1).map(|(_, message)| message.clone()).collect();
            let values: Vec<_> = rest.iter().map(|message| serde_json::from_str(message.raw()).unwrap()).collect();
            assert_eq!(check(CHAT, &rest).is_empty(), is_legal(&values), "{} / {stride}", transcript.name);
            assert_repairs(CHAT, &rest);
        }
    }
}

#[test]
fn each_rule_has_a_border() {
    assert_legality(CHAT, include_str!("data/legality/openai-chat.json"));
}

#[test]
fn members_may_come_in_any_order() {
    let message = read(r#"{"content":[{"text":"a\nb","type":"text"}],"tool_call_id":"call_1","role":"tool"}"#);
    let kinds: Vec<_> = message.shape().parts.iter().map(|part| (part.kind, part.nested, part.chars)).collect();
    assert_eq!(message.shape().role, Role::Tool);
    assert_eq!(kinds, [(PartKind::ToolResult, false, 0), (PartKind::Text, true, 3)]);
    assert_eq!(message.id_of(&message.shape().parts[0]), "call_1");
}

#[test]
fn of_a_member_that_comes_twice_the_last_one_counts() {
    let message = read(
        r#"{"role":"user","content":[{"type":"text","text":"no","cache_control":{}},{"type":"x"}],
            "tool_calls":[{"id":"a"}],"role":"assistant","content":"yes","tool_calls":[{"id":"b"}]}"#,
    );
    let shape = message.shape();
    let ids: Vec<_> = shape.parts_of(PartKind::ToolCall).map(|part| message.id_of(part)).collect();
    let texts: Vec<_> = shape.parts_of(PartKind::Text).map(|part| message.text_of(part)).collect();
    assert_eq!((shape.role, shape.parts.len(), shape.cache_marks), (Role::Assistant, 2, 0));
    assert_eq!((ids, texts), (vec!["b".into()], vec!["yes".into()]));
}

#[test]
fn what_is_no_message_is_refused_with_its_place() {
    assert_eq!(error("[]"), "expected an object, found an array (byte 0)");
    assert_eq!(error(r#"{"content":"a"}"#), "expected a message with a `role` (byte 0)");
    assert_eq!(error(r#" {"role": 7}"#), "$.role: expected a string, found a number (byte 10)");
    assert_eq!(
        error(r#"{"role":"owner"}"#),
        "$.role: expected one of system, developer, user, assistant, tool, function (byte 8)"
    );
    assert_eq!(
        error(r#"{"content":7,"role":"user"}"#),
        "$.content: expected a string, an array or null, found a number (byte 11)"
    );
    assert_eq!(
        error(r#"{"role":"user","content":[{},"a"]}"#),
        "$.content[1]: expected an object, found a string (byte 29)"
    );
    assert_eq!(
        error(r#"{"role":"assistant","tool_calls":{}}"#),
        "$.tool_calls: expected an array or null, found an object (byte 33)"
    );
    assert_eq!(
        error(r#"{"role":"assistant","tool_calls":[[]]}"#),
        "$.tool_calls[0]: expected an object, found an array (byte 34)"
    );
}

#[test]
fn content_that_is_an_object_is_kept_and_counted() {
    let message = read(r#"{"role": "user", "content": { "foo": "bar" }}"#);
    let part = message.shape().parts[0];
    assert_eq!((part.kind, part.chars, message.shape().estimate_chars), (PartKind::Other, 13, 13));
}

#[test]
fn the_estimate_knows_only_content() {
    let raw =
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"ls","arguments":"{}"}}]}"#;
    assert_eq!((read(raw).shape().estimate_chars, read(raw).shape().chars()), (0, 4));
}

#[test]
fn a_data_address_names_its_media_type() {
    let raw = r#"{"role":"user","content":[
        {"type":"image_url","image_url":{"detail":"low","url":"data:image\/png;base64,AAAA"},"cache_control":{"type":"ephemeral"}},
        {"type":"image_url","image_url":{"url":"https://example.org/a.png"}},
        {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}]}"#;
    let message = read(raw);
    let parts: Vec<_> =
        message.shape().parts.iter().map(|p| (message.name_of(p), message.media_of(p), p.chars)).collect();
    assert_eq!(
        parts,
        [
            ("image/png".into(), r"data:image\/png;base64,AAAA", 0),
            ("".into(), "https://example.org/a.png", 0),
            ("wav".into(), "AAAA", 0),
        ]
    );
    assert_eq!(message.shape().cache_marks, 1);
}

#[test]
fn a_violation_names_the_call_in_the_words_of_the_api() {
    let messages = history(&[CALLS_A_B, r#"{"role":"tool","tool_call_id":"a","content":""}"#]);
    let found = check(CHAT, &messages);
    assert_eq!(
        found[0].to_string(),
        "[0].tool_calls[1]: calls-without-results: An assistant message with 'tool_calls' must be followed by tool \
         messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b"
    );
    let legacy = history(&[r#"{"role":"assistant","content":"a","function_call":{"name":"ls","arguments":"{}"}}"#]);
    assert_eq!(check(CHAT, &legacy)[0].path("$.messages"), "$.messages[0].function_call");
}

const CALLS_A_B: &str = r#"{"role":"assistant", "content":"On it.", "tool_calls":[ {"id":"a"}, {"id":"b"} ], "n":1.0}"#;

fn history(raw: &[&str]) -> Vec<Message> {
    wire_openai::parse(CHAT, raw).unwrap()
}

fn repaired(raw: &[&str]) -> Vec<String> {
    let messages = history(raw);
    let fixes = wire_openai::repair(CHAT, &messages);
    wire_openai::apply(CHAT, &messages, &fixes).iter().map(|message| message.raw().to_owned()).collect()
}

#[test]
fn only_the_unanswered_call_of_a_parallel_set_goes() {
    let answer = r#"{"role":"tool","tool_call_id":"b","content":""}"#;
    let kept = r#"{"role":"assistant", "content":"On it.", "tool_calls":[ {"id":"b"} ], "n":1.0}"#;
    assert_eq!(repaired(&[CALLS_A_B, answer, answer]), [kept, answer]);
}

#[test]
fn with_the_last_call_goes_its_member() {
    assert_eq!(repaired(&[CALLS_A_B]), [r#"{"role":"assistant", "content":"On it.", "n":1.0}"#]);
    let twice =
        r#"{"tool_calls":[{"id":"x"}],"role":"assistant","content":"a","function_call":{},"tool_calls":[{"id":"y"}]}"#;
    assert_eq!(repaired(&[twice]), [r#"{"role":"assistant","content":"a"}"#]);
}

#[test]
fn a_message_of_nothing_but_unanswered_calls_goes() {
    let user = r#"{"role":"user","content":"a"}"#;
    for content in ["null", "\"\"", "[]"] {
        let call = format!(
            r#"{{"role":"assistant","content":{content},"reasoning_content":"x","tool_calls":[{{"id":"a"}}]}}"#
        );
        assert_eq!(repaired(&[user, &call]), [user]);
    }
}

#[test]
fn a_history_that_loses_everything_asks_for_more() {
    let user = r#"{"role":"user","content":"Continue."}"#;
    assert_eq!(repaired(&[r#"{"role":"tool","tool_call_id":"a","content":"b"}"#]), [user]);
    assert_eq!(repaired(&[]), [user]);
}

#[test]
fn what_we_write_is_read_back() {
    for role in [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool] {
        let message = Message::synthetic(CHAT, role, "a \"b\"\n\u{1}é").unwrap();
        let read_as = if role == Role::Tool { Role::User } else { role };
        assert_eq!(message.shape().role, read_as);
        assert_eq!(message.text_of(&message.shape().parts[0]), "a \"b\"\n\u{1}é");
    }
    let wire = CHAT.wire();
    let part = wire.write_part("a\tb");
    let message = read(&format!(r#"{{"role":"user","content":[{part}]}}"#));
    assert_eq!(message.text_of(&message.shape().parts[0]), "a\tb");
    assert_eq!(wire.write_result("[]", "a"), "\"a\"");
}

/// Judges by the letter of the rule, one assistant message at a time.
fn is_legal(messages: &[Value]) -> bool {
    let is_result = |message: &Value| matches!(message["role"].as_str(), Some("tool" | "function"));
    let mut at = 0;
    while at < messages.len() {
        if is_result(&messages[at]) {
            return false;
        }
        let mut open: Vec<String> = Vec::new();
        if messages[at]["role"] == "assistant" {
            open.extend(messages[at]["tool_calls"].as_array().into_iter().flatten().map(|call| string(call, "id")));
            open.extend(messages[at]["function_call"].is_object().then(String::new));
        }
        at += 1;
        while at < messages.len() && is_result(&messages[at]) {
            let id = string(&messages[at], "tool_call_id");
            let Some(call) = open.iter().position(|open| *open == id) else {
                return false;
            };
            open.remove(call);
            at += 1;
        }
        if !open.is_empty() {
            return false;
        }
    }
    !messages.is_empty()
}

fn any_text() -> impl Strategy<Value = Value> {
    "[ \n\t\\\\\"a-cé😀\u{3000}]{0,6}".prop_map(Value::from)
}

fn any_part() -> impl Strategy<Value = Value> {
    prop_oneof![
        any_text().prop_map(|text| json!({"type": "text", "text": text})),
        any_text().prop_map(|text| json!({"type": "refusal", "refusal": text, "text": "b"})),
        any_text().prop_map(|text| json!({"type": "new", "text": text})),
        Just(json!({"type": "text", "text": null})),
        Just(json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}})),
        Just(json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}})),
        Just(json!({"type": "file", "file": {"file_id": "f", "filename": "a"}})),
        Just(json!({})),
    ]
}

fn any_content() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any_text(),
        proptest::collection::vec(any_part(), 0..4).prop_map(Value::Array),
        any_part(),
    ]
}

fn any_id() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(&["a", "b", "c"][..])
}

fn any_call() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => (any_id(), any_text()).prop_map(|(id, text)| {
            json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": text}})
        }),
        1 => any_id().prop_map(|id| json!({"id": id, "type": "custom", "custom": {"name": "é", "input": "x"}})),
        1 => any_id().prop_map(|id| json!({"id": id, "function": {"name": "ls", "arguments": {"a": [1, true]}}})),
    ]
}

type Members = Vec<(&'static str, Value)>;

fn any_assistant() -> impl Strategy<Value = Members> {
    let calls = proptest::option::of(proptest::collection::vec(any_call(), 0..4).prop_map(Value::Array));
    let legacy = proptest::option::weighted(0.2, Just(json!({"name": "ls", "arguments": "{}"})));
    let thought = proptest::option::weighted(0.2, any_text());
    (proptest::option::of(any_content()), calls, legacy, thought).prop_map(|(content, calls, legacy, thought)| {
        let mut members = vec![("role", json!("assistant"))];
        members.extend(content.map(|value| ("content", value)));
        members.extend(calls.map(|value| ("tool_calls", value)));
        members.extend(legacy.map(|value| ("function_call", value)));
        members.extend(thought.map(|value| ("reasoning_content", value)));
        members
    })
}

fn any_message() -> impl Strategy<Value = Members> {
    let roles = &["system", "developer", "user"][..];
    prop_oneof![
        2 => (proptest::sample::select(roles), any_content())
            .prop_map(|(role, content)| vec![("role", json!(role)), ("content", content)]),
        3 => any_assistant(),
        3 => (any_id(), any_content()).prop_map(|(id, content)| {
            vec![("role", json!("tool")), ("tool_call_id", json!(id)), ("content", content)]
        }),
        1 => any_content()
            .prop_map(|content| vec![("role", json!("function")), ("name", json!("ls")), ("content", content)]),
    ]
}

/// An assistant message and, in some order, the answers to its calls.
fn any_turn() -> impl Strategy<Value = Vec<Members>> {
    any_assistant().prop_flat_map(|assistant| {
        let calls = assistant.iter().filter(|(key, _)| *key == "tool_calls").filter_map(|(_, calls)| calls.as_array());
        let mut answers: Vec<Members> = calls
            .flatten()
            .map(|call| vec![("role", json!("tool")), ("tool_call_id", call["id"].clone()), ("content", json!("x"))])
            .collect();
        if assistant.iter().any(|(key, _)| *key == "function_call") {
            answers.push(vec![("role", json!("function")), ("name", json!("ls")), ("content", json!("x"))]);
        }
        Just(answers).prop_shuffle().prop_map(move |answers| [vec![assistant.clone()], answers].concat())
    })
}

fn any_history() -> impl Strategy<Value = Vec<Members>> {
    let some = prop_oneof![1 => any_message().prop_map(|message| vec![message]), 2 => any_turn()];
    proptest::collection::vec(some, 0..5).prop_map(|turns| turns.concat())
}

const KEYS: &[&str] = &[
    "role",
    "content",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "refusal",
    "audio",
    "tool_call_id",
    "name",
    "id",
    "function",
    "custom",
    "arguments",
    "input",
    "type",
    "text",
    "image_url",
    "url",
    "file",
    "cache_control",
];

const WORDS: &[&str] =
    &["user", "assistant", "tool", "function", "text", "image_url", "file", "data:a/b;c", "data:", "a"];

proptest! {
    #[test]
    fn any_message_is_read_as_serde_reads_it(members in any_message().prop_shuffle()) {
        let raw = object(&members);
        let message = read(&raw);
        prop_assert_eq!(message.raw(), &raw);
        assert_read_as_serde_does(&message);
        assert_cut_text_is_refused(CHAT, &raw);
    }

    #[test]
    fn any_object_does_no_harm(value in any_object(KEYS, WORDS), role in proptest::sample::select(WORDS)) {
        assert_harmless(CHAT, &value.to_string());
        let mut value = value;
        value["role"] = role.into();
        assert_harmless(CHAT, &value.to_string());
    }

    #[test]
    fn any_history_is_judged_by_the_letter_and_repaired(turns in any_history()) {
        let raw: Vec<String> = turns.iter().map(|members| object(members)).collect();
        let messages = wire_openai::parse(CHAT, &raw).unwrap();
        let values: Vec<Value> = raw.iter().map(|raw| serde_json::from_str(raw).unwrap()).collect();
        let violations = check(CHAT, &messages);
        prop_assert_eq!(violations.is_empty(), is_legal(&values));
        assert_repairs(CHAT, &messages);
        let touched: Vec<_> = wire_openai::repair(CHAT, &messages)
            .iter()
            .map(louver::wire::Fix::index)
            .filter(|index| *index < messages.len())
            .collect();
        let named: Vec<_> = violations.iter().map(|v| v.index).filter(|index| *index < messages.len()).collect();
        prop_assert_eq!(touched, named);
    }
}
