//! A refusal that can be helped is answered by another request before anything of it was shown.

use crate::world::{
    Client, Running, SOON, Step, TestBrain, Ticket, Upstream, ask, config_to, json_answer, sse_answer, with_limits,
};
use bytes::Bytes;
use louver::refusal::{OverflowFigures, Refusal};
use louver_proxy::{AfterRefusal, Decided, Decision, End, Outcome, OwnRefusal, OwnRefusalKind, Tokens};
use std::sync::Arc;
use tokio::sync::Notify;

const OVERFLOW: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 207791 tokens > 200000 maximum"}}"#;
const BOUND: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or …"}}"#;
const ANSWER: &str =
    r#"{"id":"msg_1","model":"m","stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}"#;
const CREATED: &str =
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n";
const FAILED: &str = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"resp_1\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model. Please adjust your input and try again.\"}}}\n\n";
const DELTA: &str =
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n";

/// An attempt with a body of its own.
fn attempt(number: u8, outcome: Outcome) -> Decided<Ticket> {
    Decided {
        body: Some(Bytes::from(format!("{{\"attempt\":{number}}}"))),
        outcome,
        tokens: Some(Tokens { sent: 100 / u64::from(number), held: 100 }),
        holds_leading_events: true,
        ..Decided::passing(Ticket(number))
    }
}

/// Sends smaller attempts as long as it is asked.
fn persistent() -> TestBrain {
    TestBrain::default()
        .deciding(|_| Decision::Send(Decided { holds_leading_events: true, ..Decided::passing(Ticket(1)) }))
        .rescuing(|ticket, _| AfterRefusal::Again(attempt(ticket.0 + 1, Outcome::Rescued)))
}

/// An upstream that answers so the first times and so ever after.
async fn upstream(first: Vec<Vec<Step>>, then: Vec<Step>) -> Upstream {
    Upstream::start(move |number, _| first.get(number).unwrap_or(&then).clone()).await
}

fn figures(input: u64, limit: u64) -> Refusal {
    Refusal::Overflow(OverflowFigures { input_tokens: Some(input), reply_tokens: None, limit_tokens: Some(limit) })
}

#[tokio::test]
async fn an_overflow_is_cut_and_sent_again_and_the_client_sees_the_answer_alone() {
    let upstream = upstream(vec![json_answer(400, OVERFLOW)], json_answer(200, ANSWER)).await;
    let brain = persistent();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let zstd = zstd::encode_all(&b"{\"original\":true}"[..], 3).unwrap();
    let headers = "content-encoding: zstd\r\nx-api-key: k\r\n";
    let answer = ask(proxy.address, "/v1/messages", headers, &zstd).await;
    assert_eq!((answer.status(), answer.text().as_str()), (200, ANSWER));
    assert_eq!(answer.header("x-louver-outcome"), Some("rescued"));
    assert_eq!(answer.header("x-louver-tokens"), Some("~50/~100"));

    let requests = upstream.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!((requests[0].body.as_slice(), requests[0].header("content-encoding")), (zstd.as_slice(), Some("zstd")));
    assert_eq!((requests[1].body.as_slice(), requests[1].header("content-encoding")), (&b"{\"attempt\":2}"[..], None));
    assert_eq!(requests[1].header("content-length"), Some("13"));
    assert_eq!(requests[1].header("x-api-key"), Some("k"));

    assert_eq!(brain.requests()[0].body, "{\"original\":true}");
    let refused = brain.refusals();
    assert_eq!(
        (refused[0].refusal, refused[0].status.as_u16(), refused[0].attempt),
        (figures(207_791, 200_000), 400, 1)
    );
    assert_eq!(brain.shown(), [(Ticket(2), 200)]);
    let ended = brain.ended().await;
    assert_eq!((ended.ticket, ended.answered.outcome, ended.answered.rescues), (Some(Ticket(2)), Outcome::Rescued, 1));
}

#[tokio::test]
async fn two_rescues_are_the_most_and_then_the_refusal_passes_as_it_came() {
    let upstream = Upstream::always(json_answer(400, OVERFLOW)).await;
    let brain = persistent();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.status(), answer.text().as_str()), (400, OVERFLOW));
    assert_eq!(answer.header("x-louver-outcome"), Some("refused"));
    assert_eq!(upstream.count(), 3);
    assert_eq!(brain.refusals().len(), 2);
    assert!(brain.shown().is_empty(), "a refusal shows nothing of a view");
    let ended = brain.ended().await;
    assert_eq!((ended.ticket, ended.answered.outcome, ended.answered.rescues), (Some(Ticket(3)), Outcome::Refused, 2));
}

