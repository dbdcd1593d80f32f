//! Refusals carry the providers' status codes, bodies and words.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, hello, path, say};
use louver_sandbox::{Format, Sandbox, Scenario};
use serde_json::{Value, json};

async fn parts(response: reqwest::Response) -> (u16, Value) {
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_missing_key_is_answered_in_each_providers_words() {
    let client = Client::named("echo").await;
    let expected = [
        (401, "x-api-key header is required"),
        (401, "You didn't provide an API key."),
        (401, "You didn't provide an API key."),
        (403, "Method doesn't allow unregistered callers"),
    ];
    for (format, (status, start)) in Format::ALL.into_iter().zip(expected) {
        let body = hello(format);
        let (got, answer) = parts(client.bare(&path(format, &body)).json(&body).send().await.unwrap()).await;
        assert_eq!(got, status, "{format}");
        assert!(answer["error"]["message"].as_str().unwrap().starts_with(start), "{answer}");
    }
}

#[tokio::test]
async fn a_key_that_starts_with_bad_is_refused_and_never_repeated() {
    let mut client = Client::named("echo").await;
    client.use_key("bad-secret-0123456789");
    for (format, status) in Format::ALL.into_iter().zip([401, 401, 401, 400]) {
        let (got, answer) = client.ask(format, &hello(format)).await;
        assert_eq!(got, status, "{format}: {answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
}

#[tokio::test]
async fn an_invalid_anthropic_key_has_the_real_body() {
    let mut client = Client::named("echo").await;
    client.use_key("bad");
    let (_, mut answer) = client.ask(Format::Anthropic, &hello(Format::Anthropic)).await;
    assert!(answer["request_id"].as_str().unwrap().starts_with("req_"));
    answer.as_object_mut().unwrap().remove("request_id");
    let error = json!({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}});
    assert_eq!(answer, error);
}

#[tokio::test]
async fn unknown_paths_are_not_found() {
    let client = Client::named("echo").await;
    for path in ["/v1/nothing", "/v1/messages/nothing", "/v1beta/models/gemini-3-pro:sing", "/"] {
        let (status, answer) = parts(client.post(path, &json!({})).send().await.unwrap()).await;
        assert_eq!(status, 404, "{path}");
        assert!(answer["error"].is_object(), "{path}: {answer}");
    }
    assert_eq!(client.get("/v1/messages").send().await.unwrap().status(), 404);
}

#[tokio::test]
async fn malformed_json_is_a_bad_request() {
    let client = Client::named("echo").await;
    let deep = "[".repeat(10_000);
    for text in ["{\"model\":", "[]", "\"x\"", "", &deep] {
        for format in Format::ALL {
            let request = client.post(&path(format, &json!({})), &json!({})).body(text.to_owned());
            let (status, answer) = parts(request.send().await.unwrap()).await;
            assert_eq!(status, 400, "{format}: {answer}");
        }
    }
}

#[tokio::test]
async fn required_fields_are_required() {
    let client = Client::named("echo").await;
    let expected = [
        (Format::Anthropic, "max_tokens", "max_tokens: Field required"),
        (Format::Anthropic, "model", "model: Field required"),
        (Format::Anthropic, "messages", "messages: Field required"),
        (Format::OpenAiChat, "model", "Missing required parameter: 'model'."),
        (Format::OpenAiChat, "messages", "Missing required parameter: 'messages'."),
        (Format::OpenAiResponses, "input", "Missing required parameter: 'input'."),
        (Format::Gemini, "contents", "* GenerateContentRequest.contents: contents is not specified\n"),
    ];
    for (format, field, message) in expected {
        let mut body = hello(format);
        body.as_object_mut().unwrap().remove(field);
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, answer["error"]["message"].as_str().unwrap()), (400, message), "{format}");
    }
}

#[tokio::test]
async fn anthropic_wants_its_version_header() {
    let client = Client::named("echo").await;
    let request = client.post("/v1/messages", &hello(Format::Anthropic));
    let (status, answer) = parts(request.send().await.unwrap()).await;
    assert_eq!((status, &answer["error"]["message"]), (400, &json!("anthropic-version: header is required")));
}

#[tokio::test]
async fn overflow_is_refused_in_each_providers_words() {
    let echo = Scenario::named("echo").unwrap();
    let client = Client::with(Sandbox::builder().scenario(echo).context_window(1000)).await;
    let expected = [
        "prompt is too long: 1001 tokens > 1000 maximum",
        "This model's maximum context length is 1000 tokens. However, your messages resulted in 1001 tokens. Please reduce \
         the length of the messages.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "The input token count (1001) exceeds the maximum number of tokens allowed (1000).",
    ];
    for (format, message) in Format::ALL.into_iter().zip(expected) {
        let (status, _) = client.ask(format, &say(format, &"x".repeat(4000))).await;
        assert_eq!(status, 200, "{format}: exactly full is not too much");
        let (status, answer) = client.ask(format, &say(format, &"x".repeat(4001))).await;
        assert_eq!((status, answer["error"]["message"].as_str().unwrap()), (400, message), "{format}");
        if matches!(format, Format::OpenAiChat | Format::OpenAiResponses) {
            assert_eq!(answer["error"]["code"], "context_length_exceeded");
        }
    }
}

