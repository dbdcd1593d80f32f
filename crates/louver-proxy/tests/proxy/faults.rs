//! Whatever goes wrong on either side: the right outcome, nothing hangs, and connections are given back.

use crate::world::{
    Client, RawRequest, Running, SOON, Step, TestBrain, Upstream, ask, config_to, eventually, json_answer, sse_answer,
    with_limits,
};
use louver_proxy::{End, Outcome, Passing};
use std::sync::Arc;
use tokio::sync::Notify;

const EVENT: &str =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n";
const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

/// An upstream that does this to every model request and answers everything else.
async fn faulty(steps: Vec<Step>) -> Upstream {
    Upstream::start(
        move |_, request: &RawRequest| {
            if request.line().starts_with("POST") { steps.clone() } else { json_answer(200, "{}") }
        },
    )
    .await
}

/// Status, outcome and end of a request to such an upstream, and whether the answer was cut off.
async fn run(steps: Vec<Step>) -> (u16, Outcome, End, bool) {
    let upstream = faulty(steps).await;
    let brain = TestBrain::default();
    let config = with_limits(config_to(upstream.address), |limits| {
        limits.first_byte = SOON;
        limits.upstream_idle = SOON;
        limits.max_connections = 1;
    });
    let proxy = Running::start(config, brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    let ended = brain.ended().await;
    assert_eq!(ended.answered.status.map(|status| status.as_u16()), Some(answer.status()).filter(|status| *status > 0));
    // The only connection that there may be has been given back, and the next request is served.
    let mut next = Client::connect(proxy.address).await;
    next.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(next.answer().await.status(), 200);
    drop(next);
    eventually("connections upstream are given back", || upstream.open() <= 1).await;
    (answer.status(), ended.answered.outcome, ended.answered.end, answer.is_cut_off)
}

#[tokio::test]
async fn an_upstream_that_breaks_before_the_first_byte_is_a_502() {
    assert_eq!(run(vec![Step::Reset]).await, (502, Outcome::Passed, End::UpstreamFailed, false));
    assert_eq!(run(vec![Step::Close]).await, (502, Outcome::Passed, End::UpstreamFailed, false));
}

#[tokio::test]
async fn half_a_header_is_a_502() {
    let half = || Step::send("HTTP/1.1 200 OK\r\ncontent-ty");
    assert_eq!(run(vec![half(), Step::Close]).await, (502, Outcome::Passed, End::UpstreamFailed, false));
    assert_eq!(run(vec![half(), Step::Reset]).await, (502, Outcome::Passed, End::UpstreamFailed, false));
    assert_eq!(run(vec![half(), Step::Stall]).await, (504, Outcome::Passed, End::UpstreamFailed, false));
    assert_eq!(
        run(vec![Step::send("not http at all\r\n\r\n")]).await,
        (502, Outcome::Passed, End::UpstreamFailed, false)
    );
}

#[tokio::test]
async fn an_upstream_that_says_nothing_is_a_504() {
    assert_eq!(run(vec![Step::Stall]).await, (504, Outcome::Passed, End::UpstreamFailed, false));
}

#[tokio::test]
async fn a_stream_that_breaks_is_never_ended_as_if_it_were_whole() {
    let first = || vec![Step::send(STREAM_HEAD), Step::send(format!("{:x}\r\n{EVENT}\r\n", EVENT.len()))];
    for last in [Step::Reset, Step::Close, Step::Stall] {
        let steps = first().into_iter().chain([last]).collect();
        assert_eq!(run(steps).await, (200, Outcome::Passed, End::UpstreamFailed, true));
    }
    // Within the first byte of the body, and with nothing but a head.
    assert_eq!(
        run(vec![Step::send(STREAM_HEAD), Step::Reset]).await,
        (200, Outcome::Passed, End::UpstreamFailed, true)
    );
}

#[tokio::test]
async fn a_length_that_is_wrong_cuts_the_answer_off() {
    let short = vec![Step::send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{}"), Step::Close];
    assert_eq!(run(short).await, (200, Outcome::Passed, End::UpstreamFailed, true));
    // What is too much is not part of the answer, and the connection is not used again.
    let long = vec![Step::send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}and more"), Step::Close];
    assert_eq!(run(long).await, (200, Outcome::Passed, End::Whole, false));
}

#[tokio::test]
async fn errors_and_pages_of_upstreams_pass_as_they_are() {
    for (status, kind, body) in [
        (500, "application/json", r#"{"type":"error","error":{"type":"api_error","message":"m"}}"#),
        (529, "application/json", r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#),
        (502, "text/html", "<html><h1>502 Bad Gateway</h1></html>"),
        (400, "text/html", "<html>no</html>"),
        (301, "text/plain", "moved"),
    ] {
        let head = format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nretry-after: 7\r\nlocation: http://127.0.0.1:1/\r\nx-should-retry: true\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let upstream = Upstream::always(vec![Step::send(head.clone() + body)]).await;
        let brain = TestBrain::default();
        let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
        let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
        assert_eq!(format!("{}\r\n\r\n{}", answer.passing_head(), answer.text()), head + body);
        assert_eq!(brain.ended().await.answered.outcome, Outcome::Passed);
        assert_eq!(upstream.requests().len(), 1, "nothing is followed and nothing is tried again");
    }
}

#[tokio::test]
async fn an_upstream_that_cannot_be_reached_is_a_502_and_nothing_was_sent() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(nobody), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.status(), answer.header("x-louver-outcome")), (502, Some("none")));
    assert!(answer.text().contains("the upstream anthropic cannot be reached"), "{}", answer.text());
    let ended = brain.ended().await.answered;
    assert_eq!((ended.outcome, ended.end), (Outcome::None, End::UpstreamFailed));
}

#[tokio::test]
async fn a_pooled_connection_that_died_is_replaced_once() {
    // The second request on the first connection finds it dead without a byte.
    let upstream = Upstream::start(|number, _| match number {
        1 => vec![Step::Reset],
        _ => json_answer(200, "{}"),
    })
    .await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    for _ in 0..2 {
        assert_eq!(ask(proxy.address, "/v1/messages", "", "{\"a\":1}").await.status(), 200);
    }
    let requests = upstream.requests();
    let connections: Vec<usize> = requests.iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 0, 1]);
    assert!(requests.iter().all(|request| request.body == b"{\"a\":1}"));
    assert_eq!(brain.all_ended(2).await[1].answered.outcome, Outcome::Passed);
}

