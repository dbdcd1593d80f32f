//! Everything has a limit, and every limit is reached here.

use crate::world::{
    Client, Running, SOON, Step, TestBrain, Upstream, ask, config_to, eventually, json_answer, with_limits,
};
use louver_proxy::{Outcome, Passing};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;

const SMALL: usize = 10_000;

async fn small() -> (Upstream, TestBrain, Running) {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let brain = TestBrain::default();
    let config = with_limits(config_to(upstream.address), |limits| limits.max_body_bytes = SMALL);
    let proxy = Running::start(config, brain.clone()).await;
    (upstream, brain, proxy)
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_a_413_in_each_providers_shape() {
    let (upstream, brain, proxy) = small().await;
    let body = vec![b' '; SMALL + 1];
    for (path, expected) in [
        (
            "/v1/messages",
            r#"{"error":{"message":"louver: the request is larger than 10000 bytes","type":"request_too_large"},"type":"error"}"#,
        ),
        (
            "/v1/chat/completions",
            r#"{"error":{"code":null,"message":"louver: the request is larger than 10000 bytes","param":null,"type":"invalid_request_error"}}"#,
        ),
        (
            "/v1/responses",
            r#"{"error":{"code":null,"message":"louver: the request is larger than 10000 bytes","param":null,"type":"invalid_request_error"}}"#,
        ),
        (
            "/v1beta/models/g:generateContent",
            r#"{"error":{"code":413,"message":"louver: the request is larger than 10000 bytes","status":"INVALID_ARGUMENT"}}"#,
        ),
    ] {
        let answer = ask(proxy.address, path, "", &body).await;
        assert_eq!((answer.status(), answer.text().as_str()), (413, expected));
        assert_eq!(answer.header("x-louver-outcome"), Some("none"));
    }
    assert!(
        brain.all_ended(4).await.iter().all(|ended| ended.answered.outcome == Outcome::None && ended.ticket.is_none())
    );
    assert!(upstream.requests().is_empty());
    assert_eq!(ask(proxy.address, "/v1/messages", "", &body[1..]).await.status(), 200);
}

#[tokio::test]
async fn a_body_of_unknown_length_ends_at_the_limit() {
    let (upstream, _, proxy) = small().await;
    let mut client = Client::connect(proxy.address).await;
    client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n").await;
    let piece = format!("{:x}\r\n{}\r\n", SMALL / 2, " ".repeat(SMALL / 2));
    for _ in 0..3 {
        client.send(&piece).await;
    }
    assert_eq!(client.answer().await.status(), 413);
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn bombs_in_every_coding_end_at_the_limit() {
    let (upstream, brain, proxy) = small().await;
    let text = vec![b' '; 50 * SMALL];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&text).unwrap();
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    deflate.write_all(&text).unwrap();
    let mut brotli = Vec::new();
    brotli::BrotliCompress(&mut &text[..], &mut brotli, &brotli::enc::BrotliEncoderParams::default()).unwrap();
    for (coding, coded) in [
        ("gzip", gzip.finish().unwrap()),
        ("deflate", deflate.finish().unwrap()),
        ("br", brotli),
        ("zstd", zstd::encode_all(&text[..], 3).unwrap()),
    ] {
        assert!(coded.len() < SMALL);
        let answer = ask(proxy.address, "/v1/messages", &format!("content-encoding: {coding}\r\n"), &coded).await;
        assert_eq!(answer.status(), 413, "{coding}");
    }
    assert!(upstream.requests().is_empty() && brain.requests().is_empty());
}

#[tokio::test]
async fn codings_of_requests_are_undone_for_the_brain_and_kept_on_the_way() {
    let (upstream, brain, proxy) = small().await;
    let text = br#"{"messages":[]}"#;
    let coded = zstd::encode_all(&text[..], 3).unwrap();
    ask(proxy.address, "/v1/responses", "content-encoding: zstd\r\n", &coded).await;
    let request = &upstream.requests()[0];
    assert_eq!((request.body.as_slice(), request.header("content-encoding")), (coded.as_slice(), Some("zstd")));
    assert_eq!(brain.requests()[0].body, &text[..]);
}

#[tokio::test]
async fn a_body_that_nobody_can_decode_passes_as_it_is() {
    let (upstream, brain, proxy) = small().await;
    for (coding, body) in [("gzip", &b"this is no gzip"[..]), ("compress", b"unheard of"), ("gzip, br", b"twice")] {
        let answer = ask(proxy.address, "/v1/messages", &format!("content-encoding: {coding}\r\n"), body).await;
        assert_eq!((answer.status(), answer.header("x-louver-outcome")), (200, Some("passed")), "{coding}");
        assert_eq!(upstream.requests().last().unwrap().body, body);
    }
    assert!(brain.requests().is_empty());
}

#[tokio::test]
async fn a_slow_upload_is_a_408() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    for total in [SOON, Duration::from_secs(60)] {
        let brain = TestBrain::default();
        let config = with_limits(config_to(upstream.address), |limits| {
            limits.upload_idle = if total == SOON { Duration::from_secs(60) } else { SOON };
            limits.upload_total = total;
        });
        let proxy = Running::start(config, brain.clone()).await;
        let mut client = Client::connect(proxy.address).await;
        client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{").await;
        assert_eq!(client.answer().await.status(), 408);
        assert_eq!(brain.ended().await.answered.outcome, Outcome::None);
    }
    // What passes as it comes has the same limit.
    let config = with_limits(config_to(upstream.address), |limits| limits.upload_idle = SOON);
    let proxy = Running::start(config, Passing).await;
    let mut client = Client::connect(proxy.address).await;
    client.send("POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{").await;
    assert_eq!(client.answer().await.status(), 408);
    eventually("the upstream is let go", || upstream.open() == 0).await;
    assert!(upstream.requests().is_empty());
}

#[tokio::test]
async fn a_silent_client_is_let_go() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let config = with_limits(config_to(upstream.address), |limits| {
        limits.client_idle = SOON;
        limits.max_connections = 1;
    });
    let proxy = Running::start(config, Passing).await;
    let mut half = Client::connect(proxy.address).await;
    half.send("POST /v1/mess").await;
    assert!(half.answer().await.is_cut_off, "within a head");
    let mut idle = Client::connect(proxy.address).await;
    idle.post("/v1/messages", "", "{}").await;
    assert_eq!(idle.answer().await.status(), 200);
    assert!(idle.answer().await.is_cut_off, "between requests");
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let upstream = Upstream::start(move |number, _| {
        let mut steps = json_answer(200, "{}");
        if number == 0 {
            steps.insert(0, Step::Wait(Arc::clone(&waiting)));
        }
        steps
    })
    .await;
    let config = with_limits(config_to(upstream.address), |limits| limits.max_connections = 1);
    let proxy = Running::start(config, Passing).await;
    let mut first = Client::connect(proxy.address).await;
    first.post("/v1/messages", "", "{}").await;
    eventually("the first is on its way", || upstream.requests().len() == 1).await;
    let mut second = Client::connect(proxy.address).await;
    second.post("/v1/messages", "", "{}").await;
    go_on.notify_one();
    assert_eq!(first.answer().await.status(), 200);
    assert_eq!(upstream.requests().len(), 1, "the second waits as long as the first is there");
    drop(first);
    assert_eq!(second.answer().await.status(), 200);
}