#[tokio::test]
async fn overflow_can_be_refused_within_the_stream() {
    let echo = Scenario::named("echo").unwrap();
    let client = Client::with(Sandbox::builder().scenario(echo).context_window(1000).overflow_in_stream(true)).await;
    for format in Format::ALL {
        let body = say(format, &"x".repeat(4001));
        let (status, whole) = client.ask(format, &body).await;
        assert_eq!(status, 400, "{format}: an answer in one piece has a status");
        let events = client.stream(format, &body).await;
        let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
        let (leading, error) = match format {
            Format::Anthropic => (&["message_start", "ping", "error"][..], "/error"),
            Format::OpenAiResponses => {
                (&["response.created", "response.in_progress", "response.failed"][..], "/response/error")
            }
            Format::OpenAiChat | Format::Gemini => (&[""][..], "/error"),
        };
        assert_eq!(names, leading, "{format}");
        let said = events.last().unwrap().data.pointer(error).unwrap();
        assert_eq!(
            (&said["message"], &said["code"]),
            (&whole["error"]["message"], &whole["error"]["code"]),
            "{format}"
        );
    }
    assert!(client.sandbox.journal().iter().all(|entry| entry.status == 400));
}

#[tokio::test]
async fn newer_openai_models_have_other_words_for_overflow() {
    let echo = Scenario::named("echo").unwrap();
    let client = Client::with(Sandbox::builder().scenario(echo).context_window(1000)).await;
    let mut body = say(Format::OpenAiChat, &"x".repeat(4001));
    body["model"] = json!("gpt-5.6");
    let (_, answer) = client.ask(Format::OpenAiChat, &body).await;
    let message = "Input tokens exceed the configured limit of 1000 tokens. Your messages resulted in 1001 tokens. Please \
                   reduce the length of the messages.";
    assert_eq!(answer["error"]["message"], message);
    assert_eq!(answer["error"]["code"], "context_length_exceeded");
}

#[tokio::test]
async fn older_claude_models_count_the_room_for_the_reply() {
    let client = Client::named("echo").await;
    let mut body = say(Format::Anthropic, &"x".repeat(4 * 190_000));
    body["model"] = json!("claude-3-7-sonnet-20250219");
    body["max_tokens"] = json!(64_000);
    let (status, answer) = client.ask(Format::Anthropic, &body).await;
    let message = "input length and `max_tokens` exceed context limit: 190000 + 64000 > 200000, decrease input length or \
                   `max_tokens` and try again";
    assert_eq!((status, answer["error"]["message"].as_str().unwrap()), (400, message));
    body["model"] = json!("claude-sonnet-4-5");
    assert_eq!(client.ask(Format::Anthropic, &body).await.0, 200);
}

#[tokio::test]
async fn an_unanswered_call_is_refused_with_the_param_that_openai_names() {
    let client = Client::named("echo").await;
    let body = json!({"model": "gpt-5", "messages": [
        {"role": "user", "content": "go"},
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
    ]});
    let (status, answer) = client.ask(Format::OpenAiChat, &body).await;
    assert_eq!(status, 400);
    let error = json!({"error": {
        "message": "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        "type": "invalid_request_error",
        "param": "messages.[1].role",
        "code": null,
    }});
    assert_eq!(answer, error);
}

#[tokio::test]
async fn a_system_message_is_refused_on_models_that_take_none() {
    let client = Client::named("echo").await;
    let mut body = json!({"model": "claude-opus-4-8", "max_tokens": 10, "messages": [
        {"role": "user", "content": "go"}, {"role": "system", "content": "be brief"},
    ]});
    assert_eq!(client.ask(Format::Anthropic, &body).await.0, 200);
    body["model"] = json!("claude-sonnet-4-5");
    let (status, answer) = client.ask(Format::Anthropic, &body).await;
    assert_eq!((status, &answer["error"]["message"]), (400, &json!("role 'system' is not supported on this model")));
}

#[tokio::test]
async fn a_long_cache_mark_may_not_follow_a_short_one() {
    let client = Client::named("echo").await;
    let block = |ttl: &str| json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": ttl}});
    let body = |first: &str, second: &str| json!({"model": "claude-sonnet-4-5", "max_tokens": 10, "messages": [{"role": "user", "content": [block(first), block(second)]}]});
    assert_eq!(client.ask(Format::Anthropic, &body("1h", "5m")).await.0, 200);
    let (status, answer) = client.ask(Format::Anthropic, &body("5m", "1h")).await;
    assert_eq!(status, 400);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("`ttl='1h'` cache_control block must not come after a ttl='5m' cache_control block"));
}
