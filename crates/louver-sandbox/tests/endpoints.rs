//! Counting, listing, the journal, and histories kept on the server.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, hello, said};
use louver_sandbox::{Call, Counter, Format, Sandbox, Scenario, Turn};
use serde_json::{Value, json};

async fn post(client: &Client, path: &str, body: &Value) -> Value {
    let request = client.post(path, body).header("anthropic-version", "2023-06-01");
    request.send().await.unwrap().json().await.unwrap()
}

async fn get(client: &Client, path: &str) -> Value {
    client.get(path).send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn each_api_counts_tokens_in_its_own_field() {
    let client = Client::named("echo").await;
    let mut body = hello(Format::Anthropic);
    body.as_object_mut().unwrap().remove("max_tokens");
    assert_eq!(post(&client, "/v1/messages/count_tokens", &body).await, json!({"input_tokens": 2}));
    let counted = post(&client, "/v1/responses/input_tokens", &hello(Format::OpenAiResponses)).await;
    assert_eq!(counted, json!({"object": "response.input_tokens", "input_tokens": 2}));
    let counted = post(&client, "/v1beta/models/gemini-2.5-pro:countTokens", &hello(Format::Gemini)).await;
    assert_eq!(counted["totalTokens"], 2);
}

#[tokio::test]
async fn counting_agrees_with_the_usage_of_the_same_request() {
    let client = Client::named("echo").await;
    let body = client::with_tools(Format::Anthropic, hello(Format::Anthropic), &["read", "list"]);
    let counted = post(&client, "/v1/messages/count_tokens", &body).await;
    let (_, answer) = client.ask(Format::Anthropic, &body).await;
    assert_eq!(counted["input_tokens"], answer["usage"]["input_tokens"]);
}

#[tokio::test]
async fn a_counter_of_ones_own_is_used() {
    let words = Counter::new(|text| text.split_whitespace().count() as u64);
    let client = Client::with(Sandbox::builder().scenario(Scenario::named("echo").unwrap()).counter(words)).await;
    let (_, answer) = client.ask(Format::OpenAiChat, &client::say(Format::OpenAiChat, "one two three")).await;
    assert_eq!(answer["usage"]["prompt_tokens"], 3);
}

#[tokio::test]
async fn the_journal_is_served_with_exactly_its_fields() {
    let client = Client::named("echo").await;
    client.ask(Format::OpenAiChat, &hello(Format::OpenAiChat)).await;
    client.ask(Format::Anthropic, &json!({"model": "claude-sonnet-5", "max_tokens": 1, "messages": []})).await;
    let expected = json!([
        {
            "path": "/v1/chat/completions", "status": 200, "messages": 1, "input_tokens": 2,
            "cache_read_tokens": 0, "cache_write_tokens": 0, "violations": [],
        },
        {
            "path": "/v1/messages", "status": 400, "messages": 0, "input_tokens": 0,
            "cache_read_tokens": 0, "cache_write_tokens": 0, "violations": [{
                "rule": "no-messages", "path": "messages", "message": "messages: at least one message is required",
            }],
        },
    ]);
    assert_eq!(get(&client, "/_sandbox/journal").await, expected);
}

#[tokio::test]
async fn models_are_listed_in_the_callers_shape() {
    let client = Client::named("echo").await;
    let openai = get(&client, "/v1/models").await;
    assert_eq!(openai["object"], "list");
    let request = client.get("/v1/models/claude-opus-5-5").header("anthropic-version", "2023-06-01");
    let claude: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!((&claude["type"], &claude["max_input_tokens"]), (&json!("model"), &json!(1_000_000)));
    assert_eq!(get(&client, "/v1beta/models/gemini-2.5-pro").await["name"], "models/gemini-2.5-pro");
    assert_eq!(client.get("/v1/models/nobody").send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn a_gemini_stream_without_sse_is_an_array() {
    let client = Client::named("echo").await;
    let body = hello(Format::Gemini);
    let answer = post(&client, "/v1beta/models/gemini-2.5-pro:streamGenerateContent", &body).await;
    assert_eq!(said(Format::Gemini, &answer[0]), "You said: Hello.");
}

#[tokio::test]
async fn every_answer_has_a_request_id() {
    let client = Client::named("echo").await;
    for body in [hello(Format::Anthropic), json!({})] {
        let response = client.send(Format::Anthropic, &body).await;
        let id = response.headers()["request-id"].to_str().unwrap().to_owned();
        assert!(id.starts_with("req_"));
        let answer: Value = response.json().await.unwrap();
        assert!(answer.get("request_id").is_none_or(|in_body| *in_body == id), "{answer}");
    }
}

#[tokio::test]
async fn a_history_kept_on_the_server_is_judged_as_a_whole() {
    let scenario =
        Scenario::new("stored").turn(Turn::calls([Call::new("read", json!({"path": "a"}))])).turn(Turn::text("Read."));
    let client = Client::new(scenario).await;
    let format = Format::OpenAiResponses;
    let body = client::with_tools(format, hello(format), &["read"]);
    let (_, first) = client.ask(format, &body).await;
    let mut next = body.clone();
    next["previous_response_id"] = first["id"].clone();
    next["input"] = json!([{"type": "function_call_output", "call_id": "call_other", "output": "x"}]);
    assert_eq!(client.ask(format, &next).await.0, 400);
    next["input"][0]["call_id"] = first["output"][0]["call_id"].clone();
    let (status, answer) = client.ask(format, &next).await;
    assert_eq!((status, said(format, &answer).as_str()), (200, "Read."));
    assert_eq!(client.sandbox.journal().last().unwrap().messages, 3);
}