#[tokio::test]
async fn every_wording_and_every_shape_reaches_the_brain() {
    for (path, status, body) in [
        (
            "/v1/messages",
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        ),
        ("/v1/messages", 413, "<html>413 Request Entity Too Large</html>"),
        ("/v1/messages", 400, r#"{"message":"Input is too long for requested model."}"#),
        ("/v1/messages", 400, r#"{"error":{"type":"x","message":"capability_rejected: prompt_too_long"}}"#),
        (
            "/v1/chat/completions",
            400,
            r#"{"error":{"message":"m","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        ),
        (
            "/v1/chat/completions",
            422,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9,000 tokens."}}"#,
        ),
        (
            "/v1/responses",
            400,
            r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
        ),
        (
            "/v1beta/models/g:generateContent",
            400,
            r#"{"error":{"code":400,"message":"The input token count (1,200,000) exceeds the maximum number of tokens allowed (1,048,576).","status":"INVALID_ARGUMENT"}}"#,
        ),
        (
            "/v1beta/models/g:streamGenerateContent",
            400,
            r#"[{"error":{"code":400,"message":"The input token count (3) exceeds the maximum number of tokens allowed (2).","status":"INVALID_ARGUMENT"}}]"#,
        ),
    ] {
        let upstream = upstream(vec![json_answer(status, body)], json_answer(200, "{}")).await;
        let brain = persistent();
        let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
        assert_eq!(ask(proxy.address, path, "", "{}").await.status(), 200, "{body}");
        assert!(matches!(brain.refusals()[0].refusal, Refusal::Overflow(_)), "{body}");
    }
}

#[tokio::test]
async fn a_refusal_in_a_coding_is_understood_and_passes_in_it() {
    let coded = zstd::encode_all(OVERFLOW.as_bytes(), 3).unwrap();
    let head = format!("HTTP/1.1 400 X\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\n\r\n", coded.len());
    let upstream = Upstream::always(vec![Step::Send([head.as_bytes(), &coded].concat())]).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.body, brain.refusals()[0].refusal), (coded, figures(207_791, 200_000)));
}

#[tokio::test]
async fn bound_thinking_is_told_apart_and_passes_if_the_brain_says_so() {
    let upstream = Upstream::always(json_answer(400, BOUND)).await;
    let brain = TestBrain::default();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.status(), answer.text().as_str()), (400, BOUND));
    assert_eq!(brain.refusals()[0].refusal, Refusal::BoundThinking);
    assert_eq!(brain.ended().await.answered.outcome, Outcome::Refused);
}

#[tokio::test]
async fn other_refusals_are_nobodys_business() {
    for (status, body) in [
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens"}}"#,
        ),
        (401, OVERFLOW),
        (
            429,
            r#"{"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit"}}"#,
        ),
        (500, OVERFLOW),
    ] {
        let upstream = Upstream::always(json_answer(status, body)).await;
        let brain = persistent();
        let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
        let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
        assert_eq!((answer.status(), answer.text().as_str()), (status, body));
        assert!(brain.refusals().is_empty());
        assert_eq!(brain.shown(), [(Ticket(1), status)]);
        assert_eq!(brain.ended().await.answered.outcome, Outcome::Passed);
    }
}

#[tokio::test]
async fn an_overflow_as_the_first_real_event_of_a_stream_is_rescued() {
    let failed = sse_answer(&[CREATED, ": wait\n\n", FAILED]);
    let upstream = upstream(vec![failed], sse_answer(&[CREATED, DELTA])).await;
    let brain = persistent();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/responses", "", "{}").await;
    assert_eq!((answer.status(), answer.text()), (200, format!("{CREATED}{DELTA}")));
    assert_eq!(answer.header("x-louver-outcome"), Some("rescued"));
    assert_eq!(brain.refusals()[0].status.as_u16(), 200);
}

#[tokio::test]
async fn a_stream_that_is_not_held_passes_its_refusal() {
    let upstream = Upstream::always(sse_answer(&[CREATED, FAILED])).await;
    let brain = persistent().deciding(|_| Decision::Send(Decided::passing(Ticket(1))));
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/responses", "", "{}").await;
    assert_eq!(answer.text(), format!("{CREATED}{FAILED}"));
    assert!(brain.refusals().is_empty());
    let said = brain.ended().await.answered.said;
    assert_eq!(said.error.unwrap().code, "context_length_exceeded");
}

#[tokio::test]
async fn a_refusal_that_is_not_helped_passes_with_all_that_was_held() {
    let upstream = Upstream::always(sse_answer(&[CREATED, FAILED])).await;
    let brain = persistent().rescuing(|ticket, _| AfterRefusal::Pass(ticket));
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/responses", "", "{}").await;
    assert_eq!((answer.status(), answer.text()), (200, format!("{CREATED}{FAILED}")));
    assert_eq!(answer.header("x-louver-outcome"), Some("refused"));
}

/// An upstream whose stream stands still behind its leading events until the test says so.
async fn hesitant(go_on: &Arc<Notify>) -> Upstream {
    let go_on = Arc::clone(go_on);
    Upstream::start(move |_, _| {
        let mut steps = sse_answer(&[CREATED, DELTA]);
        steps.insert(2, Step::Wait(Arc::clone(&go_on)));
        steps
    })
    .await
}

