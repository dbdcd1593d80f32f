//! Whatever a client sends, it gets an answer, and the judge and the server say the same about it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, path};
use louver_sandbox::{Format, judge};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Words that mean something in one of the formats, so that random bodies get past the first check.
const WORDS: [&str; 38] = [
    "model",
    "max_tokens",
    "messages",
    "input",
    "contents",
    "parts",
    "role",
    "content",
    "type",
    "text",
    "user",
    "assistant",
    "system",
    "tool",
    "tool_use",
    "tool_result",
    "tool_use_id",
    "id",
    "tool_calls",
    "tool_call_id",
    "function_call",
    "function_call_output",
    "call_id",
    "reasoning",
    "functionCall",
    "functionResponse",
    "thinking",
    "signature",
    "cache_control",
    "ttl",
    "1h",
    "tools",
    "stream",
    "server_tool_use",
    "claude-opus-5-5",
    "sbx1.a.b.c",
    "x",
    "",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![8 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => any::<String>()]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// A history of random elements in an otherwise good body.
fn any_history(format: Format) -> impl Strategy<Value = Value> {
    prop::collection::vec(any_message(), 0..6).prop_map(move |history| {
        let mut body = client::hello(format);
        if format == Format::Anthropic {
            // The strictest about thinking.
            body["model"] = json!("claude-opus-5-5");
        }
        body[format.history_field()] = json!(history);
        body
    })
}

/// A message with the fields of all formats at once.
fn any_message() -> impl Strategy<Value = Value> {
    let kinds = prop::sample::select(vec!["text", "tool_use", "tool_result", "thinking", "server_tool_use"]);
    let id = prop::sample::select(vec!["a", "b"]);
    let block = (kinds, id).prop_map(|(kind, id)| {
        json!({"type": kind, "id": id, "tool_use_id": id, "text": "t", "thinking": "t", "name": "n", "input": {}})
    });
    let part = prop::sample::select(vec!["functionCall", "functionResponse", "text"]).prop_map(|kind| match kind {
        "text" => json!({"text": "t"}),
        kind => json!({kind: {"name": "n"}}),
    });
    let item = prop::sample::select(vec!["function_call", "function_call_output", "reasoning", "message"]);
    let role = prop::sample::select(vec!["user", "assistant", "model", "tool", "system"]);
    let blocks = prop::collection::vec(block, 0..4);
    (role, blocks, prop::collection::vec(part, 0..3), item, prop::option::of(any_json())).prop_map(
        |(role, blocks, parts, item, noise)| {
            let calls: Vec<Value> = blocks.iter().map(|block| json!({"id": block["id"]})).collect();
            let mut message = json!({
                "role": role, "content": blocks, "parts": parts, "type": item, "id": "rs", "call_id": "a",
                "tool_call_id": "a", "tool_calls": calls,
            });
            if let Some(noise) = noise {
                message["content"] = noise;
            }
            message
        },
    )
}

proptest! {
    #[test]
    fn the_judge_takes_any_json(body in any_json()) {
        for format in Format::ALL {
            let _ = judge(format, &body);
        }
    }

    #[test]
    fn every_violation_has_a_rule_a_place_and_words(body in any_history(Format::Anthropic)) {
        for violation in judge(Format::Anthropic, &body) {
            prop_assert!(!violation.rule.is_empty() && !violation.path.is_empty() && !violation.message.is_empty());
        }
    }
}

/// Sends many bodies of one kind to one server.
fn send_all(bodies: impl Strategy<Value = (Format, Value)>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(Client::named("echo"));
    let config = ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |((format, body) in bodies)| {
        let response = runtime.block_on(client.send(format, &body));
        let status = response.status().as_u16();
        prop_assert!(status == 200 || status == 400, "{format}: {status} {body}");
        let is_listed = !judge(format, &body).is_empty();
        prop_assert!(!(is_listed && status == 200), "{format}: the judge refuses {body} and the server does not");
    });
}

#[test]
fn any_json_gets_an_answer() {
    send_all(
        (prop::sample::select(&Format::ALL[..]), any_json())
            .prop_filter("stays with its path", |(format, body)| path(*format, &json!({})) == path(*format, body)),
    );
}

#[test]
fn the_server_refuses_whatever_the_judge_refuses() {
    send_all(
        prop::sample::select(&Format::ALL[..])
            .prop_flat_map(|format| any_history(format).prop_map(move |body| (format, body))),
    );
}
