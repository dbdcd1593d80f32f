//! A request that needs nothing goes out as it came, and the answer comes back as it is.

use crate::world::{Answer, Client, Relay, Running, Step, TestBrain, Ticket, Upstream, ask, config_to, json_answer};
use louver::Format;
use louver_proxy::{End, Outcome, Passing};
use louver_sandbox::{Sandbox, Scenario, Turn};
use serde_json::json;

struct Case {
    format: Format,
    path: &'static str,
    body: serde_json::Value,
}

fn cases() -> Vec<Case> {
    let said = json!([{"role": "user", "content": "What is in the box?"}]);
    let contents = json!([{"role": "user", "parts": [{"text": "What is in the box?"}]}]);
    let mut cases = Vec::new();
    for stream in [false, true] {
        let anthropic = json!({"model": "claude-sonnet-4-5", "max_tokens": 512, "stream": stream, "messages": said});
        let chat =
            json!({"model": "gpt-5", "stream": stream, "stream_options": {"include_usage": true}, "messages": said});
        let chat_whole = json!({"model": "gpt-5", "messages": said});
        let responses = json!({"model": "gpt-5", "stream": stream, "input": said});
        let gemini = if stream {
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=abc"
        } else {
            "/v1beta/models/gemini-2.5-pro:generateContent?key=abc"
        };
        cases.push(Case { format: Format::Anthropic, path: "/v1/messages?beta=true", body: anthropic });
        let chat = if stream { chat } else { chat_whole };
        cases.push(Case { format: Format::OpenAiChat, path: "/v1/chat/completions", body: chat });
        cases.push(Case { format: Format::OpenAiResponses, path: "/v1/responses", body: responses });
        cases.push(Case { format: Format::Gemini, path: gemini, body: json!({"contents": contents}) });
    }
    cases
}

/// Odd spellings, a repeated name, values with commas and spaces, and one that nobody knows.
const HEADERS: &str = "Authorization: Bearer sk-1\r\nx-api-key: sk-1\r\nANTHROPIC-version: 2023-06-01\r\n\
                       anthropic-beta: b-2, a-1\r\nX-Stainless-Lang: js\r\nanthropic-beta: c-3\r\nX-Never-Heard-Of:  it \r\n\
                       traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\nAccept: */*\r\n";

fn without_host(head: &str) -> Vec<String> {
    let is_host = |line: &&str| line.to_ascii_lowercase().starts_with("host:");
    head.split("\r\n").filter(|line| !is_host(line)).map(str::to_owned).collect()
}

#[tokio::test]
async fn all_four_formats_pass_byte_for_byte_streamed_and_whole() {
    let scenario = Scenario::new("box").turn(Turn::text("A cat, \"alive\" \\ dead: 猫. ".repeat(40)));
    for Case { format, path, body } in cases() {
        let sandbox = Sandbox::builder().scenario(scenario.clone()).start("127.0.0.1:0").await.unwrap();
        let relay = Relay::to(sandbox.addr()).await;
        let brain = TestBrain::default();
        let proxy = Running::start(config_to(relay.address), brain.clone()).await;

        // White space and key order as a serialiser would not write them.
        let body = body.to_string().replacen('{', "{  ", 1) + "\n";
        let mut client = Client::connect(proxy.address).await;
        client.post(path, HEADERS, &body).await;
        let answer = client.answer().await;
        assert_eq!(answer.status(), 200, "{format}: {}", answer.text());

        let (up, down) = relay.take();
        let up = String::from_utf8(up).unwrap();
        let (head, sent_body) = up.split_once("\r\n\r\n").unwrap();
        let came = format!(
            "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\n{HEADERS}content-length: {}",
            body.len()
        );
        // Optional white space around a value is not part of it.
        let came = came.replace("  it \r\n", " it\r\n");
        let mut expected = without_host(&came);
        let mut sent = without_host(head);
        // Repeated headers stand together; their order among themselves is kept.
        expected.sort();
        sent.sort();
        assert_eq!(sent, expected, "{format}");
        assert_eq!(sent_body, body, "{format}");

        let from_upstream = Answer::of_bytes(down).await;
        assert_eq!(answer.passing_head(), from_upstream.passing_head(), "{format}");
        assert_eq!(answer.text(), from_upstream.text(), "{format}");
        assert_eq!(answer.header("x-louver-outcome"), Some("passed"));

        let ended = brain.ended().await;
        assert_eq!(ended.ticket, Some(Ticket(1)));
        assert_eq!((ended.answered.outcome, ended.answered.end), (Outcome::Passed, End::Whole), "{format}");
        let usage = ended.answered.said.usage.unwrap();
        let journal = sandbox.journal();
        assert_eq!(usage.prompt_tokens(), journal[0].input_tokens, "{format}");
        assert!(usage.output_tokens > 0 && !ended.answered.said.is_doubtful, "{format}: {:?}", ended.answered.said);
        assert!(ended.answered.said.model.is_some() && ended.answered.said.stop_reason.is_some(), "{format}");
        assert!(ended.answered.said.request_id.is_some(), "{format}");
    }
}

