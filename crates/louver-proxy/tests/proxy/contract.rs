//! Claude Code's gateway contract, clause by clause, and the four rules for libraries, proxies and gateways.

use crate::world::{
    Answer, Client, Running, Step, TestBrain, Ticket, Upstream, ask, config_to, json_answer, sse_answer,
};
use bytes::Bytes;
use louver_proxy::{Decided, Decision, Outcome, Passing};
use std::sync::Arc;
use tokio::sync::Notify;

const BETA: &str = "claude-code-20250219,interleaved-thinking-2025-05-14,never-heard-of-2027-01-01,oauth-2025-04-20";

/// A body as Claude Code writes it: its billing line first in `system`, cache marks, a system entry within the messages,
/// fields that go with a beta, and one that nobody knows.
const BODY: &str = r#"{"model":"claude-opus-5-5","messages":[{"role":"user","content":[{"type":"text","text":"Hi","cache_control":{"type":"ephemeral","ttl":"1h"}}]},{"role":"system","content":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]}],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.325.0dc; cc_entrypoint=sdk-cli;"},{"type":"text","text":"You are.","cache_control":{"type":"ephemeral"}}],"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":{"type":"none"},"thinking":{"type":"adaptive","display":"omitted","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"never_heard_of":{"a":1.0,"b":1e2},"max_tokens":128000,"stream":true}"#;

fn headers() -> String {
    format!(
        "Authorization: Bearer sk-ant-oat01-secret\r\nanthropic-version: 2023-06-01\r\nanthropic-beta: {BETA}\r\n\
         X-Claude-Code-Session-Id: 0b1f\r\nx-claude-code-agent-id: a1\r\nx-claude-code-never-heard-of: 1\r\nx-app: cli\r\n"
    )
}

async fn through(steps: Vec<Step>) -> (Upstream, Answer) {
    let upstream = Upstream::always(steps).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    let answer = ask(proxy.address, "/v1/messages?beta=true", &headers(), BODY).await;
    (upstream, answer)
}

#[tokio::test]
async fn clause_1_versions_and_betas_are_forwarded_byte_for_byte() {
    let (upstream, _) = through(json_answer(200, "{}")).await;
    let request = &upstream.requests()[0];
    assert_eq!(request.header("anthropic-beta"), Some(BETA));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
}

#[tokio::test]
async fn clause_1_headers_and_fields_are_open_lists() {
    let (upstream, _) = through(json_answer(200, "{}")).await;
    let request = &upstream.requests()[0];
    assert_eq!(request.header("x-claude-code-never-heard-of"), Some("1"));
    assert_eq!(request.body, BODY.as_bytes());
}

#[tokio::test]
async fn clause_1_the_path_is_matched_without_its_query() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    for query in ["", "?beta=true", "?beta=true&x=/v1/other"] {
        ask(proxy.address, &format!("/v1/messages{query}"), "", BODY).await;
    }
    assert_eq!(brain.requests().len(), 3);
    assert_eq!(upstream.requests()[2].line(), "POST /v1/messages?beta=true&x=/v1/other HTTP/1.1");
}

#[tokio::test]
async fn clause_2_headers_stay_with_a_body_that_was_changed() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let smaller = BODY.replace("Hi", "H");
    let body = Bytes::from(smaller.clone());
    let brain = TestBrain::default().deciding(move |_| {
        Decision::Send(Decided { body: Some(body.clone()), outcome: Outcome::Cut, ..Decided::passing(Ticket(1)) })
    });
    let proxy = Running::start(config_to(upstream.address), brain).await;
    ask(proxy.address, "/v1/messages?beta=true", &headers(), BODY).await;
    let request = &upstream.requests()[0];
    assert_eq!((request.body.as_slice(), request.header("anthropic-beta")), (smaller.as_bytes(), Some(BETA)));
    assert_eq!(request.header("content-length"), Some(smaller.len().to_string().as_str()));
}

#[tokio::test]
async fn clause_3_events_are_neither_held_nor_dropped_nor_doubled_nor_reordered() {
    let events: Vec<String> = (0..200)
        .map(|number| match number % 7 {
            0 => "event: ping\ndata: {\"type\": \"ping\"}\n\n".to_owned(),
            3 => ": a comment\n\n".to_owned(),
            5 => format!("event: never_heard_of\ndata: {{\"n\":{number}}}\n\n"),
            _ => format!("event: content_block_delta\ndata: {{\"type\":\"content_block_delta\",\"n\":{number}}}\n\n"),
        })
        .chain(["event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n".to_owned()])
        .collect();
    let pieces: Vec<&str> = events.iter().map(String::as_str).collect();
    let (_, answer) = through(sse_answer(&pieces)).await;
    assert_eq!((answer.text(), answer.is_cut_off), (events.concat(), false));
}

