//! Proxies, time limits and sizes.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver_agent::ApiKey;
use louver_agent::provider::{Category, Connection, ProxyChoice, Request};
use louver_sandbox::{Fault, Scenario, Turn};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use world::{Api, World, connection};

fn hello() -> String {
    Api::Chat.format().wire().write(louver::wire::Role::User, "Hello.")
}

async fn error_of(connection: Connection, is_streamed: bool) -> louver_agent::provider::ProviderError {
    let provider = Api::Chat.provider(connection, ApiKey::sandbox());
    let message = hello();
    let request = Request { is_streamed, ..Request::new("gpt-5", 100_000, vec![&message]) };
    provider.send(&request, &CancellationToken::new()).await.unwrap_err()
}

#[tokio::test]
async fn requests_go_through_the_proxy_that_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = format!("http://{}", listener.local_addr().unwrap());
    let seen = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 64];
        socket.read_exact(&mut head).await.unwrap();
        socket.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8_lossy(&head).into_owned()
    });
    let connection = Connection { proxy: ProxyChoice::Url(proxy), ..connection("http://provider.invalid") };
    assert_eq!(error_of(connection, false).await.status(), Some(403));
    assert!(seen.await.unwrap().starts_with("POST http://provider.invalid/v1/chat/completions"));
}

#[tokio::test]
async fn tls_has_its_cryptography() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut connection = connection(&format!("https://{}", listener.local_addr().unwrap()));
    connection.retry.max_retries = 0;
    let greeting = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_u8().await.unwrap()
    });
    assert_eq!(error_of(connection, false).await.category(), Category::Network);
    assert_eq!(greeting.await.unwrap(), 0x16, "a handshake was begun");
}

#[tokio::test]
async fn an_answer_that_takes_too_long_is_given_up() {
    let stalled = (0..9).fold(Turn::text("x"), |turn, _| turn.after(Fault::Stall));
    let world = World::new(Api::Chat, Scenario::new("stalled").turn(stalled)).await;
    let mut connection = connection(&world.sandbox.url());
    connection.retry.max_retries = 1;
    connection.idle_timeout = Duration::from_secs(600);
    connection.total_timeout = Duration::from_millis(50);
    for is_streamed in [true, false] {
        let error = error_of(connection.clone(), is_streamed).await;
        assert_eq!((error.category(), error.is_retryable()), (Category::Network, true));
        assert_eq!(error.to_string(), "the answer took more than 50 ms");
    }
    assert_eq!(world.sandbox.journal().len(), 4, "each was tried twice");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    let world = World::new(Api::Chat, Scenario::new("large").turn(Turn::text("x".repeat(5000)))).await;
    let connection = Connection { max_answer_bytes: 1000, ..connection(&world.sandbox.url()) };
    for is_streamed in [true, false] {
        let error = error_of(connection.clone(), is_streamed).await;
        assert_eq!(error.to_string(), "the answer is larger than 1000 bytes");
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let world = World::new(Api::Chat, Scenario::new("stalled").turn(Turn::text("x").after(Fault::Stall))).await;
    let cancel = CancellationToken::new();
    let message = hello();
    let request = Request { is_streamed: true, ..Request::new("gpt-5", 100_000, vec![&message]) };
    let connection = Connection { idle_timeout: Duration::from_secs(600), ..connection(&world.sandbox.url()) };
    let provider = Api::Chat.provider(connection, ApiKey::sandbox());
    let canceller = async {
        while world.sandbox.journal().is_empty() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(provider.send(&request, &cancel), canceller);
    assert!(answer.unwrap_err().is_cancelled());
}

/// Answers one request with a redirect to another address.
async fn redirecting(status: u16, to: &str) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let head = format!("HTTP/1.1 {status} Elsewhere\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_u8().await.unwrap();
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.read_to_end(&mut Vec::new()).await.ok();
    });
    url
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_that_nobody_else_sees_the_key() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = elsewhere.local_addr().unwrap();
        let url = redirecting(status, &format!("http://me:hush@{host}/v1?key=hush")).await;
        let error = tokio::select! {
            error = error_of(connection(&url), status % 2 == 0) => error,
            _ = elsewhere.accept() => panic!("{status} was followed"),
        };
        let expected = format!(
            "the provider answered {status}: it wants the request elsewhere ({host}), which is not done, since the key \
             is not for them; if they are right, make that the base URL"
        );
        assert_eq!((error.to_string(), error.is_retryable()), (expected, false));
    }
}

#[test]
fn a_key_that_anybody_on_the_way_can_read_is_known() {
    let is_exposed = |url: &str| Connection::to(url).is_readable_on_the_way();
    for url in
        ["http://gateway.example/v1", "http://127.0.0.1.example", "http://127.0.0.1@example.org", "HTTP://10.0.0.7"]
    {
        assert!(is_exposed(url), "{url}");
    }
    for url in [
        "https://gateway.example",
        "http://127.0.0.1:8080",
        "http://localhost:1/v1",
        "http://[::1]:1",
        "http://me:pw@127.9.9.9",
    ] {
        assert!(!is_exposed(url), "{url}");
    }
}
