//! Everything that the sandbox keeps or accepts has a bound, and reaching it has an answer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, hello, say};
use louver_sandbox::{Fault, Format, Limits, Sandbox, Scenario, Turn};
use serde_json::json;

async fn bounded(scenario: Scenario, limits: Limits) -> Client {
    Client::with(Sandbox::builder().scenario(scenario).limits(limits)).await
}

#[tokio::test]
async fn a_body_over_the_limit_is_too_large() {
    let limits = Limits { max_body_bytes: 10_000, ..Limits::default() };
    let client = bounded(Scenario::named("echo").unwrap(), limits).await;
    for (format, status) in Format::ALL.into_iter().zip([413, 413, 413, 400]) {
        let (got, answer) = client.ask(format, &say(format, &"x".repeat(20_000))).await;
        assert_eq!(got, status, "{format}: {answer}");
    }
}

#[tokio::test]
async fn the_journal_keeps_the_latest_requests() {
    let limits = Limits { max_journal_entries: 3, ..Limits::default() };
    let client = bounded(Scenario::named("echo").unwrap(), limits).await;
    for length in 1..=5 {
        client.ask(Format::Anthropic, &say(Format::Anthropic, &"x".repeat(4 * length))).await;
    }
    let tokens: Vec<u64> = client.sandbox.journal().iter().map(|entry| entry.input_tokens).collect();
    assert_eq!(tokens, [3, 4, 5]);
}

#[tokio::test]
async fn an_entry_of_the_journal_names_no_more_violations_than_it_may() {
    let limits = Limits { max_journal_violations: 2, ..Limits::default() };
    let client = bounded(Scenario::named("echo").unwrap(), limits).await;
    let blank = json!({"role": "user", "content": " "});
    let body = json!({"model": "claude-sonnet-5", "max_tokens": 1, "messages": [blank, blank, blank]});
    assert_eq!(client.ask(Format::Anthropic, &body).await.0, 400);
    assert_eq!(client.sandbox.journal()[0].violations.len(), 2);
}

#[tokio::test]
async fn more_requests_at_once_than_the_limit_are_an_overload() {
    let limits = Limits { max_concurrent_requests: 1, ..Limits::default() };
    let client = bounded(Scenario::new("stall").turn(Turn::text("never").after(Fault::Stall)), limits).await;
    let mut body = hello(Format::Anthropic);
    body["stream"] = json!(true);
    let mut stalled = client.send(Format::Anthropic, &body).await;
    assert!(stalled.chunk().await.unwrap().is_some());
    assert_eq!(client.send(Format::Anthropic, &hello(Format::Anthropic)).await.status(), 529);
}

#[tokio::test]
async fn old_responses_are_forgotten() {
    let limits = Limits { max_stored_responses: 1, ..Limits::default() };
    let client = bounded(Scenario::named("echo").unwrap(), limits).await;
    let (_, first) = client.ask(Format::OpenAiResponses, &hello(Format::OpenAiResponses)).await;
    let (_, second) = client.ask(Format::OpenAiResponses, &hello(Format::OpenAiResponses)).await;
    let ask = |id: &serde_json::Value| json!({"model": "gpt-5", "input": "and?", "previous_response_id": id});
    let (status, answer) = client.ask(Format::OpenAiResponses, &ask(&first["id"])).await;
    assert_eq!((status, &answer["error"]["code"]), (400, &json!("previous_response_not_found")));
    assert_eq!(client.ask(Format::OpenAiResponses, &ask(&second["id"])).await.0, 200);
}

#[tokio::test]
async fn the_sandbox_only_listens_on_this_machine() {
    let error = Sandbox::builder().start("0.0.0.0:0").await.unwrap_err();
    assert!(error.to_string().contains("loopback"), "{error}");
}