#[tokio::test]
async fn a_connection_that_died_with_a_byte_or_dies_again_is_not_replaced() {
    for second in [vec![Step::send("HTTP/1.1 2"), Step::Reset], vec![Step::Reset]] {
        let upstream = Upstream::start(move |number, _| match number {
            0 => json_answer(200, "{}"),
            _ => second.clone(),
        })
        .await;
        let proxy = Running::start(config_to(upstream.address), Passing).await;
        assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 200);
        assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 502);
        assert!(upstream.requests().len() <= 3);
    }
    // A new connection that dies says something about the upstream, not about the pool.
    let upstream = Upstream::always(vec![Step::Reset]).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 502);
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_client_that_goes_before_the_answer_takes_the_upstream_with_it() {
    let upstream = Upstream::always(vec![Step::Stall]).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    eventually("the upstream has the request", || upstream.requests().len() == 1).await;
    drop(client);
    eventually("the upstream is let go", || upstream.open() == 0).await;
    let ended = brain.ended().await;
    assert_eq!((ended.answered.end, ended.answered.status), (End::ClientGone, None));
    assert!(ended.ticket.is_some());
}

#[tokio::test]
async fn a_client_that_goes_mid_stream_takes_the_upstream_with_it() {
    let never = Arc::new(Notify::new());
    let steps =
        vec![Step::send(STREAM_HEAD), Step::send(format!("{:x}\r\n{EVENT}\r\n", EVENT.len())), Step::Wait(never)];
    let upstream = Upstream::always(steps).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/messages", "", "{}").await;
    client.read_until("message_start").await;
    drop(client);
    eventually("the upstream is let go", || upstream.open() == 0).await;
    let ended = brain.ended().await.answered;
    assert_eq!((ended.end, ended.status.map(|status| status.as_u16())), (End::ClientGone, Some(200)));
    assert_eq!(ended.said.usage.unwrap().input_tokens, 3, "what was read counts");
}

#[tokio::test]
async fn a_client_that_goes_mid_upload_sends_nothing() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let mut client = Client::connect(proxy.address).await;
    client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{\"half\":").await;
    drop(client);
    let ended = brain.ended().await;
    assert_eq!((ended.answered.outcome, ended.ticket), (Outcome::None, None));
    assert_eq!((upstream.requests().len(), brain.requests().len()), (0, 0));
}

