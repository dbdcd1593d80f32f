//! What providers and gateways send although no documentation says so.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::tokens::CounterChoice;
use louver::wire::PartKind;
use louver_agent::provider::Category;
use louver_agent::{Conversation, ExecuteOptions, ExecutionResult, Stop, execute};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use world::replies::{Replies, Reply};
use world::{Api, assert_sound, tools};

async fn run(api: Api, replies: &Replies, is_streamed: bool) -> ExecutionResult {
    let mut options = ExecuteOptions { is_streamed, ..ExecuteOptions::new(api.model()) };
    options.window.counter = CounterChoice::Chars4;
    execute(&replies.provider(api), &Arc::new(tools()), Some("Do the task."), &options, None).await
}

/// Runs with these replies, and the model's word that the task is done behind them.
async fn run_with(api: Api, first: Vec<Reply>) -> (ExecutionResult, Vec<Value>) {
    let replies =
        Replies::start(move |number, _| first.get(number).cloned().unwrap_or_else(|| Reply::done(api, "end"))).await;
    let result = run(api, &replies, true).await;
    (result, replies.asked())
}

fn ids(conversation: &Conversation, kind: PartKind) -> Vec<String> {
    let log = conversation.window().log();
    let of = |message: &Arc<louver::Message>| -> Vec<String> {
        message.shape().parts_of(kind).map(|part| message.id_of(part).into_owned()).collect()
    };
    log.messages.iter().flat_map(of).collect()
}

fn holds(conversation: &Conversation, text: &str) -> bool {
    conversation.window().log().messages.iter().any(|message| message.raw().contains(text))
}

fn chunk(delta: &Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn chat_end() -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
}

#[tokio::test]
async fn parallel_chat_calls_without_indices_of_their_own_are_told_apart_by_id() {
    for index in [json!(0), json!(null), json!("none")] {
        let part = |id: Option<&str>, name: Option<&str>, arguments: &str| {
            let mut part = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
            if let Some(id) = id {
                part["id"] = json!(id);
            }
            if index != "none" {
                part["index"] = index.clone();
            }
            chunk(&json!({"tool_calls": [part]}))
        };
        let events = [
            part(Some("a"), Some("read_file"), "{\"path\":"),
            part(None, None, "\"first\"}"),
            part(Some("b"), Some("read_file"), "{\"path\":"),
            part(Some("b"), None, "\"second\"}"),
            chat_end(),
        ];
        let (result, _) = run_with(Api::Chat, vec![Reply::events(&events)]).await;
        assert_eq!((result.stop, result.tool_calls), (Stop::Completed, 3), "{index}: {:?}", result.error);
        let state = result.conversation_state.unwrap();
        assert!(holds(&state, "read_file first") && holds(&state, "read_file second"), "{index}");
        assert_sound(Api::Chat, &state);
    }
}

#[tokio::test]
async fn calls_with_indices_of_their_own_may_arrive_interleaved() {
    let part = |index: usize, id: Option<&str>, name: Option<&str>, arguments: &str| {
        chunk(&json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}))
    };
    let events = [
        part(1, Some("b"), Some("read_file"), "{\"path\":"),
        part(0, Some("a"), Some("read_file"), "{\"path\":"),
        part(1, None, None, "\"second\"}"),
        part(0, None, None, "\"first\"}"),
        chat_end(),
    ];
    let (result, _) = run_with(Api::Chat, vec![Reply::events(&events)]).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    assert_eq!(ids(&result.conversation_state.unwrap(), PartKind::ToolCall), ["a", "b", "end"]);
}

#[tokio::test]
async fn fields_of_a_message_that_nobody_knows_are_kept() {
    let signature = json!({"google": {"thought_signature": "c2ln"}});
    let call = json!({"index": 0, "id": "a", "type": "function", "extra_content": signature,
        "function": {"name": "read_file", "arguments": "{\"path\":\"x\"}"}});
    let events = [
        chunk(&json!({"role": "assistant", "content": "", "reasoning_content": "Let me "})),
        chunk(&json!({"reasoning_content": "think.", "reasoning_details": [{"text": "Let"}]})),
        chunk(&json!({"tool_calls": [call], "reasoning_details": [{"text": "me"}]})),
        chat_end(),
    ];
    let (result, asked) = run_with(Api::Chat, vec![Reply::events(&events)]).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    let sent_back =
        asked[1]["messages"].as_array().unwrap().iter().find(|message| message["role"] == "assistant").unwrap();
    assert_eq!(sent_back["reasoning_content"], "Let me think.");
    assert_eq!(sent_back["reasoning_details"], json!([{"text": "Let"}, {"text": "me"}]));
    assert_eq!(sent_back["tool_calls"][0]["extra_content"], signature);
    assert_eq!(sent_back["tool_calls"][0]["function"]["arguments"], "{\"path\":\"x\"}");
}

/// Replaces every `usage` in the events of an answer.
fn with_usage(reply: Reply, usage: &Value) -> Reply {
    let line = |line: &str| match line.strip_prefix("data: {") {
        Some(rest) => {
            let mut event: Value = serde_json::from_str(&format!("{{{rest}")).unwrap();
            for object in [Some("message"), Some("response"), None] {
                let place = object.map_or(Some(&mut event), |_| None);
                if let Some(object) = object {
                    if event[object].is_object() {
                        event[object]["usage"] = usage.clone();
                    }
                } else if let Some(event) = place {
                    event["usage"] = usage.clone();
                }
            }
            format!("data: {event}\n")
        }
        None => format!("{line}\n"),
    };
    let body: String = reply.body.lines().map(line).collect();
    Reply { body, ..reply }
}

