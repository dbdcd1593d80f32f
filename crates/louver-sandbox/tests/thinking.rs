//! Thinking blocks must come back as they were, and on some models behind the same conversation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, follow, with_tools};
use louver_sandbox::{Format, Scenario, Task};
use serde_json::{Value, json};

const BETA: &str = "thinking-binding-controls-2026-08-01";

async fn thinker() -> Client {
    Client::new(Scenario::task(&Task { calls: 8, parallel_every: 0, thinking: true, ..Task::default() })).await
}

/// A conversation of so many turns with a thinking model, ready to be sent again.
async fn conversation(client: &Client, model: &str, turns: usize) -> Value {
    let body = json!({
        "model": model,
        "max_tokens": 4096,
        "system": "You help.",
        "thinking": {"type": "adaptive"},
        "messages": [{"role": "user", "content": "Do it."}],
    });
    let mut body = with_tools(Format::Anthropic, body, &["read"]);
    for _ in 0..turns {
        let (status, answer) = client.ask(Format::Anthropic, &body).await;
        assert_eq!((status, &answer["content"][0]["type"]), (200, &json!("thinking")), "{answer}");
        follow(Format::Anthropic, &mut body, &answer, "ok");
    }
    body
}

/// The error of a body, or `accepted`.
async fn verdict(client: &Client, body: &Value) -> String {
    let (status, answer) = client.ask(Format::Anthropic, body).await;
    if status == 200 { "accepted".to_owned() } else { answer["error"]["message"].as_str().unwrap().to_owned() }
}

fn bound_elsewhere(path: &str) -> String {
    format!(
        "{path}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, \
         or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `{BETA}` \
         value in the `anthropic-beta` header."
    )
}

fn strip_thinking(message: &mut Value) {
    message["content"].as_array_mut().unwrap().retain(|block| block["type"] != "thinking");
}

#[tokio::test]
async fn an_unchanged_conversation_is_accepted_on_every_model_that_binds() {
    for model in ["claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"] {
        let client = thinker().await;
        let body = conversation(&client, model, 4).await;
        assert_eq!(verdict(&client, &body).await, "accepted", "{model}");
    }
}

#[tokio::test]
async fn a_trimmed_prefix_invalidates_the_blocks_behind_it() {
    let client = thinker().await;
    let mut body = conversation(&client, "claude-opus-5-5", 3).await;
    body["messages"].as_array_mut().unwrap().drain(1..3);
    assert_eq!(verdict(&client, &body).await, bound_elsewhere("messages.1.content.0"));
}

#[tokio::test]
async fn changed_system_tools_or_results_invalidate_too_but_cache_marks_do_not() {
    let client = thinker().await;
    let body = conversation(&client, "claude-opus-5-5", 2).await;
    let mut marked = body.clone();
    marked["messages"][2]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    marked["system"] = json!([{"type": "text", "text": "You help."}]);
    assert_eq!(verdict(&client, &marked).await, "accepted");

    let mut system = body.clone();
    system["system"] = json!("You hinder.");
    let mut tools = body.clone();
    tools["tools"][0]["description"] = json!("new");
    for changed in [system, tools] {
        assert_eq!(verdict(&client, &changed).await, bound_elsewhere("messages.1.content.0"));
    }
    let mut result = body.clone();
    result["messages"][2]["content"][0]["content"] = json!("[cleared]");
    assert_eq!(verdict(&client, &result).await, bound_elsewhere("messages.3.content.0"));
}

#[tokio::test]
async fn thinking_may_go_from_the_start_but_not_from_the_middle() {
    let client = thinker().await;
    let body = conversation(&client, "claude-opus-5-5", 3).await;
    let mut from_start = body.clone();
    strip_thinking(&mut from_start["messages"][1]);
    assert_eq!(verdict(&client, &from_start).await, "accepted");
    let mut from_middle = body;
    strip_thinking(&mut from_middle["messages"][3]);
    assert_eq!(verdict(&client, &from_middle).await, bound_elsewhere("messages.5.content.0"));
}

#[tokio::test]
async fn a_trimmed_conversation_without_any_thinking_is_accepted() {
    let client = thinker().await;
    let mut body = conversation(&client, "claude-opus-5-5", 3).await;
    let messages = body["messages"].as_array_mut().unwrap();
    messages.drain(1..3);
    messages.iter_mut().filter(|message| message["role"] == "assistant").for_each(strip_thinking);
    assert_eq!(verdict(&client, &body).await, "accepted");
}

