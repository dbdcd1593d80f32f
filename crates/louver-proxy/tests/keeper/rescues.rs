//! Refusals of the provider that are helped.

use crate::desk::{Cut, Desk, small, well};
use crate::talk::{Talk, prose};
use crate::world::{RawRequest, Step, json_answer, sse_answer};
use louver::Format;
use louver_proxy::{KeeperSettings, ViewRecord};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const BOUND: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation."}}"#;

/// What a provider says of an input of so many bytes that is too long.
type Wording = fn(usize) -> String;

/// A provider takes so many bytes.
const MAX_BYTES: usize = 100_000;

fn patient() -> KeeperSettings {
    KeeperSettings { store_wait: Duration::from_secs(5), ..KeeperSettings::default() }
}

/// A desk whose upstream takes no more than [`MAX_BYTES`], and how often it refused.
async fn strict(settings: KeeperSettings, wording: Wording) -> (Desk, Arc<AtomicUsize>) {
    let refusals = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&refusals);
    let desk = Desk::with(settings, move |_, request| {
        if request.body.len() <= MAX_BYTES {
            return well(request);
        }
        counted.fetch_add(1, Ordering::SeqCst);
        json_answer(400, &wording(request.body.len()))
    })
    .await;
    (desk, refusals)
}

const WORDINGS: [(Format, Wording); 6] = [
    (Format::Anthropic, |bytes| {
        let tokens = bytes / 4;
        format!(
            r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"prompt is too long: {tokens} tokens > 25000 maximum"}}}}"#
        )
    }),
    (Format::Anthropic, |_| r#"{"message":"Input is too long for requested model."}"#.to_owned()),
    (Format::OpenAiChat, |bytes| {
        let tokens = bytes / 4;
        format!(
            r#"{{"error":{{"message":"This model's maximum context length is 25000 tokens. However, your messages resulted in {tokens} tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}}}"#
        )
    }),
    (Format::OpenAiChat, |_| {
        r#"{"error":{"message":"the request is greater than the context length","code":400}}"#.to_owned()
    }),
    (Format::OpenAiResponses, |_| {
        r#"{"error":{"message":"Your input exceeds the context window of this model. Please adjust your input and try again.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}"#.to_owned()
    }),
    (Format::Gemini, |bytes| {
        let tokens = bytes / 4;
        format!(
            r#"{{"error":{{"code":400,"message":"The input token count ({tokens}) exceeds the maximum number of tokens allowed (25000).","status":"INVALID_ARGUMENT"}}}}"#
        )
    }),
];

#[tokio::test]
async fn an_overflow_is_cut_and_learned_whatever_the_wording() {
    for (format, wording) in WORDINGS {
        let (desk, refusals) = strict(patient(), wording).await;
        let mut talk = Talk::new(format).turns(20);
        let asked = loop {
            talk.turn();
            let asked = desk.ask(&talk).await;
            assert_eq!(asked.answer.status(), 200, "{}", asked.answer.text());
            if asked.outcome() != "passed" {
                break asked;
            }
        };
        let said = wording(0);
        assert_eq!((asked.outcome(), asked.sent.len()), ("rescued", 2), "{said}");
        similar_start(&asked.sent[0], &talk);
        let cut = Cut::of(&talk, &asked);
        talk.turn();
        cut.holds(&talk, &desk.ask(&talk).await);
        let mut outcomes = Vec::new();
        for _ in 0..40 {
            talk.turn();
            let asked = desk.ask(&talk).await;
            assert_eq!(asked.answer.status(), 200);
            outcomes.push(asked.outcome().to_owned());
        }
        assert!(outcomes.iter().any(|outcome| outcome == "cut"), "{said}: {outcomes:?}");
        assert!(refusals.load(Ordering::SeqCst) <= 1, "{said}: {outcomes:?}");
    }
}

/// The first attempt was what the client sent.
#[track_caller]
fn similar_start(first: &RawRequest, talk: &Talk) {
    crate::desk::similar(std::str::from_utf8(&first.body).unwrap(), &talk.body());
}

