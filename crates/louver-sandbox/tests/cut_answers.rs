//! An answer ends at the length that the request allows, and says so in the words of its API.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, Event, follow, hello, said, with_tools};
use louver_sandbox::{Call, Format, Scenario, Turn};
use serde_json::{Value, json};

/// Tokens that the requests allow, and so four times as many characters.
const MOST: u64 = 20;

fn long_text() -> String {
    "All work and no play. ".repeat(40)
}

fn bounded(format: Format, mut body: Value, most: u64) -> Value {
    match format {
        Format::Anthropic => body["max_tokens"] = json!(most),
        Format::OpenAiChat => body["max_completion_tokens"] = json!(most),
        Format::OpenAiResponses => body["max_output_tokens"] = json!(most),
        Format::Gemini => body["generationConfig"] = json!({"maxOutputTokens": most}),
    }
    body
}

/// How an answer in one piece says that it was cut, and how many tokens it has.
fn ending(format: Format, answer: &Value) -> (Value, u64) {
    let (reason, tokens) = match format {
        Format::Anthropic => (&answer["stop_reason"], &answer["usage"]["output_tokens"]),
        Format::OpenAiChat => (&answer["choices"][0]["finish_reason"], &answer["usage"]["completion_tokens"]),
        Format::OpenAiResponses => (&answer["incomplete_details"]["reason"], &answer["usage"]["output_tokens"]),
        Format::Gemini => (&answer["candidates"][0]["finishReason"], &answer["usageMetadata"]["candidatesTokenCount"]),
    };
    (reason.clone(), tokens.as_u64().unwrap())
}

fn cut_reason(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "max_tokens",
        Format::OpenAiChat => "length",
        Format::OpenAiResponses => "max_output_tokens",
        Format::Gemini => "MAX_TOKENS",
    }
}

/// What the deltas of a stream say, joined.
fn streamed_text(format: Format, events: &[Event]) -> String {
    let pointer = match format {
        Format::Anthropic => "/delta/text",
        Format::OpenAiChat => "/choices/0/delta/content",
        Format::OpenAiResponses => "/delta",
        Format::Gemini => "/candidates/0/content/parts/0/text",
    };
    events.iter().filter_map(|event| event.data.pointer(pointer)?.as_str()).collect()
}

fn streamed_reason(format: Format, events: &[Event]) -> Value {
    let reason = |event: &Event| match format {
        Format::Anthropic => event.data["delta"]["stop_reason"].clone(),
        Format::OpenAiChat => event.data["choices"][0]["finish_reason"].clone(),
        Format::OpenAiResponses if event.name == "response.incomplete" => {
            event.data["response"]["incomplete_details"]["reason"].clone()
        }
        Format::OpenAiResponses => Value::Null,
        Format::Gemini => event.data["candidates"][0]["finishReason"].clone(),
    };
    events.iter().map(reason).find(|reason| !reason.is_null()).unwrap_or_default()
}

#[tokio::test]
async fn a_text_ends_at_the_length_that_was_asked_for() {
    let client = Client::new(Scenario::new("long").turn(Turn::text(long_text()))).await;
    let kept: String = long_text().chars().take(4 * MOST as usize).collect();
    for format in Format::ALL {
        let body = bounded(format, hello(format), MOST);
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, said(format, &answer)), (200, kept.clone()), "{format}");
        assert_eq!(ending(format, &answer), (json!(cut_reason(format)), MOST), "{format}");
        let events = client.stream(format, &body).await;
        assert_eq!(streamed_text(format, &events), kept, "{format}");
        assert_eq!(streamed_reason(format, &events), cut_reason(format), "{format}");
        let whole = client.ask(format, &bounded(format, hello(format), 300)).await.1;
        assert_eq!(said(format, &whole), long_text(), "{format}");
        assert_ne!(ending(format, &whole).0, cut_reason(format), "{format}");
    }
}

#[tokio::test]
async fn responses_says_that_an_answer_and_its_last_item_are_incomplete() {
    let client = Client::new(Scenario::new("long").turn(Turn::text(long_text()))).await;
    let body = bounded(Format::OpenAiResponses, hello(Format::OpenAiResponses), MOST);
    let (_, answer) = client.ask(Format::OpenAiResponses, &body).await;
    assert_eq!((&answer["status"], &answer["output"][0]["status"]), (&json!("incomplete"), &json!("incomplete")));
    assert!(answer.get("completed_at").is_none_or(Value::is_null));
    let events = client.stream(Format::OpenAiResponses, &body).await;
    assert_eq!(events.last().unwrap().data["response"]["status"], "incomplete");
}

#[tokio::test]
async fn a_call_that_is_not_written_to_its_end_is_no_whole_call() {
    let turn = Turn::calls([Call::new("read", json!({"path": "a".repeat(400)}))]).saying("I read.");
    let client = Client::new(Scenario::new("call").turn(turn)).await;
    for format in Format::ALL {
        let body = bounded(format, with_tools(format, hello(format), &["read"]), MOST);
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!((status, ending(format, &answer).0), (200, json!(cut_reason(format))), "{format}");
        let arguments = match format {
            Format::Anthropic => answer["content"][1]["input"].to_string(),
            Format::OpenAiChat => {
                answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].as_str().unwrap().to_owned()
            }
            Format::OpenAiResponses => {
                assert_eq!(answer["output"][1]["status"], "incomplete");
                answer["output"][1]["arguments"].as_str().unwrap().to_owned()
            }
            Format::Gemini => {
                assert_eq!(answer["candidates"][0]["content"]["parts"], json!([{"text": "I read."}]));
                continue;
            }
        };
        match format {
            Format::Anthropic => assert_eq!(arguments, "{}"),
            _ => assert!(arguments.starts_with(r#"{"path":"aaa"#) && arguments.len() < 80, "{format}: {arguments}"),
        }
    }
}

#[tokio::test]
async fn a_thought_that_takes_all_the_room_leaves_an_answer_without_words() {
    let client = Client::new(Scenario::new("deep").turn(Turn::text("Yes.").thinking(long_text()))).await;
    for format in Format::ALL {
        let mut body = bounded(format, hello(format), MOST);
        if format == Format::Anthropic {
            body["thinking"] = json!({"type": "adaptive"});
        }
        let (status, mut answer) = client.ask(format, &body).await;
        assert_eq!((status, said(format, &answer)), (200, String::new()), "{format}");
        let reason = ending(format, &answer).0;
        assert_eq!(reason, cut_reason(format), "{format}");
        assert_eq!(streamed_reason(format, &client.stream(format, &body).await), cut_reason(format), "{format}");
        if format == Format::OpenAiChat {
            assert_eq!(answer["choices"][0]["message"]["content"], "");
            assert_eq!(follow(format, &mut body, &answer.take(), ""), 0);
        }
    }
}

#[tokio::test]
async fn nobody_writes_more_than_its_model_does() {
    let client = Client::new(Scenario::new("endless").turn(Turn::text("x".repeat(8 * 16_384)))).await;
    let mut body = hello(Format::OpenAiChat);
    body["model"] = json!("gpt-4o");
    let (_, answer) = client.ask(Format::OpenAiChat, &body).await;
    assert_eq!(ending(Format::OpenAiChat, &answer), (json!("length"), 16_384));
}