#[tokio::test]
async fn with_the_beta_mismatched_blocks_can_be_dropped_and_are_listed() {
    let client = thinker().await;
    let mut body = conversation(&client, "claude-opus-5-5", 3).await;
    body["messages"].as_array_mut().unwrap().drain(1..3);
    body["thinking"]["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
    assert_eq!(verdict(&client, &body).await, "thinking.block_binding: Extra inputs are not permitted");

    let request = client.post("/v1/messages", &body).header("anthropic-version", "2023-06-01");
    let answer: Value =
        request.header("anthropic-beta", format!("other, {BETA}")).send().await.unwrap().json().await.unwrap();
    let dropped = |path: &str| json!({"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"});
    let expected = json!([dropped("messages.1.content.0"), dropped("messages.3.content.0")]);
    assert_eq!(answer["input_transformations"], expected);
}

#[tokio::test]
async fn a_changed_thought_is_refused_on_any_model() {
    for model in ["claude-opus-4-6", "claude-opus-5-5"] {
        let client = thinker().await;
        let mut body = conversation(&client, model, 1).await;
        body["messages"][1]["content"][0]["thinking"] = json!("Something else.");
        let message = verdict(&client, &body).await;
        assert!(message.contains("blocks in the latest assistant message cannot be modified"), "{model}: {message}");
    }
}

#[tokio::test]
async fn models_that_do_not_bind_accept_a_trimmed_prefix_and_foreign_signatures_pass() {
    let client = thinker().await;
    let mut body = conversation(&client, "claude-opus-4-6", 3).await;
    body["messages"].as_array_mut().unwrap().drain(1..3);
    assert_eq!(verdict(&client, &body).await, "accepted");
    body["model"] = json!("claude-opus-5-5");
    for index in [1, 3] {
        body["messages"][index]["content"][0]["signature"] = json!("EqoBCkgIARABGAIiQL==");
    }
    assert_eq!(verdict(&client, &body).await, "accepted");
}

#[tokio::test]
async fn manual_thinking_wants_the_open_turn_to_start_with_it() {
    let client = thinker().await;
    let mut body = conversation(&client, "claude-sonnet-4-5", 2).await;
    body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048});
    assert_eq!(verdict(&client, &body).await, "accepted");
    strip_thinking(&mut body["messages"][3]);
    assert_eq!(verdict(&client, &body).await, "accepted", "only the first message of the turn is asked");
    strip_thinking(&mut body["messages"][1]);
    let message = verdict(&client, &body).await;
    assert!(
        message.starts_with("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.")
    );
    body["messages"].as_array_mut().unwrap().push(json!({"role": "assistant", "content": "Done."}));
    body["messages"].as_array_mut().unwrap().push(json!({"role": "user", "content": "And now?"}));
    assert_eq!(verdict(&client, &body).await, "accepted", "the turn is over");
}

#[tokio::test]
async fn thinking_is_only_shown_to_those_who_ask_for_it() {
    let client = thinker().await;
    for model in ["claude-sonnet-4-5", "claude-opus-5-5"] {
        let body = json!({"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": "go"}]});
        let body = with_tools(Format::Anthropic, body, &["read"]);
        let (_, answer) = client.ask(Format::Anthropic, &body).await;
        assert_eq!(client::find(&answer["content"], "thinking"), Value::Null, "{model}");
    }
}

#[tokio::test]
async fn gemini_3_wants_its_thought_signatures_back_for_the_current_turn() {
    let client = thinker().await;
    let mut body = with_tools(Format::Gemini, client::hello(Format::Gemini), &["read"]);
    body["model"] = json!("gemini-3-pro-preview");
    let (_, answer) = client.ask(Format::Gemini, &body).await;
    follow(Format::Gemini, &mut body, &answer, "ok");
    let mut stripped = body.clone();
    for part in stripped["contents"][1]["parts"].as_array_mut().unwrap() {
        part.as_object_mut().unwrap().remove("thoughtSignature");
    }
    let (status, answer) = client.ask(Format::Gemini, &stripped).await;
    assert_eq!(status, 400);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("Function call is missing a thought_signature in functionCall parts."), "{message}");
    stripped["contents"].as_array_mut().unwrap().push(json!({"role": "user", "parts": [{"text": "thanks"}]}));
    assert_eq!(client.ask(Format::Gemini, &stripped).await.0, 200, "that turn is over");
    assert_eq!(client.ask(Format::Gemini, &body).await.0, 200);
}

#[tokio::test]
async fn responses_wants_reasoning_with_the_items_it_led_to() {
    let client = thinker().await;
    let mut body = with_tools(Format::OpenAiResponses, client::hello(Format::OpenAiResponses), &["read"]);
    let (_, answer) = client.ask(Format::OpenAiResponses, &body).await;
    follow(Format::OpenAiResponses, &mut body, &answer, "ok");
    assert_eq!(client.ask(Format::OpenAiResponses, &body).await.0, 200);
    body["input"].as_array_mut().unwrap().retain(|item| item["type"] != "reasoning");
    let (status, answer) = client.ask(Format::OpenAiResponses, &body).await;
    assert_eq!(status, 400);
    assert!(
        answer["error"]["message"].as_str().unwrap().contains("was provided without its required 'reasoning' item")
    );
}