#[tokio::test]
async fn held_events_are_let_go_when_their_time_is_over() {
    let go_on = Arc::new(Notify::new());
    let upstream = hesitant(&go_on).await;
    let config = with_limits(config_to(upstream.address), |limits| limits.held = SOON);
    let proxy = Running::start(config, persistent()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/responses", "", "{}").await;
    client.read_until("response.created").await;
    go_on.notify_one();
    assert_eq!(client.answer().await.text(), format!("{CREATED}{DELTA}"));
}

#[tokio::test]
async fn held_events_are_let_go_when_they_are_too_many() {
    let many: Vec<String> = (0..100).map(|number| format!(": comment {number}\n\n")).collect();
    let stop = Arc::new(Notify::new());
    let never = Arc::clone(&stop);
    let events = many.clone();
    let upstream = Upstream::start(move |_, _| {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        let mut steps = sse_answer(&events);
        let last = steps.len() - 1;
        steps.insert(last, Step::Wait(Arc::clone(&never)));
        steps
    })
    .await;
    let config = with_limits(config_to(upstream.address), |limits| limits.max_held_bytes = 500);
    let proxy = Running::start(config, persistent()).await;
    let mut client = Client::connect(proxy.address).await;
    client.post("/v1/responses", "", "{}").await;
    client.read_until("comment 99").await;
    stop.notify_one();
    assert_eq!(client.answer().await.text(), many.concat());
}

#[tokio::test]
async fn an_upstream_that_breaks_while_it_is_held_breaks_for_the_client() {
    let mut steps = sse_answer(&[CREATED]);
    *steps.last_mut().unwrap() = Step::Reset;
    let upstream = Upstream::always(steps).await;
    let brain = persistent();
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/responses", "", "{}").await;
    assert!(answer.is_cut_off);
    assert_eq!(brain.ended().await.answered.end, End::UpstreamFailed);
}

#[tokio::test]
async fn a_refusal_of_a_refusal_too_long_to_read_passes() {
    let body = format!(r#"{{"error":{{"message":"prompt is too long: 3 tokens > 2 maximum {}"}}}}"#, "x".repeat(1000));
    let upstream = Upstream::always(json_answer(400, &body)).await;
    let brain = persistent();
    let config = with_limits(config_to(upstream.address), |limits| limits.max_refusal_bytes = 100);
    let proxy = Running::start(config, brain.clone()).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.text(), body);
    assert!(brain.refusals().is_empty());
}

#[tokio::test]
async fn a_brain_that_panics_at_a_refusal_lets_it_pass() {
    let upstream = Upstream::always(json_answer(400, OVERFLOW)).await;
    let brain = persistent().rescuing(|_, _| panic!("as asked"));
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    assert_eq!(ask(proxy.address, "/v1/messages", "", "{}").await.text(), OVERFLOW);
    let ended = brain.ended().await;
    assert_eq!((ended.ticket, ended.answered.outcome), (None, Outcome::Refused));
}

#[tokio::test]
async fn a_brain_refuses_in_the_providers_shape() {
    let upstream = Upstream::always(json_answer(200, ANSWER)).await;
    let brain = TestBrain::default().deciding(|_| {
        Decision::Refuse(OwnRefusal { kind: OwnRefusalKind::PromptTooLong, message: "it does not fit".to_owned() })
    });
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.status(), answer.header("x-louver-outcome")), (400, Some("refused")));
    assert!(answer.text().contains("capability_rejected: prompt_too_long"), "{}", answer.text());
    assert!(upstream.requests().is_empty());
    assert_eq!(brain.ended().await.answered.end, End::Own);
}

#[tokio::test]
async fn an_answer_that_may_not_be_shown_is_not() {
    let upstream = Upstream::always(json_answer(200, ANSWER)).await;
    let brain = TestBrain::default().showing(|| {
        let kind = OwnRefusalKind::Unavailable { retry_after_seconds: 20 };
        Err(OwnRefusal { kind, message: "the store is away".to_owned() })
    });
    let proxy = Running::start(config_to(upstream.address), brain.clone()).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("20")));
    assert!(!answer.text().contains("msg_1"));
}

#[tokio::test]
async fn conversation_and_tokens_are_said() {
    use louver_proxy::Conversation;
    let upstream = Upstream::always(json_answer(200, ANSWER)).await;
    let brain = TestBrain::default().deciding(|_| {
        let conversation = Some(Conversation { id: "c-2".into(), parent: Some("c-1".into()) });
        Decision::Send(Decided { conversation, ..attempt(1, Outcome::Kept) })
    });
    let proxy = Running::start(config_to(upstream.address), brain).await;
    let answer = ask(proxy.address, "/v1/messages", "", "{}").await;
    let said =
        ["outcome", "conversation", "parent", "tokens"].map(|name| answer.header(&format!("x-louver-{name}")).unwrap());
    assert_eq!(said, ["kept", "c-2", "c-1", "~100/~100"]);
}