#[tokio::test]
async fn order_and_spelling_of_headers_stay() {
    let upstream = Upstream::start(|_, _| {
        vec![Step::send("HTTP/1.1 200 Fine By Me\r\nX-B: 1\r\nx-a: 2\r\nX-b: 3\r\nContent-Length: 2\r\nZ: \r\n\r\n{}")]
    })
    .await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    let mut client = Client::connect(proxy.address).await;
    client
        .send(
            "GET /v1/models?limit=1000 HTTP/1.1\r\nZ-Last: z\r\nhOsT: x\r\nA-First: a\r\nanthropic-version: 1\r\n\r\n",
        )
        .await;
    let answer = client.answer().await;
    assert_eq!(answer.head, "HTTP/1.1 200 Fine By Me\r\nX-B: 1\r\nX-b: 3\r\nx-a: 2\r\nContent-Length: 2\r\nZ: ");
    let sent = &upstream.requests()[0].head;
    let expected = ["GET /v1/models?limit=1000 HTTP/1.1", "Z-Last: z", "A-First: a", "anthropic-version: 1"];
    assert_eq!(without_host(sent), expected);
    assert!(sent.to_ascii_lowercase().contains(&format!("host: {}", upstream.address)));
}

#[tokio::test]
async fn frames_of_a_stream_come_as_they_are_sent() {
    let go_on = std::sync::Arc::new(tokio::sync::Notify::new());
    let between = std::sync::Arc::clone(&go_on);
    let upstream = Upstream::start(move |_, _| {
        vec![
            Step::send("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"),
            Step::send("6\r\ndata: \r\n"),
            Step::Wait(std::sync::Arc::clone(&between)),
            Step::send("4\r\n{}\n\n\r\n0\r\n\r\n"),
        ]
    })
    .await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    // Half an event has arrived while the upstream waits.
    client.read_until("data: ").await;
    go_on.notify_one();
    assert_eq!(client.answer().await.text(), "data: {}\n\n");
}

#[tokio::test]
async fn unknown_paths_methods_and_bodies_pass() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    for (line, expected) in [
        ("HEAD /api/hello HTTP/1.1", "HEAD /api/hello HTTP/1.1"),
        ("PATCH /v1/files/f%2F1?x=%20y&x HTTP/1.1", "PATCH /v1/files/f%2F1?x=%20y&x HTTP/1.1"),
        ("FROBNICATE /v1/new/thing HTTP/1.1", "FROBNICATE /v1/new/thing HTTP/1.1"),
        ("GET /up/gemini/v1beta/models HTTP/1.1", "GET /v1beta/models HTTP/1.1"),
    ] {
        let mut client = Client::connect(proxy.address).await;
        client.send(format!("{line}\r\nhost: x\r\n\r\n")).await;
        client.read_until("\r\n\r\n").await;
        assert_eq!(upstream.requests().last().unwrap().line(), expected);
    }
    let mut client = Client::connect(proxy.address).await;
    let chunked = "POST /v1/files HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    client.send(chunked).await;
    assert_eq!(client.answer().await.status(), 200);
    let request = upstream.requests().pop().unwrap();
    assert!(request.body.windows(5).any(|window| window == b"hello"), "{request:?}");
}

#[tokio::test]
async fn an_upstream_has_its_own_beginning_of_the_path() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let config = crate::world::config_to_url(&format!("http://{}/gateway/llm/", upstream.address));
    let proxy = Running::start(config, Passing).await;
    ask(proxy.address, "/v1/messages?beta=true", "", "{}").await;
    ask(proxy.address, "/v1/responses", "ChatGPT-Account-ID: a\r\n", "{}").await;
    let lines: Vec<String> = upstream.requests().iter().map(|request| request.line().to_owned()).collect();
    assert_eq!(lines, ["POST /gateway/llm/v1/messages?beta=true HTTP/1.1", "POST /gateway/llm/responses HTTP/1.1"]);
}

#[tokio::test]
async fn codings_of_answers_pass_and_are_read_all_the_same() {
    let body = br#"{"id":"msg_1","model":"m","stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":6}}"#;
    let coded = zstd::encode_all(&body[..], 3).unwrap();
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\n\r\n",
        coded.len()
    )
    .into_bytes();
    answer.extend_from_slice(&coded);
    let upstream = Upstream::always(vec![Step::Send(answer)]).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let got = ask(proxy.address, "/v1/messages", "Accept-Encoding: gzip, deflate, br, zstd\r\n", "{}").await;
    assert_eq!(got.body, coded);
    assert_eq!(got.header("content-encoding"), Some("zstd"));
    assert_eq!(upstream.requests()[0].header("accept-encoding"), Some("gzip, deflate, br, zstd"));
    assert_eq!(brain.ended().await.answered.said.usage.unwrap().output_tokens, 6);
}

#[tokio::test]
async fn a_request_over_http2_is_the_same_request() {
    let upstream = Upstream::always(json_answer(200, r#"{"id":"1"}"#)).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
    let io = hyper_util::rt::TokioIo::new(stream);
    let executor = hyper_util::rt::TokioExecutor::new();
    let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
    tokio::spawn(connection);
    let request = http::Request::post(format!("http://{}/v1/messages", proxy.address))
        .header("anthropic-version", "2023-06-01")
        .body(http_body_util::Full::new(bytes::Bytes::from_static(b"{\"a\":1}")))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    assert_eq!(answer.headers()["x-louver-outcome"], "passed");
    let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
    assert_eq!(body, r#"{"id":"1"}"#);
    assert_eq!(upstream.requests()[0].body, b"{\"a\":1}");
    assert_eq!(brain.ended().await.answered.outcome, Outcome::Passed);
}