#[tokio::test]
async fn a_client_that_goes_mid_upload_of_what_passes_takes_the_upstream_with_it() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    for length in ["content-length: 100", "transfer-encoding: chunked"] {
        let accepted = upstream.accepted();
        let mut client = Client::connect(proxy.address).await;
        client.send(format!("POST /v1/files HTTP/1.1\r\nhost: x\r\n{length}\r\n\r\n5\r\nhalf:\r\n")).await;
        eventually("the upload is on its way", || upstream.accepted() > accepted && upstream.open() == 1).await;
        drop(client);
        eventually("the upstream is let go", || upstream.open() == 0).await;
    }
    assert!(upstream.requests().is_empty(), "half an upload is never ended as if it were whole");
}

#[tokio::test]
async fn an_upstream_that_answers_before_it_has_read_the_body_is_believed() {
    let early = "HTTP/1.1 429 X\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = config_to(listener.local_addr().unwrap());
    let proxy = Running::start(config, Passing).await;
    let server = tokio::spawn(async move {
        use tokio::io::AsyncWriteExt;
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(early.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let (mut read, mut sink) = (stream, tokio::io::sink());
        let _ = tokio::io::copy(&mut read, &mut sink).await;
    });
    let answer = ask(proxy.address, "/v1/messages", "", vec![b' '; 4 << 20]).await;
    assert_eq!(answer.status(), 429);
    drop(proxy);
    server.abort();
}

/// Two readings of where a request ends would let one client put words into another's mouth.
#[tokio::test]
async fn a_request_with_two_lengths_is_one_request_or_none() {
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let proxy = Running::start(config_to(upstream.address), Passing).await;
    let hidden = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-hidden: 1\r\ncontent-length: 2\r\n\r\n{}";
    for lengths in [
        "content-length: 5\r\ntransfer-encoding: chunked",
        "content-length: 5\r\ncontent-length: 6",
        "transfer-encoding: identity, chunked\r\ncontent-length: 5",
        "transfer-encoding: chunked, identity",
        "transfer-encoding : chunked\r\ncontent-length: 5",
        "content-length: +5",
    ] {
        let mut client = Client::connect(proxy.address).await;
        let request = format!("POST /v1/files HTTP/1.1\r\nhost: x\r\n{lengths}\r\n\r\n0\r\n\r\n{hidden}");
        client.send(request).await;
        client.answer().await;
        drop(client);
    }
    for request in upstream.requests() {
        let lengths = ["content-length", "transfer-encoding"].map(|name| request.header(name).is_some());
        assert!(lengths != [true, true], "{}", request.head);
        assert!(!String::from_utf8_lossy(&request.body).contains("x-hidden"), "{}", request.head);
    }
}

#[tokio::test]
async fn a_panic_of_the_brain_is_a_503_and_the_next_request_is_served() {
    use louver_proxy::{Decided, Decision};
    let upstream = Upstream::always(json_answer(200, "{}")).await;
    let brain = TestBrain::default().deciding(|request| {
        assert!(!request.body.ends_with(b"panic"), "as asked");
        Decision::Send(Decided::passing(crate::world::Ticket(1)))
    });
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "panic").await;
    assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("20")));
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.status(), 200);
    let ended = brain.all_ended(2).await;
    assert_eq!((ended[0].answered.outcome, ended[0].answered.end), (Outcome::None, End::Own));
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_hundred_streams_that_end_in_every_way_leave_nothing_behind() {
    let upstream = Upstream::start(|number, _| {
        let mut steps = vec![Step::send(STREAM_HEAD), Step::send(format!("{:x}\r\n{EVENT}\r\n", EVENT.len()))];
        match number % 4 {
            0 => return sse_answer(&[EVENT]),
            1 => steps.push(Step::Reset),
            2 => steps.push(Step::Close),
            _ => steps.push(Step::Stall),
        }
        steps
    })
    .await;
    let brain = TestBrain::default();
    let config = with_limits(config_to(upstream.address), |limits| limits.upstream_idle = SOON);
    let proxy = Running::start(config, brain.clone()).await;
    let address = proxy.address;
    let asked = (0..100).map(|number| async move {
        let mut client = Client::connect(address).await;
        client.post("/v1/messages", "", "{}").await;
        if number % 3 == 0 {
            client.read_until("message_start").await;
        } else {
            client.answer().await;
        }
    });
    futures_util::future::join_all(asked).await;
    brain.all_ended(100).await;
    proxy.stop().await;
    eventually("no connection is left", || upstream.open() == 0).await;
}
