//! Streams have the providers' event names, shapes, and usage in the right places.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, Event, hello, with_tools};
use louver_sandbox::{Call, Format, Scenario, Turn};
use serde_json::{Value, json};

fn scenario() -> Scenario {
    let calls = [Call::new("read", json!({"path": "a.txt"})), Call::new("list", json!({"path": "."}))];
    Scenario::new("stream").turn(Turn::calls(calls).thinking("Hm.").saying("I read and list."))
}

fn body(format: Format) -> Value {
    with_tools(format, hello(format), &["read", "list"])
}

fn names(events: &[Event]) -> Vec<&str> {
    let mut names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    names.dedup();
    names
}

/// The texts of all events with a name, joined.
fn joined(events: &[Event], name: &str, pointer: &str) -> String {
    let texts = events.iter().filter(|event| event.name == name).filter_map(|event| event.data.pointer(pointer));
    texts.filter_map(Value::as_str).collect()
}

#[tokio::test]
async fn anthropic_streams_thinking_text_and_calls_as_blocks() {
    let client = Client::new(scenario()).await;
    let mut body = body(Format::Anthropic);
    body["thinking"] = json!({"type": "adaptive"});
    let events = client.stream(Format::Anthropic, &body).await;
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected: Vec<&str> =
        [&["message_start", "ping"], &block[..], &block, &block, &block, &["message_delta", "message_stop"]].concat();
    assert_eq!(names(&events), expected);
    assert!(events.iter().all(|event| event.data["type"] == event.name.as_str()));
    assert_eq!(joined(&events, "content_block_delta", "/delta/thinking"), "Hm.");
    assert_eq!(joined(&events, "content_block_delta", "/delta/text"), "I read and list.");
    let arguments = joined(&events, "content_block_delta", "/delta/partial_json");
    assert_eq!(arguments, r#"{"path":"a.txt"}{"path":"."}"#);
    assert!(joined(&events, "content_block_delta", "/delta/signature").starts_with("sbx1."));
}

#[tokio::test]
async fn anthropic_reports_usage_at_the_start_and_at_the_end() {
    let client = Client::new(scenario()).await;
    let events = client.stream(Format::Anthropic, &body(Format::Anthropic)).await;
    let start = &events[0].data["message"]["usage"];
    let end = &events[events.len() - 2].data;
    assert!(start["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(start["output_tokens"], 1);
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert_eq!(end["usage"]["input_tokens"], start["input_tokens"]);
    assert!(end["usage"]["output_tokens"].as_u64().unwrap() > 1);
}

#[tokio::test]
async fn chat_streams_chunks_that_end_with_done() {
    let client = Client::new(scenario()).await;
    let events = client.stream(Format::OpenAiChat, &body(Format::OpenAiChat)).await;
    let (done, chunks) = events.split_last().unwrap();
    assert_eq!(done.data, "[DONE]");
    assert!(chunks.iter().all(|event| event.name.is_empty() && event.data["object"] == "chat.completion.chunk"));
    assert!(chunks.iter().all(|event| event.data.get("usage").is_none()), "nobody asked for usage");
    assert_eq!(chunks[0].data["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(joined(chunks, "", "/choices/0/delta/content"), "I read and list.");
    let arguments = joined(chunks, "", "/choices/0/delta/tool_calls/0/function/arguments");
    assert_eq!(arguments, r#"{"path":"a.txt"}{"path":"."}"#);
    assert_eq!(chunks.last().unwrap().data["choices"][0]["finish_reason"], "tool_calls");
}

#[tokio::test]
async fn chat_reports_usage_in_a_last_chunk_if_asked_to() {
    let client = Client::new(scenario()).await;
    let mut body = body(Format::OpenAiChat);
    body["stream_options"] = json!({"include_usage": true});
    let events = client.stream(Format::OpenAiChat, &body).await;
    let last = &events[events.len() - 2].data;
    assert_eq!(last["choices"], json!([]));
    let total = last["usage"]["prompt_tokens"].as_u64().unwrap() + last["usage"]["completion_tokens"].as_u64().unwrap();
    assert_eq!(last["usage"]["total_tokens"], total);
    assert!(events[..events.len() - 2].iter().all(|event| event.data["usage"].is_null()));
}

#[tokio::test]
async fn responses_streams_items_with_growing_sequence_numbers() {
    let client = Client::new(scenario()).await;
    let mut body = body(Format::OpenAiResponses);
    body["reasoning"] = json!({"effort": "low", "summary": "auto"});
    let events = client.stream(Format::OpenAiResponses, &body).await;
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.reasoning_summary_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(names(&events), expected);
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event.data["sequence_number"], index);
        assert_eq!(event.data["type"], event.name.as_str());
    }
    let response = &events.last().unwrap().data["response"];
    assert_eq!(response["output"].as_array().unwrap().len(), 4);
    assert!(response["usage"]["output_tokens_details"]["reasoning_tokens"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn gemini_streams_usage_on_every_chunk_and_ends_with_a_finish_reason() {
    let client = Client::new(scenario()).await;
    let events = client.stream(Format::Gemini, &body(Format::Gemini)).await;
    let counts: Vec<u64> =
        events.iter().map(|event| event.data["usageMetadata"]["candidatesTokenCount"].as_u64().unwrap()).collect();
    assert!(counts.is_sorted(), "{counts:?}");
    let (last, rest) = events.split_last().unwrap();
    assert_eq!(last.data["candidates"][0]["finishReason"], "STOP");
    assert!(rest.iter().all(|event| event.data["candidates"][0].get("finishReason").is_none()));
    assert_eq!(joined(&events, "", "/candidates/0/content/parts/0/text"), "I read and list.");
}

#[tokio::test]
async fn a_stream_and_an_answer_in_one_piece_report_the_same_tokens() {
    let one_piece = Client::new(scenario()).await;
    let streamed = Client::new(scenario()).await;
    let (_, whole) = one_piece.ask(Format::Anthropic, &body(Format::Anthropic)).await;
    let events = streamed.stream(Format::Anthropic, &body(Format::Anthropic)).await;
    assert_eq!(events[events.len() - 2].data["usage"], whole["usage"]);
}