#[tokio::test]
async fn the_next_conversation_knows_the_limit() {
    let (desk, refusals) = strict(patient(), WORDINGS[0].1).await;
    let mut talk = Talk::new(Format::Anthropic).turns(40);
    assert_eq!(desk.ask(&talk).await.outcome(), "rescued");
    talk.messages[0] = talk.user("Another task.");
    assert_eq!(desk.ask(&talk).await.outcome(), "cut");
    assert_eq!(refusals.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_limit_of_input_and_reply_is_learned_for_both() {
    let (desk, refusals) = strict(patient(), |bytes| {
        let tokens = bytes / 4;
        format!(
            r#"{{"type":"error","error":{{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: {tokens} + 32000 > 57000, decrease input length or `max_tokens` and try again"}}}}"#
        )
    })
    .await;
    let mut talk = Talk { max_tokens: 32_000, ..Talk::new(Format::Anthropic) }.turns(30);
    assert_eq!(desk.ask(&talk).await.outcome(), "rescued");
    for _ in 0..30 {
        talk.turn();
        assert_eq!(desk.ask(&talk).await.answer.status(), 200);
    }
    assert_eq!(refusals.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_overflow_inside_a_stream_is_rescued() {
    const CREATED: &str =
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n";
    const FAILED: &str = "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":{\"id\":\"resp_1\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
    const DELTA: &str =
        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n";
    let desk = Desk::with(patient(), |_, request| {
        let second = if request.body.len() > MAX_BYTES { FAILED } else { DELTA };
        sse_answer(&[CREATED, second])
    })
    .await;
    // Nothing is known of this model, so that the beginning of every stream is held.
    let talk = Talk::new(Format::OpenAiResponses).of_model("mystery-1").turns(40);
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.outcome(), asked.sent.len()), ("rescued", 2));
    assert_eq!(asked.answer.text(), format!("{CREATED}{DELTA}"));
}

#[tokio::test]
async fn bound_thinking_is_left_out_after_a_cut() {
    let desk = Desk::with(small(), |_, request| {
        let is_bound = memchr::memmem::find(&request.body, b"It is bound.").is_some()
            && memchr::memmem::find(&request.body, b"\"thinking\"").is_some();
        if is_bound { json_answer(400, BOUND) } else { well(request) }
    })
    .await;
    let mut talk = Talk::thinking();
    desk.until_cut(&mut talk).await;
    talk.turn();
    talk.messages.push(talk.user("It is bound."));
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (200, "rescued", 2));
    assert!(!asked.body().contains(r#""type":"thinking""#));
    let kept: Vec<String> = asked.messages(talk.format);
    talk.messages.push(r#"{"role":"assistant","content":[{"type":"text","text":"Yes."}]}"#.to_owned());
    talk.messages.push(talk.user("Good."));
    let again = desk.ask(&talk).await;
    assert_eq!((again.outcome(), again.sent.len()), ("kept", 1));
    assert_eq!(again.messages(talk.format)[..kept.len()], kept[..]);
    // Also where the client has written the end anew.
    talk.messages.truncate(talk.messages.len() - 3);
    talk.messages.push(talk.user("It is bound. Or is it?"));
    let again = desk.ask(&talk).await;
    assert_eq!((again.outcome(), again.sent.len()), ("kept", 1));
    assert!(!again.body().contains(r#""type":"thinking""#));
}

#[tokio::test]
async fn bound_thinking_in_a_conversation_that_was_never_cut_is_not_ours() {
    let desk = Desk::with(small(), |_, _| json_answer(400, BOUND)).await;
    let talk = Talk::thinking().turns(3);
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (400, "refused", 1));
    assert_eq!(asked.answer.text(), BOUND);
}

/// An upstream that refuses the first attempt of every request.
fn capricious(number: &AtomicUsize, request: &RawRequest) -> Vec<Step> {
    match number.fetch_add(1, Ordering::SeqCst) % 2 {
        0 => json_answer(400, r#"{"message":"Input is too long for requested model."}"#),
        _ => well(request),
    }
}

#[tokio::test]
async fn three_rescues_in_a_row_are_enough() {
    let number = AtomicUsize::new(0);
    let mut desk = Desk::with(patient(), move |_, request| capricious(&number, request)).await;
    let mut talk = Talk::new(Format::Anthropic).turns(60);
    for _ in 0..3 {
        talk.messages.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
        talk.messages.push(talk.user("Go on."));
        let asked = desk.ask(&talk).await;
        assert_eq!((asked.outcome(), asked.sent.len()), ("rescued", 2));
    }
    talk.messages.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
    talk.messages.push(talk.user("Go on."));
    let asked = desk.ask(&talk).await;
    assert_eq!((asked.answer.status(), asked.outcome(), asked.sent.len()), (400, "refused", 1));
    // That is a record: whoever comes later leaves it alone, too, and sends the same.
    let view = asked.messages(talk.format);
    desk.reopen().await;
    for _ in 0..3 {
        talk.messages.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
        talk.messages.push(talk.user(&prose(3, 3_000)));
        let asked = desk.ask(&talk).await;
        assert_eq!((asked.sent.len(), &asked.messages(talk.format)[..view.len()]), (1, &view[..]));
        assert!(matches!(asked.outcome(), "kept" | "refused"), "{}", asked.outcome());
    }
    let last = desk.decisions(&talk).await.pop().unwrap();
    assert!(ViewRecord::parse(&last.decision.record).unwrap().is_left_alone);
}

#[tokio::test]
async fn one_rescue_that_is_taken_over_again_and_again_is_one() {
    let (desk, _) = strict(patient(), |bytes| {
        // A provider that becomes stricter.
        let limit = if bytes > 200_000 { 45_000 } else { 25_000 };
        format!(r#"{{"error":{{"message":"prompt is too long: {} tokens > {limit} maximum"}}}}"#, bytes / 4)
    })
    .await;
    let mut talk = Talk::new(Format::Anthropic).turns(40);
    assert_eq!(desk.ask(&talk).await.outcome(), "rescued");
    for turn in 0..5 {
        let last = talk.messages.len() - 1;
        talk.messages[last] = talk.user(&format!("Never mind. {turn}"));
        talk.messages.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
        talk.messages.push(talk.user(&format!("Go on. {turn}")));
        assert_eq!(desk.ask(&talk).await.outcome(), "kept");
    }
    talk.messages.push(r#"{"role":"assistant","content":"Done."}"#.to_owned());
    talk.messages.push(talk.user(&prose(5, 9_000)));
    let asked = desk.ask(&talk).await;
    assert_eq!(asked.answer.status(), 200, "{}", asked.answer.text());
}

#[tokio::test]
async fn nothing_is_cut_of_an_unknown_model_until_it_refuses() {
    let (desk, refusals) = strict(patient(), WORDINGS[0].1).await;
    let mut talk = Talk::new(Format::Anthropic).of_model("mystery-1");
    let mut outcomes = Vec::new();
    for _ in 0..50 {
        talk.turn();
        let asked = desk.ask(&talk).await;
        assert_eq!(asked.answer.status(), 200);
        outcomes.push(asked.outcome().to_owned());
    }
    let first = outcomes.iter().position(|outcome| outcome != "passed").unwrap();
    assert_eq!(outcomes[first], "rescued");
    assert!(outcomes[first + 1..].iter().all(|outcome| outcome == "kept" || outcome == "cut"), "{outcomes:?}");
    assert_eq!(refusals.load(Ordering::SeqCst), 1);
}
