//! Connections and memory are where they were, whatever went wrong. A process of its own: it counts all that it holds.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unused_imports, reason = "the tests of the data path use the rest")]
#[path = "../proxy/world/mod.rs"]
mod world;

use louver_proxy::{Limits, Passing};
use std::io::Write;
use std::net::SocketAddr;
use world::{Client, Running, SOON, Step, Upstream, ask, config_to, eventually, with_limits};

/// Large enough that one that is left behind by each fault cannot be overlooked.
const BODY: usize = 1 << 20;

/// How often each fault happens in a round.
const TIMES: usize = 8;

const ROUNDS: usize = 6;

/// What faults may leave behind: what an allocator keeps for the next time, and no more.
const SLACK: usize = 48 << 20;

fn stream(last: Step) -> Vec<Step> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = format!("data: {}\n\n", "x".repeat(BODY));
    vec![Step::send(head), Step::send(format!("{:x}\r\n{event}\r\n", event.len())), last]
}

/// What the upstream does with the request that has this in its header `x-fault`.
fn answer(fault: &str) -> Vec<Step> {
    match fault {
        "reset" => vec![Step::Reset],
        "half-a-header" => vec![Step::send("HTTP/1.1 200 OK\r\ncontent-ty"), Step::Reset],
        "silent" => vec![Step::Stall],
        "mid-stream" => stream(Step::Reset),
        "stalled-stream" | "client-gone" => stream(Step::Stall),
        "wrong-length" => vec![Step::send("HTTP/1.1 200 OK\r\ncontent-length: 9000000\r\n\r\n{}"), Step::Close],
        _ => world::json_answer(500, "<html>"),
    }
}

const UPSTREAM_FAULTS: [&str; 7] =
    ["reset", "half-a-header", "silent", "mid-stream", "stalled-stream", "wrong-length", "html"];

async fn round(proxy: SocketAddr, bomb: &[u8]) {
    let body = vec![b' '; BODY];
    for fault in UPSTREAM_FAULTS {
        ask(proxy, "/v1/messages", &format!("x-fault: {fault}\r\n"), &body).await;
    }
    assert_eq!(ask(proxy, "/v1/messages", "content-encoding: gzip\r\n", bomb).await.status(), 413);
    let mut gone = Client::connect(proxy).await;
    gone.post("/v1/messages", "x-fault: client-gone\r\n", &body).await;
    gone.read_until("data: x").await;
    drop(gone);
    for is_patient in [false, true] {
        let mut half = Client::connect(proxy).await;
        half.send(format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", 2 * BODY)).await;
        half.send(&body).await;
        if is_patient {
            assert_eq!(half.answer().await.status(), 408);
        }
    }
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test]
async fn faults_leave_nothing_behind() {
    let upstream = Upstream::start(|_, request| answer(request.header("x-fault").unwrap_or_default())).await;
    let config = with_limits(config_to(upstream.address), |limits| {
        *limits = Limits { first_byte: SOON, upstream_idle: SOON, upload_idle: 4 * SOON, ..limits.clone() };
        limits.max_body_bytes = 4 * BODY;
    });
    let proxy = Running::start(config, Passing).await;
    let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    bomb.write_all(&vec![0; 64 << 20]).unwrap();
    let bomb = bomb.finish().unwrap();
    let mut before = None;
    for number in 0..ROUNDS {
        for _ in 0..TIMES {
            round(proxy.address, &bomb).await;
            upstream.forget();
        }
        eventually("connections upstream are given back", || upstream.open() <= 1).await;
        // The first rounds fill what is kept on purpose: a pooled connection, an allocator's reserves.
        if number == 1 {
            before = Some((open_files(), resident_bytes()));
        }
    }
    let (files, bytes) = before.unwrap();
    eventually("every connection is given back", || open_files() <= files).await;
    let grown = resident_bytes().saturating_sub(bytes);
    assert!(grown < SLACK, "{grown} bytes more");
}
