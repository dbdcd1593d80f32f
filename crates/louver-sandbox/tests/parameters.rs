//! What the real APIs refuse beside the history: fields and models they do not know, and longer answers than a model writes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, hello};
use louver_sandbox::{Format, Sandbox, Scenario};
use serde_json::{Value, json};

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_field_that_an_api_does_not_know_is_refused_in_its_words() {
    let client = Client::named("echo").await;
    let words = [
        "reasoning_effrt: Extra inputs are not permitted",
        "Unrecognized request argument supplied: reasoning_effrt",
        "Unknown parameter: 'reasoning_effrt'.",
        "Invalid JSON payload received. Unknown name \"reasoning_effrt\": Cannot find field.",
    ];
    for (format, words) in Format::ALL.into_iter().zip(words) {
        let mut body = hello(format);
        body["reasoning_effrt"] = json!("high");
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, message(&answer)), (400, words), "{format}");
        assert_eq!(client.ask(format, &hello(format)).await.0, 200, "{format}");
    }
    assert_eq!(client.sandbox.journal()[0].violations[0].path, "reasoning_effrt");
    let mut both_spellings = hello(Format::Gemini);
    both_spellings["system_instruction"] = json!({"parts": [{"text": "Be brief."}]});
    both_spellings["generation_config"] = json!({"max_output_tokens": 9_000});
    assert_eq!(client.ask(Format::Gemini, &both_spellings).await.0, 200);
}

#[tokio::test]
async fn a_model_that_an_api_does_not_have_is_not_found() {
    let client = Client::named("echo").await;
    let words = [
        "model: nobody-1",
        "The model `nobody-1` does not exist or you do not have access to it.",
        "The model `nobody-1` does not exist or you do not have access to it.",
        "models/nobody-1 is not found for API version v1beta.",
    ];
    for (format, words) in Format::ALL.into_iter().zip(words) {
        let mut body = hello(format);
        body["model"] = json!("nobody-1");
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, message(&answer)), (404, words), "{format}");
    }
    let mut elsewhere = hello(Format::OpenAiChat);
    elsewhere["model"] = json!("claude-sonnet-4-5");
    assert_eq!(client.ask(Format::OpenAiChat, &elsewhere).await.0, 404);
    let echo = Scenario::named("echo").unwrap();
    let stand_in = Client::with(Sandbox::builder().scenario(echo).any_model(true)).await;
    assert_eq!(stand_in.ask(Format::OpenAiChat, &elsewhere).await.0, 200);
}

#[tokio::test]
async fn nobody_may_ask_for_more_than_a_model_writes() {
    let client = Client::named("echo").await;
    for (format, field, most, words) in [
        (
            Format::Anthropic,
            "max_tokens",
            64_000,
            "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
        ),
        (
            Format::OpenAiChat,
            "max_completion_tokens",
            128_000,
            "max_tokens is too large: 128001. This model supports at most 128000 completion tokens, whereas you provided \
             128001.",
        ),
        (
            Format::OpenAiResponses,
            "max_output_tokens",
            128_000,
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 128000, but got 128001 instead.",
        ),
    ] {
        let mut body = hello(format);
        body[field] = json!(most + 1);
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, message(&answer)), (400, words));
        body[field] = json!(most);
        assert_eq!(client.ask(format, &body).await.0, 200, "{format}");
    }
}

#[tokio::test]
async fn gemini_refuses_a_length_beyond_what_its_model_writes() {
    let client = Client::named("echo").await;
    for (camel, snake) in [("generationConfig", "maxOutputTokens"), ("generation_config", "max_output_tokens")] {
        for wrong in [65_537, 0, -1] {
            let mut body = hello(Format::Gemini);
            body[camel] = json!({snake: wrong});
            let (status, answer) = client.ask(Format::Gemini, &body).await;
            let words = format!(
                "Unable to submit request because it has a maxOutputTokens value of {wrong} but the supported range is from \
                 1 (inclusive) to 65537 (exclusive). Update the value and try again."
            );
            assert_eq!((status, message(&answer)), (400, words.as_str()));
        }
        let mut body = hello(Format::Gemini);
        body[camel] = json!({snake: 65_536});
        assert_eq!(client.ask(Format::Gemini, &body).await.0, 200);
    }
}

#[tokio::test]
async fn a_length_that_no_answer_can_have_is_refused() {
    let client = Client::named("echo").await;
    for (format, field, wrong, words) in [
        (Format::Anthropic, "max_tokens", json!(-1), "max_tokens: Input should be greater than or equal to 0"),
        (Format::Anthropic, "max_tokens", json!("many"), "max_tokens: Input should be a valid integer"),
        (
            Format::OpenAiChat,
            "max_tokens",
            json!(0),
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 1, but got 0 instead.",
        ),
        (
            Format::OpenAiResponses,
            "max_output_tokens",
            json!(15),
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead.",
        ),
        (
            Format::OpenAiResponses,
            "max_output_tokens",
            json!(20.5),
            "Invalid type for 'max_output_tokens': expected an integer, but got 20.5 instead.",
        ),
    ] {
        let mut body = hello(format);
        body[field] = wrong;
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, message(&answer)), (400, words), "{format}");
    }
}
