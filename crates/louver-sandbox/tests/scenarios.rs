//! The scripted model over real HTTP.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use client::{Client, follow, hello, said, say, with_tools};
use louver_sandbox::{Call, Fault, Format, Scenario, Task, Turn};
use serde_json::{Value, json};

const DEMO_TOOLS: [&str; 6] = ["read_file", "list_files", "search_files", "write_file", "run_command", "task_complete"];

/// Runs a scenario to its end; how many calls it made.
async fn run_to_the_end(client: &Client, format: Format, tools: &[&str]) -> usize {
    let mut body = with_tools(format, hello(format), tools);
    let mut calls = 0;
    for _ in 0..200 {
        let (status, answer) = client.ask(format, &body).await;
        assert_eq!(status, 200, "{answer}");
        let made = follow(format, &mut body, &answer, "ok");
        if made == 0 {
            return calls;
        }
        calls += made;
    }
    panic!("the scenario does not end");
}

#[tokio::test]
async fn the_demo_runs_to_its_end_in_every_format_without_a_refusal() {
    let client = Client::named("demo").await;
    for format in Format::ALL {
        let calls = run_to_the_end(&client, format, &DEMO_TOOLS).await;
        assert!(calls > 60, "{format}: {calls}");
    }
    let journal = client.sandbox.journal();
    assert!(journal.iter().all(|entry| entry.status == 200 && entry.violations.is_empty()));
}

#[tokio::test]
async fn a_task_only_calls_tools_that_the_client_declares() {
    let client = Client::new(Scenario::task(&Task { calls: 9, ..Task::default() })).await;
    for format in Format::ALL {
        assert_eq!(run_to_the_end(&client, format, &["cat", "grep"]).await, 9, "{format}");
    }
}

#[tokio::test]
async fn the_next_step_does_not_depend_on_the_history() {
    let scenario = Scenario::new("count").turn(Turn::text("one")).turn(Turn::text("two")).turn(Turn::text("three"));
    let client = Client::new(scenario).await;
    let format = Format::OpenAiChat;
    let trimmed = json!({"model": "gpt-5", "messages": [
        {"role": "user", "content": "go"}, {"role": "assistant", "content": "[Conversation Summary]"},
    ]});
    for expected in ["one", "two", "three", "one"] {
        let (_, answer) = client.ask(format, &trimmed).await;
        assert_eq!(said(format, &answer), expected);
    }
}

#[tokio::test]
async fn a_single_message_starts_an_unnamed_run_over_but_not_a_named_one() {
    let scenario = Scenario::new("count").turn(Turn::text("one")).turn(Turn::text("two")).turn(Turn::text("three"));
    let client = Client::new(scenario).await;
    let body = hello(Format::OpenAiChat);
    for expected in ["one", "one"] {
        let (_, answer) = client.ask(Format::OpenAiChat, &body).await;
        assert_eq!(said(Format::OpenAiChat, &answer), expected);
    }
    for expected in ["one", "two", "three"] {
        let request = client.post("/v1/chat/completions", &body).header("x-sandbox-run", "mine");
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(said(Format::OpenAiChat, &answer), expected);
    }
}

#[tokio::test]
async fn echo_repeats_what_the_user_said() {
    let client = Client::named("echo").await;
    for format in Format::ALL {
        let (_, answer) = client.ask(format, &say(format, "Good morning.")).await;
        assert_eq!(said(format, &answer), "You said: Good morning.", "{format}");
    }
}

#[tokio::test]
async fn a_request_for_a_summary_is_answered_in_plain_text_and_moves_nothing() {
    let client = Client::named("demo").await;
    for format in Format::ALL {
        let asking = say(format, "Summarize the following conversation history:\nuser: look at src/parser.rs");
        let (_, answer) = client.ask(format, &asking).await;
        assert!(said(format, &answer).contains("src/parser.rs"), "{format}: {answer}");
        let (_, first) = client.ask(format, &with_tools(format, hello(format), &DEMO_TOOLS)).await;
        assert_eq!(said(format, &first), "I will look around first.", "{format}");
    }
}

#[tokio::test]
async fn summaries_can_be_scripted_to_fail() {
    let scenario = Scenario::new("s").turn(Turn::text("hi")).summary(Turn::text("short").after(Fault::ServerError));
    let client = Client::new(scenario).await;
    let asking = say(Format::Anthropic, "Summarize the following conversation history: none");
    assert_eq!(client.ask(Format::Anthropic, &asking).await.0, 500);
    let (status, answer) = client.ask(Format::Anthropic, &asking).await;
    assert_eq!((status, said(Format::Anthropic, &answer).as_str()), (200, "short"));
}

#[tokio::test]
async fn a_recording_is_answered_turn_by_turn_in_any_format() {
    let wrapper = json!({"format": "gemini", "messages": [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"text": "I look."}, {"functionCall": {"name": "ls", "args": {"dir": "."}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {"output": "a"}}}]},
        {"role": "model", "parts": [{"text": "There is one file."}]},
    ]});
    let client = Client::new(Scenario::transcript(&wrapper).unwrap()).await;
    for format in Format::ALL {
        let mut body = hello(format);
        let (_, first) = client.ask(format, &body).await;
        assert_eq!(said(format, &first), "I look.", "{format}");
        assert_eq!(follow(format, &mut body, &first, "a"), 1, "{format}");
        let (_, second) = client.ask(format, &body).await;
        assert_eq!(said(format, &second), "There is one file.", "{format}");
    }
}

#[tokio::test]
async fn arguments_are_fitted_to_the_declared_schema() {
    let scenario = Scenario::new("fit").turn(Turn::calls([Call::new("read", json!({"file": "a.txt", "extra": 1}))]));
    let client = Client::new(scenario).await;
    let body = with_tools(Format::Anthropic, hello(Format::Anthropic), &["read"]);
    let (_, answer) = client.ask(Format::Anthropic, &body).await;
    assert_eq!(client::find(&answer["content"], "tool_use")["input"], json!({"path": "a.txt"}));
}