#[tokio::test]
async fn clause_3_every_event_arrives_before_the_next_is_sent() {
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let upstream = Upstream::start(move |_, _| {
        let ping = "event: ping\ndata: {\"type\": \"ping\"}\n\n";
        let mut steps = sse_answer(&[ping, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"]);
        steps.insert(2, Step::Wait(Arc::clone(&waiting)));
        steps
    })
    .await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", &headers(), BODY).await;
    client.read_until("ping\"}\n\n").await;
    go_on.notify_one();
    assert!(client.answer().await.text().ends_with("message_stop\"}\n\n"));
}

#[tokio::test]
async fn clause_4_headers_of_answers_are_unchanged() {
    let head = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: text/event-stream\r\nretry-after: 61\r\nx-should-retry: false\r\n\
                anthropic-ratelimit-unified-status: rejected\r\nanthropic-ratelimit-unified-5h-reset: 1763000000\r\n\
                anthropic-ratelimit-unified-never-heard-of: x\r\nrequest-id: req_1\r\ncontent-length: 2";
    let (_, answer) = through(vec![Step::send(format!("{head}\r\n\r\n{{}}"))]).await;
    assert_eq!(answer.passing_head(), head);
}

#[tokio::test]
async fn clause_5_bodies_of_errors_are_unchanged() {
    for message in [
        "prompt is too long: 207791 tokens > 200000 maximum",
        "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again",
        "context_management: Extra inputs are not permitted",
    ] {
        let body = format!(
            r#"{{ "type":"error", "error":{{"type":"invalid_request_error","message":"{message}"}},"request_id":"req_1"}} "#
        );
        let (upstream, answer) = through(json_answer(400, &body)).await;
        assert_eq!((answer.status(), answer.text()), (400, body));
        assert_eq!(upstream.requests().len(), 1, "clause 7: what is refused is not tried again");
    }
}

#[tokio::test]
async fn clause_6_system_marks_and_blocks_stay_as_they_are() {
    let (upstream, _) = through(json_answer(200, "{}")).await;
    let sent: serde_json::Value = serde_json::from_slice(&upstream.requests()[0].body).unwrap();
    let came: serde_json::Value = serde_json::from_str(BODY).unwrap();
    assert_eq!((&sent["system"], &sent["messages"]), (&came["system"], &came["messages"]));
    assert_eq!(upstream.requests()[0].body, BODY.as_bytes());
}

#[tokio::test]
async fn clause_7_rejections_of_new_fields_are_passed_on_at_once() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"context_management.edits.0: Input tag 'x' found"}}"#;
    let (upstream, answer) = through(json_answer(400, body)).await;
    assert_eq!((answer.text().as_str(), upstream.requests().len()), (body, 1));
}

#[tokio::test]
async fn a_subscription_is_forwarded_untouched() {
    let (upstream, _) = through(json_answer(200, "{}")).await;
    let request = &upstream.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer sk-ant-oat01-secret"));
    assert_eq!(request.header("x-api-key"), None);
    assert!(request.header("anthropic-beta").unwrap().contains("oauth-2025-04-20"));
}

#[tokio::test]
async fn rule_1_bindings_go_out_and_transformations_come_back() {
    let body = r#"{"id":"m","input_transformations":[{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"}]}"#;
    let (upstream, answer) = through(json_answer(200, body)).await;
    assert_eq!(answer.text(), body);
    assert!(
        String::from_utf8_lossy(&upstream.requests()[0].body)
            .contains(r#""block_binding":{"prefix_mismatch_behavior":"drop_block"}"#)
    );
}

#[tokio::test]
async fn rules_2_and_3_system_entries_and_tools_stay_where_they_are() {
    let (upstream, _) = through(json_answer(200, "{}")).await;
    let sent: serde_json::Value = serde_json::from_slice(&upstream.requests()[0].body).unwrap();
    assert_eq!(sent["messages"][1]["role"], "system");
    assert_eq!((sent["tools"].as_array().unwrap().len(), &sent["tool_choice"]["type"]), (1, &"none".into()));
}

#[tokio::test]
async fn rule_4_a_refusal_is_not_hidden() {
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"The block is bound to a different conversation."}}"#;
    let (_, answer) = through(json_answer(400, body)).await;
    assert_eq!((answer.status(), answer.header("x-louver-outcome")), (400, Some("refused")));
}

#[tokio::test]
async fn other_endpoints_of_the_contract_pass() {
    let upstream = Upstream::always(json_answer(200, r#"{"data":[]}"#)).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    for line in ["HEAD /api/hello", "GET /v1/models?limit=1000"] {
        let mut client = Client::connect(proxy.address).await;
        client
            .send(format!("{line} HTTP/1.1\r\nhost: x\r\nuser-agent: Bun/1.4.4\r\nanthropic-version: 1\r\n\r\n"))
            .await;
        client.read_until("HTTP/1.1 200").await;
        assert_eq!(upstream.requests().last().unwrap().line(), format!("{line} HTTP/1.1"));
    }
    ask(proxy.address, "/v1/messages/count_tokens?beta=true", &headers(), BODY).await;
    assert_eq!(upstream.requests().last().unwrap().line(), "POST /v1/messages/count_tokens?beta=true HTTP/1.1");
}