#[tokio::test]
async fn bodies_share_their_room() {
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let upstream = Upstream::start(move |number, _| {
        let mut steps = json_answer(200, "{}");
        if number == 0 {
            steps.insert(0, Step::Wait(Arc::clone(&waiting)));
        }
        steps
    })
    .await;
    let config = with_limits(config_to(upstream.address), |limits| {
        limits.max_buffered_bytes = 64 << 10;
        limits.upload_idle = SOON;
    });
    let proxy = Running::start(config, Passing).await;
    let body = vec![b' '; 40 << 10];
    let mut first = Client::connect(proxy.address).await;
    first.post("/v1/messages", "", &body).await;
    eventually("the first is on its way", || upstream.requests().len() == 1).await;
    let second = ask(proxy.address, "/v1/messages", "", &body).await;
    assert_eq!((second.status(), second.header("retry-after")), (503, Some("20")));
    go_on.notify_one();
    assert_eq!(first.answer().await.status(), 200);
    assert_eq!(ask(proxy.address, "/v1/messages", "", &body).await.status(), 200, "the room was given back");
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_let_go() {
    let piece = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let mut steps = vec![Step::send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")];
    steps.extend((0..64).map(|_| Step::send(&piece)));
    steps.push(Step::Stall);
    let upstream = Upstream::always(steps).await;
    let brain = TestBrain::default();
    let config = with_limits(config_to(upstream.address), |limits| limits.client_stall = SOON);
    let proxy = Running::start(config, brain.clone()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    let ended = brain.ended().await;
    assert_eq!(ended.answered.end, louver_proxy::End::ClientGone);
    eventually("the upstream is let go", || upstream.open() == 0).await;
    drop(client);
}

#[tokio::test]
async fn connecting_has_its_time() {
    // Takes connections into its backlog and never answers TLS.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let config = with_limits(crate::world::config_to_url(&url), |limits| limits.connect = SOON);
    let proxy = Running::start(config, Passing).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 502);
}
