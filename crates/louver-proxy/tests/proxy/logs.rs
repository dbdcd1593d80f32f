//! Logs tell the story and no secret.

use crate::world::{Client, Running, Step, TestBrain, Upstream, ask, config_to, json_answer, sse_answer};
use std::io::Write;
use std::sync::{Arc, Mutex, Once};
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Written {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

const SECRETS: &str = "Authorization: Bearer SECRET-bearer\r\nx-api-key: SECRET-key\r\nx-goog-api-key: SECRET-goog\r\n\
                       api-key: SECRET-azure\r\nChatGPT-Account-ID: SECRET-account\r\nCookie: a=SECRET-cookie\r\n\
                       x-codex-turn-state: SECRET-turn\r\nproxy-authorization: SECRET-proxy\r\n\
                       x-amz-security-token: SECRET-amz\r\n";

/// Everything that is logged, at the finest level, by everybody.
async fn logged(run: impl Future<Output = ()>) -> String {
    // Whether anybody listens is remembered for the whole process. Somebody always does, or another test that ends at the
    // wrong moment makes this one deaf.
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let subscriber =
            tracing_subscriber::fmt().with_writer(std::io::sink).with_max_level(tracing::Level::TRACE).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
    let written = Written::default();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(written.clone())
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    run.await;
    drop(guard);
    written.text()
}

#[tokio::test(flavor = "current_thread")]
async fn no_secret_and_no_content_is_in_any_log() {
    let text = logged(async {
        let failing = r#"{"error":{"code":"c","message":"CONTENT-error"}}"#;
        let events = "event: x\ndata: {\"text\":\"CONTENT-answer\"}\n\n";
        for steps in [
            json_answer(200, r#"{"text":"CONTENT-answer"}"#),
            json_answer(400, failing),
            json_answer(500, failing),
            sse_answer(&[events]),
            vec![Step::Reset],
            vec![Step::send("HTTP/1.1 200 OK\r\nset-cookie: SECRET-set\r\ncontent-length: 5\r\n\r\nx"), Step::Close],
        ] {
            let upstream = Upstream::always(steps).await;
            let brain = TestBrain::default();
            let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
            let path = "/v1beta/models/g:generateContent?key=SECRET-query";
            ask(proxy.address, path, SECRETS, r#"{"contents":"CONTENT-question"}"#).await;
            brain.ended().await;
            ask(proxy.address, "/v1/messages", &format!("{SECRETS}x-louver-token: SECRET-wrong\r\n"), "{}").await;
            let mut client = Client::connect(proxy.address).await;
            client.send(format!("GET /v1beta/files?key=SECRET-query HTTP/1.1\r\nhost: x\r\n{SECRETS}\r\n")).await;
            client.answer().await;
            client.send("GET /louver/?token=SECRET-token HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
            client.answer().await;
        }
        // An address that cannot be reached is not named with its query, either.
        let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let proxy = Running::start(config_to(nobody), TestBrain::default()).await;
        ask(proxy.address, "/v1beta/models/g:generateContent?key=SECRET-query", SECRETS, "{}").await;
    })
    .await;
    assert!(text.contains("louver::request"), "there is a log at all");
    for line in text.lines() {
        assert!(!line.contains("SECRET") && !line.contains("CONTENT"), "{line}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_model_request_is_one_line_that_says_how_it_ended() {
    let text = logged(async {
        let body =
            r#"{"id":"i","model":"claude-x","stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":6}}"#;
        let upstream = Upstream::always(json_answer(200, body)).await;
        let brain = TestBrain::default();
        let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
        ask(proxy.address, "/v1/messages", "", "{}").await;
        brain.ended().await;
    })
    .await;
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("louver::request")).collect();
    assert_eq!(lines.len(), 1);
    for said in [
        "upstream=anthropic",
        "outcome=passed",
        "status=200",
        "end=Whole",
        "claude-x",
        "input_tokens=5",
        "output_tokens=6",
    ] {
        assert!(lines[0].contains(said), "{said}: {}", lines[0]);
    }
}

#[test]
fn what_a_brain_sees_prints_no_secret() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let upstream = Upstream::always(json_answer(200, "{}")).await;
        let brain = TestBrain::default();
        let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
        ask(proxy.address, "/v1/messages", &format!("{SECRETS}x-claude-code-session-id: s\r\n"), "{}").await;
        let request = brain.requests().remove(0);
        assert!(!format!("{request:?}").contains("SECRET"));
        for name in
            ["authorization", "x-api-key", "x-goog-api-key", "chatgpt-account-id", "cookie", "x-codex-turn-state"]
        {
            assert_eq!(request.headers.get(name), None, "{name}");
        }
        assert_eq!(request.headers.get("x-claude-code-session-id"), Some("s"));
        let hashes = [request.headers.credential(&[1; 32]), request.headers.credential(&[2; 32])];
        assert!(hashes[0].is_some() && hashes[0] != hashes[1]);
    });
}
