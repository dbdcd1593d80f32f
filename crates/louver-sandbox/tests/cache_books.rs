//! The prompt cache shows in `usage` the way each provider accounts for it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use std::time::Duration;

use client::Client;
use louver_sandbox::{Format, Scenario, Turn};
use serde_json::{Value, json};

/// A text of so many tokens.
fn tokens(count: usize) -> String {
    "x".repeat(4 * count)
}

fn block(count: usize, mark: Value) -> Value {
    let mut block = json!({"type": "text", "text": tokens(count)});
    if !mark.is_null() {
        block["cache_control"] = mark;
    }
    block
}

fn short() -> Value {
    json!({"type": "ephemeral"})
}

fn long() -> Value {
    json!({"type": "ephemeral", "ttl": "1h"})
}

fn claude(system: Value, content: Value) -> Value {
    let mut body = json!({"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": [{"role": "user"}]});
    body["system"] = system;
    body["messages"][0]["content"] = content;
    body
}

/// `(input, written, read)` of an Anthropic answer.
async fn usage(client: &Client, body: &Value) -> (u64, u64, u64) {
    let (status, answer) = client.ask(Format::Anthropic, body).await;
    assert_eq!(status, 200, "{answer}");
    let field = |name: &str| answer["usage"][name].as_u64().unwrap();
    (field("input_tokens"), field("cache_creation_input_tokens"), field("cache_read_input_tokens"))
}

#[tokio::test]
async fn a_marked_prefix_is_written_once_and_then_read() {
    let client = Client::named("echo").await;
    let ask = |said: usize| claude(json!([block(2000, short())]), json!([block(said, Value::Null)]));
    assert_eq!(usage(&client, &ask(10)).await, (10, 2000, 0));
    assert_eq!(usage(&client, &ask(20)).await, (20, 0, 2000));
    let journal = client.sandbox.journal();
    assert_eq!(journal[1].input_tokens, 2020, "the journal counts the whole prompt");
    assert_eq!((journal[1].cache_read_tokens, journal[1].cache_write_tokens), (2000, 0));
}

#[tokio::test]
async fn a_growing_history_reads_what_the_last_request_wrote() {
    let client = Client::named("echo").await;
    let history = |turns: usize| {
        let mut blocks: Vec<Value> = (0..turns).map(|_| block(1000, Value::Null)).collect();
        blocks.push(block(1000, short()));
        claude(Value::Null, json!(blocks))
    };
    assert_eq!(usage(&client, &history(1)).await, (0, 2000, 0));
    assert_eq!(usage(&client, &history(3)).await, (0, 2000, 2000));
}

#[tokio::test]
async fn nothing_below_the_minimum_size_is_cached() {
    let client = Client::named("echo").await;
    let ask = |size: usize| claude(json!([block(size, short())]), json!("go"));
    for _ in 0..2 {
        assert_eq!(usage(&client, &ask(1023)).await, (1024, 0, 0));
    }
    assert_eq!(usage(&client, &ask(1024)).await, (1, 1024, 0));
    let mut haiku = ask(4000);
    haiku["model"] = json!("claude-haiku-4-5");
    assert_eq!(usage(&client, &haiku).await, (4001, 0, 0), "this model's minimum is 4,096");
}

#[tokio::test]
async fn a_short_entry_lives_five_minutes_from_its_last_use() {
    let client = Client::named("echo").await;
    let ask = claude(json!([block(2000, short())]), json!("go"));
    assert_eq!(usage(&client, &ask).await, (1, 2000, 0));
    for _ in 0..2 {
        client.clock.advance(Duration::from_secs(299));
        assert_eq!(usage(&client, &ask).await, (1, 0, 2000));
    }
    client.clock.advance(Duration::from_secs(300));
    assert_eq!(usage(&client, &ask).await, (1, 2000, 0));
}