#[tokio::test]
async fn odd_usage_never_discards_an_answer() {
    let figures = |value: Value| {
        json!({"input_tokens": value, "output_tokens": value, "prompt_tokens": value,
        "completion_tokens": value, "prompt_tokens_details": {"cached_tokens": value}, "cache_read_input_tokens": value})
    };
    let odd = [
        Value::Null,
        json!([]),
        json!("many"),
        figures(Value::Null),
        figures(json!(-5)),
        figures(json!(12.5)),
        figures(json!("12")),
        figures(json!(1e300)),
        figures(json!(u64::MAX)),
    ];
    for api in Api::ALL {
        for usage in &odd {
            let reply = with_usage(Reply::done(api, "end"), usage);
            let (result, _) = run_with(api, vec![reply]).await;
            assert_eq!((result.stop, result.tool_calls), (Stop::Completed, 1), "{api:?} {usage}: {:?}", result.error);
        }
        let usage =
            json!({"input_tokens": 12.5, "prompt_tokens": 12.5, "output_tokens": 3.0, "completion_tokens": 3.0});
        let (result, _) = run_with(api, vec![with_usage(Reply::done(api, "end"), &usage)]).await;
        assert_eq!((result.usage.prompt_tokens(), result.usage.output_tokens), (13, 3), "{api:?}");
    }
}

#[tokio::test]
async fn repeated_and_empty_tool_ids_are_renamed_in_call_and_result() {
    for api in Api::ALL {
        let stop = if api == Api::Chat { "tool_calls" } else { "tool_use" };
        let first = Reply::answer(api, "", &[("same", "read_file", "x"), ("same", "read_file", "y")], stop);
        let second = Reply::answer(api, "", &[("", "read_file", "z"), ("same", "read_file", "w")], stop);
        let (result, asked) = run_with(api, vec![first, second]).await;
        assert_eq!((result.stop, result.tool_calls), (Stop::Completed, 5), "{api:?}: {:?}", result.error);
        let state = result.conversation_state.unwrap();
        let calls = ids(&state, PartKind::ToolCall);
        let distinct: BTreeSet<&String> = calls.iter().collect();
        assert!(distinct.len() == 5 && !calls.iter().any(String::is_empty), "{api:?}: {calls:?}");
        assert_eq!(calls[0], "same", "{api:?}: the first may keep it");
        assert_eq!(calls, ids(&state, PartKind::ToolResult), "{api:?}");
        assert_sound(api, &state);
        assert!(asked.last().unwrap().to_string().contains(&calls[3]), "{api:?}");
    }
}

#[tokio::test]
async fn an_id_that_the_api_would_refuse_is_renamed() {
    let calls = [("functions.read:0", "read_file", "x")];
    let (result, _) = run_with(Api::Anthropic, vec![Reply::answer(Api::Anthropic, "", &calls, "tool_use")]).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    let id = &ids(&result.conversation_state.unwrap(), PartKind::ToolCall)[0];
    assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{id}");
}

#[tokio::test]
async fn a_block_that_starts_again_replaces_the_first() {
    let start =
        |index: usize, block: &Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: &Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let call = json!({"type": "tool_use", "id": "end", "name": "task_complete", "input": {}});
    let events = [
        json!({"type": "message_start", "message": {"role": "assistant"}}),
        start(0, &json!({"type": "text", "text": ""})),
        delta(0, &json!({"type": "text_delta", "text": "Wro"})),
        start(0, &json!({"type": "text", "text": ""})),
        delta(0, &json!({"type": "text_delta", "text": "Right."})),
        start(1, &call),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"summary\""})),
        start(1, &call),
        delta(1, &json!({"type": "input_json_delta", "partial_json": "{\"summary\":\"All done.\"}"})),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let (result, _) = run_with(Api::Anthropic, vec![Reply::events(&events)]).await;
    assert_eq!((result.stop, result.tool_calls), (Stop::Completed, 1), "{:?}", result.error);
    assert!(!holds(&result.conversation_state.unwrap(), "Wro"));
}

#[tokio::test]
async fn a_web_page_is_said_to_be_one() {
    let page = "<!DOCTYPE html><html><head><title>Sign in to the network</title></head></html>";
    for api in Api::ALL {
        for (content_type, is_streamed) in
            [("text/html; charset=utf-8", true), ("text/plain", true), ("text/html", false)]
        {
            let replies = Replies::start(move |_, _| Reply::new(200, content_type, page)).await;
            let error = run(api, &replies, is_streamed).await.error.unwrap();
            assert_eq!(error.category, Category::Api, "{api:?}");
            assert_eq!(
                error.message, "the answer is a web page (HTML), not an answer of the API: Sign in to the network",
                "{api:?} {content_type}"
            );
            assert_eq!(replies.asked().len(), 1, "{api:?}: asking again brings the same page");
        }
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_although_a_stream_was_asked_for() {
    let content =
        json!([{"type": "tool_use", "id": "end", "name": "task_complete", "input": {"summary": "All done."}}]);
    let whole = json!({"role": "assistant", "content": content, "stop_reason": "tool_use"});
    let (result, asked) = run_with(Api::Anthropic, vec![Reply::refusal(200, &whole)]).await;
    assert_eq!((result.stop, asked.len()), (Stop::Completed, 1), "{:?}", result.error);
}

#[tokio::test]
async fn an_error_with_status_200_is_an_error() {
    let body = json!({"error": {"code": "invalid_api_key", "message": "Who are you?"}});
    for api in Api::ALL {
        let replies = Replies::start({
            let body = body.clone();
            move |_, _| Reply::refusal(200, &body)
        })
        .await;
        let error = run(api, &replies, true).await.error.unwrap();
        assert_eq!((error.category, error.status), (Category::Auth, Some(401)), "{api:?}: {error}");
        assert!(error.message.contains("Who are you?"), "{api:?}: {error}");
    }
}
