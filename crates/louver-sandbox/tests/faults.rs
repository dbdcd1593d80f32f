//! Everything that can go wrong goes wrong once, and the next request goes on.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use std::error::Error;
use std::io;
use std::time::Duration;

use client::{Client, events, follow, hello, said, with_tools};
use louver_sandbox::{Call, Fault, Format, Scenario, Turn};
use serde_json::{Value, json};

fn failing(fault: Fault) -> Scenario {
    Scenario::new("fault").turn(Turn::text("It works now, after all that happened before.").after(fault))
}

async fn works(client: &Client, format: Format) {
    let (status, answer) = client.ask(format, &hello(format)).await;
    assert_eq!(status, 200, "{format}");
    assert_eq!(said(format, &answer), "It works now, after all that happened before.", "{format}");
}

fn streamed(format: Format) -> Value {
    let mut body = hello(format);
    body["stream"] = json!(true);
    body
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back_if_it_is_told_to() {
    for (seconds, header) in [(Some(7), Some("7")), (None, None)] {
        let client = Client::new(failing(Fault::RateLimit { retry_after_seconds: seconds })).await;
        for format in Format::ALL {
            let response = client.send(format, &hello(format)).await;
            assert_eq!(response.status(), 429, "{format}");
            let retry_after = response.headers().get("retry-after").map(|value| value.to_str().unwrap());
            assert_eq!(retry_after, header, "{format}");
            works(&client, format).await;
        }
    }
}

#[tokio::test]
async fn overload_and_server_errors_have_each_providers_status() {
    let overloaded = Client::new(failing(Fault::Overloaded)).await;
    let broken = Client::new(failing(Fault::ServerError)).await;
    for (format, status) in Format::ALL.into_iter().zip([529, 503, 503, 503]) {
        assert_eq!(overloaded.send(format, &hello(format)).await.status().as_u16(), status, "{format}");
        works(&overloaded, format).await;
        assert_eq!(broken.send(format, &hello(format)).await.status(), 500, "{format}");
        works(&broken, format).await;
    }
}

#[tokio::test]
async fn an_overload_of_anthropic_has_the_real_body() {
    let client = Client::new(failing(Fault::Overloaded)).await;
    let (_, answer) = client.ask(Format::Anthropic, &hello(Format::Anthropic)).await;
    assert_eq!(answer["type"], "error");
    assert_eq!(answer["error"], json!({"type": "overloaded_error", "message": "Overloaded"}));
}

/// Whether the bottom of an error is the operating system's "connection reset".
fn was_reset(error: &(dyn Error + 'static)) -> bool {
    let here = error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionReset);
    here || error.source().is_some_and(was_reset)
}

#[tokio::test]
async fn a_reset_breaks_the_answer_off_in_the_middle() {
    let client = Client::new(failing(Fault::Reset)).await;
    for format in Format::ALL {
        for body in [hello(format), streamed(format)] {
            let mut response = client.send(format, &body).await;
            assert_eq!(response.status(), 200);
            let start = response.chunk().await.unwrap();
            assert!(start.is_some_and(|start| !start.is_empty()), "{format}: something arrives first");
            let error = loop {
                if let Err(error) = response.chunk().await.map(|chunk| chunk.expect("the answer must not end well")) {
                    break error;
                }
            };
            assert!(was_reset(&error), "{format}: {error:?}");
            works(&client, format).await;
        }
    }
}

#[tokio::test]
async fn a_stalled_answer_starts_and_then_says_nothing_until_the_sandbox_stops() {
    let client = Client::new(failing(Fault::Stall)).await;
    for format in Format::ALL {
        let mut response = client.send(format, &streamed(format)).await;
        let silent = tokio::time::timeout(Duration::from_millis(100), async {
            while let Ok(Some(_)) = response.chunk().await {}
        });
        assert!(silent.await.is_err(), "{format}");
        works(&client, format).await;
    }
    let mut stalled = client.send(Format::Anthropic, &streamed(Format::Anthropic)).await;
    while stalled.chunk().await.unwrap().is_none() {}
    tokio::time::timeout(Duration::from_secs(5), client.sandbox.shutdown()).await.unwrap();
}

#[tokio::test]
async fn a_truncated_stream_ends_within_the_json_of_an_event() {
    let client = Client::new(failing(Fault::Truncate)).await;
    for format in Format::ALL {
        let text = client.send(format, &streamed(format)).await.text().await.unwrap();
        let last = events(&text).pop().unwrap();
        assert!(last.data.as_str().is_some_and(|data| data.starts_with('{')), "{format}: {last:?}");
        works(&client, format).await;
        let text = client.send(format, &hello(format)).await.text().await.unwrap();
        assert!(serde_json::from_str::<Value>(&text).is_err(), "{format}: {text}");
        works(&client, format).await;
    }
}

#[tokio::test]
async fn an_error_can_come_within_the_stream() {
    let client = Client::new(failing(Fault::StreamError)).await;
    let text = client.send(Format::Anthropic, &streamed(Format::Anthropic)).await.text().await.unwrap();
    let last = events(&text).pop().unwrap();
    assert_eq!(last.name, "error");
    assert_eq!(last.data["error"]["type"], "overloaded_error");
    works(&client, Format::Anthropic).await;
    assert_eq!(client.send(Format::Anthropic, &hello(Format::Anthropic)).await.status(), 500);
}

#[tokio::test]
async fn malformed_arguments_come_once_and_the_good_call_follows() {
    let call = Turn::calls([Call::new("read", json!({"path": "a.txt"}))]).after(Fault::MalformedArguments);
    let client = Client::new(Scenario::new("malformed").turn(call)).await;
    let format = Format::OpenAiChat;
    let mut body = with_tools(format, hello(format), &["read"]);
    let (_, broken) = client.ask(format, &body).await;
    let arguments = |answer: &Value| answer["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"].clone();
    assert!(serde_json::from_str::<Value>(arguments(&broken).as_str().unwrap()).is_err());
    follow(format, &mut body, &broken, "error: the arguments are no JSON");
    let (_, good) = client.ask(format, &body).await;
    assert_eq!(arguments(&good), r#"{"path":"a.txt"}"#);
}

#[tokio::test]
async fn malformed_arguments_show_in_the_deltas_of_anthropic() {
    let call = Turn::calls([Call::new("read", json!({"path": "a.txt"}))]).after(Fault::MalformedArguments);
    let client = Client::new(Scenario::new("malformed").turn(call)).await;
    let body = with_tools(Format::Anthropic, hello(Format::Anthropic), &["read"]);
    let events = client.stream(Format::Anthropic, &body).await;
    let json: String = events.iter().filter_map(|event| event.data["delta"]["partial_json"].as_str()).collect();
    assert!(serde_json::from_str::<Value>(&json).is_err(), "{json}");
}