#[tokio::test]
async fn a_long_entry_lives_an_hour_and_is_reported_apart() {
    let client = Client::named("echo").await;
    let ask = claude(json!([block(2000, long())]), json!([block(1000, short())]));
    let (_, answer) = client.ask(Format::Anthropic, &ask).await;
    let split = json!({"ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000});
    assert_eq!(answer["usage"]["cache_creation"], split);
    client.clock.advance(Duration::from_secs(3599));
    assert_eq!(usage(&client, &ask).await, (0, 1000, 2000));
}

#[tokio::test]
async fn a_mark_looks_back_over_twenty_blocks_only() {
    for (added, read) in [(19, 2000), (20, 0)] {
        let client = Client::named("echo").await;
        usage(&client, &claude(Value::Null, json!([block(2000, short())]))).await;
        let mut blocks = vec![block(2000, Value::Null)];
        blocks.extend((1..added).map(|_| block(1, Value::Null)));
        blocks.push(block(1, short()));
        assert_eq!(usage(&client, &claude(Value::Null, json!(blocks))).await.2, read, "{added} blocks later");
    }
}

#[tokio::test]
async fn the_automatic_mark_sits_on_the_last_block() {
    let client = Client::named("echo").await;
    let mut ask = claude(Value::Null, json!([block(1500, Value::Null), block(500, Value::Null)]));
    ask["cache_control"] = short();
    assert_eq!(usage(&client, &ask).await, (0, 2000, 0));
    assert_eq!(usage(&client, &ask).await, (0, 0, 2000));
}

#[tokio::test]
async fn a_request_without_room_for_an_answer_warms_the_cache_and_moves_no_script() {
    let scenario = Scenario::new("one").turn(Turn::text("first"));
    let client = Client::new(scenario).await;
    let mut ask = claude(json!([block(2000, short())]), json!("go"));
    ask["max_tokens"] = json!(0);
    let (_, warmed) = client.ask(Format::Anthropic, &ask).await;
    assert_eq!((&warmed["content"], &warmed["stop_reason"]), (&json!([]), &json!("max_tokens")));
    ask["max_tokens"] = json!(100);
    let (_, answer) = client.ask(Format::Anthropic, &ask).await;
    assert_eq!(answer["usage"]["cache_read_input_tokens"], 2000);
    assert_eq!(client::said(Format::Anthropic, &answer), "first");
}

#[tokio::test]
async fn changed_tools_model_or_key_miss_and_a_changed_tool_choice_keeps_the_system() {
    let mut client = Client::named("echo").await;
    let mut ask = claude(json!([block(2000, short())]), json!([block(1000, short())]));
    ask["tools"] = json!([{"name": "read", "input_schema": {"type": "object"}}]);
    let (_, written, _) = usage(&client, &ask).await;
    let system = written - 1000;

    let mut other = ask.clone();
    other["tool_choice"] = json!({"type": "any"});
    assert_eq!(usage(&client, &other).await, (0, 1000, system));
    let mut other = ask.clone();
    other["tools"][0]["name"] = json!("lesen");
    assert_eq!(usage(&client, &other).await.2, 0);
    let mut other = ask.clone();
    other["model"] = json!("claude-opus-4-8");
    assert_eq!(usage(&client, &other).await.2, 0);
    client.use_key("another key");
    assert_eq!(usage(&client, &ask).await.2, 0);
}

#[tokio::test]
async fn a_refused_request_writes_nothing() {
    let client = Client::named("echo").await;
    let mut ask = claude(json!([block(2000, short())]), json!("go"));
    ask["messages"][0]["content"] = json!("");
    assert_eq!(client.ask(Format::Anthropic, &ask).await.0, 400);
    ask["messages"][0]["content"] = json!("go");
    assert_eq!(usage(&client, &ask).await, (1, 2000, 0));
}

fn chat(model: &str, sizes: &[usize]) -> Value {
    let messages: Vec<Value> = sizes.iter().map(|size| json!({"role": "user", "content": tokens(*size)})).collect();
    json!({"model": model, "messages": messages})
}

/// `(cached, written)` of a Chat answer.
async fn chat_cached(client: &Client, body: &Value) -> (u64, u64) {
    let (_, answer) = client.ask(Format::OpenAiChat, body).await;
    let details = &answer["usage"]["prompt_tokens_details"];
    (details["cached_tokens"].as_u64().unwrap(), details["cache_write_tokens"].as_u64().unwrap())
}

#[tokio::test]
async fn openai_caches_by_itself_in_steps_of_128() {
    let client = Client::named("echo").await;
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1100])).await, (0, 0));
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1100, 50])).await, (1024, 0));
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1100, 50, 5])).await, (1024, 0));
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1100, 50, 6, 100])).await, (1024, 0), "1,150 rounded down");
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1100, 50, 6, 100, 9])).await, (1152, 0), "1,256 rounded down");
}

