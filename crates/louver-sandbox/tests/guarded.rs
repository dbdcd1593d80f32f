//! Who may take the sandbox's time: not a client that never finishes, and not a page of another host.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;

use std::time::Duration;

use client::{Client, hello};
use louver_sandbox::{Fault, Format, Limits, Sandbox, Scenario, Turn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD: &str = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nx-api-key: k\r\nanthropic-version: 2023-06-01\r\n";

async fn client(read_timeout: Duration) -> Client {
    let limits = Limits { read_timeout, ..Limits::default() };
    Client::with(Sandbox::builder().scenario(Scenario::named("echo").unwrap()).limits(limits)).await
}

async fn send(client: &Client, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(client.sandbox.addr()).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Everything that comes until the other side ends it.
async fn read(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset is an end, too.
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn bodies_that_never_arrive_take_nobodys_place() {
    let client = client(Duration::from_secs(600)).await;
    let mut halves = Vec::new();
    for _ in 0..300 {
        halves.push(send(&client, &format!("{HEAD}content-length: 1000\r\n\r\n{{\"model\"")).await);
    }
    assert_eq!(client.ask(Format::Anthropic, &hello(Format::Anthropic)).await.0, 200);
    drop(halves);
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_refused() {
    let client = client(Duration::from_millis(50)).await;
    let half = send(&client, &format!("{HEAD}connection: close\r\ncontent-length: 1000\r\n\r\n{{\"model\"")).await;
    let answer = read(half).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("Request timed out"), "{answer}");
    assert_eq!(client.sandbox.journal()[0].status, 408);
}

#[tokio::test]
async fn a_head_that_does_not_arrive_in_time_ends_the_connection() {
    let client = client(Duration::from_millis(50)).await;
    for start in ["", "POST /v1/messages HTTP/1.1\r\nx-api-key: k\r\n"] {
        assert_eq!(read(send(&client, start).await).await, "");
    }
    // A second request of the same connection has as little time.
    let mut kept = send(&client, "GET /_sandbox/journal HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
    let mut answer = [0; 12];
    kept.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
    kept.write_all(b"GET /_sandbox").await.unwrap();
    assert!(!read(kept).await.contains("HTTP/1.1"));
}

#[tokio::test]
async fn an_answer_may_take_longer_than_its_request() {
    let limits = Limits { read_timeout: Duration::from_millis(50), ..Limits::default() };
    let scenario = Scenario::new("stall").turn(Turn::text("never").after(Fault::Stall));
    let client = Client::with(Sandbox::builder().scenario(scenario).limits(limits)).await;
    let mut body = hello(Format::Anthropic);
    body["stream"] = true.into();
    let mut stalled = client.send(Format::Anthropic, &body).await;
    assert!(stalled.chunk().await.unwrap().is_some());
    // Many times the limit: it goes on saying nothing instead of ending.
    let silent = tokio::time::timeout(Duration::from_millis(500), async {
        while stalled.chunk().await.is_ok_and(|c| c.is_some()) {}
    });
    assert!(silent.await.is_err());
}

#[tokio::test]
async fn a_request_for_another_host_is_refused() {
    let client = client(Duration::from_secs(600)).await;
    for (host, status) in [("evil.example", 403), ("127.0.0.1:1", 200), ("localhost", 200), ("[::1]:9", 200)] {
        let bytes = format!("GET /_sandbox/journal HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = read(send(&client, &bytes).await).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}: {answer}");
    }
}