#[tokio::test]
async fn openai_caches_nothing_below_1024_tokens() {
    let client = Client::named("echo").await;
    for _ in 0..2 {
        assert_eq!(chat_cached(&client, &chat("gpt-5", &[1000, 23])).await, (0, 0));
    }
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[1000, 23, 500])).await, (0, 0), "1,023 are warm");
}

#[tokio::test]
async fn openai_entries_grow_cold() {
    let client = Client::named("echo").await;
    chat_cached(&client, &chat("gpt-5", &[2048])).await;
    client.clock.advance(Duration::from_secs(600));
    assert_eq!(chat_cached(&client, &chat("gpt-5", &[2048])).await, (0, 0));
    let mut kept = chat("gpt-5", &[2048]);
    kept["prompt_cache_retention"] = json!("24h");
    chat_cached(&client, &kept).await;
    client.clock.advance(Duration::from_secs(23 * 3600));
    assert_eq!(chat_cached(&client, &kept).await, (2048, 0));
}

#[tokio::test]
async fn newer_openai_models_report_writes_and_do_not_round() {
    let client = Client::named("echo").await;
    assert_eq!(chat_cached(&client, &chat("gpt-5.6", &[1100])).await, (0, 1100));
    assert_eq!(chat_cached(&client, &chat("gpt-5.6", &[1100, 51])).await, (1100, 51));
}

#[tokio::test]
async fn explicit_mode_writes_at_breakpoints_only_and_is_unknown_to_older_models() {
    let client = Client::named("echo").await;
    let mut ask = chat("gpt-5.6", &[1100, 500]);
    ask["prompt_cache_options"] = json!({"mode": "explicit", "ttl": "12h"});
    ask["messages"][0]["content"] =
        json!([{"type": "text", "text": tokens(1100), "prompt_cache_breakpoint": {"mode": "explicit"}}]);
    assert_eq!(chat_cached(&client, &ask).await, (0, 1100));
    client.clock.advance(Duration::from_secs(11 * 3600));
    assert_eq!(chat_cached(&client, &ask).await, (1100, 0));
    ask["model"] = json!("gpt-5");
    assert_eq!(client.ask(Format::OpenAiChat, &ask).await.0, 400);
}

#[tokio::test]
async fn responses_and_gemini_report_in_their_own_fields() {
    let client = Client::named("echo").await;
    let responses = json!({"model": "gpt-5.6", "input": [{"role": "user", "content": tokens(2000)}]});
    client.ask(Format::OpenAiResponses, &responses).await;
    let (_, answer) = client.ask(Format::OpenAiResponses, &responses).await;
    let details = json!({"cached_tokens": 2000, "cache_write_tokens": 0});
    assert_eq!(answer["usage"]["input_tokens_details"], details);

    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": tokens(2000)}]}]});
    let (_, answer) = client.ask(Format::Gemini, &gemini).await;
    assert!(answer["usageMetadata"].get("cachedContentTokenCount").is_none());
    let (_, answer) = client.ask(Format::Gemini, &gemini).await;
    assert_eq!(answer["usageMetadata"]["cachedContentTokenCount"], 2000);
}

#[tokio::test]
async fn a_trimmed_history_only_reads_what_it_still_shares() {
    let client = Client::named("echo").await;
    let full = json!({"model": "gpt-5.6", "messages": [
        {"role": "system", "content": tokens(2000)},
        {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}, {"role": "user", "content": "three"},
    ]});
    chat_cached(&client, &full).await;
    let mut trimmed = full.clone();
    trimmed["messages"].as_array_mut().unwrap().remove(1);
    assert_eq!(chat_cached(&client, &trimmed).await.0, 2000);
}
