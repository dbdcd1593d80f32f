//! Streaming changes nothing about what is in the log, and where a stream is cut changes nothing about its events.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::sse::{SseEvent, SseParser};
use louver_agent::ExecuteOptions;
use louver_agent::provider::Request;
use louver_sandbox::{Scenario, Turn};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use world::{Api, World, complete, read};

fn talkative() -> Scenario {
    let said = "Grüße: \"quoted\", a\\b, tab\t, 日本語, and then some more words to fill several deltas.";
    Scenario::new("talkative")
        .turn(Turn::calls([read("a/ü.txt"), read("b")]).saying(said).thinking("What is in a? ".repeat(9)))
        .turn(Turn::calls([read("c")]))
        .turn(complete())
}

/// A log as values, without what differs from answer to answer.
async fn log_of(api: Api, is_streamed: bool) -> Vec<Value> {
    let world = World::new(api, talkative()).await;
    let mut options = ExecuteOptions { is_streamed, ..world.options() };
    if api == Api::Anthropic {
        options.extra.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": 1024}));
    }
    let result = world.execute(&options).await;
    assert!(result.success, "{api:?}: {:?}", result.error);
    assert_eq!(world.refused(), 0);
    let log = result.conversation_state.unwrap().window().log();
    let mut messages: Vec<Value> =
        log.messages.iter().map(|message| serde_json::from_str(message.raw()).unwrap()).collect();
    if api == Api::Chat {
        // An answer in one piece also says that nothing is noted and nothing refused.
        messages.iter_mut().filter_map(Value::as_object_mut).for_each(|message| {
            message.remove("annotations");
            message.remove("refusal");
        });
    }
    messages
}

#[tokio::test]
async fn the_log_is_the_same_streamed_or_not() {
    for api in Api::ALL {
        assert_eq!(log_of(api, true).await, log_of(api, false).await, "{api:?}");
    }
}

#[tokio::test]
async fn tokens_can_be_counted() {
    for api in Api::ALL {
        let world = World::new(api, talkative()).await;
        let message = api.format().wire().write(louver::wire::Role::User, "How many tokens are these?");
        let tools = world.tools.definitions();
        let request = Request { tools: &tools, ..Request::new(api.model(), 100, vec![&message]) };
        let tokens = world.provider.count_tokens(&request, &CancellationToken::new()).await.unwrap();
        assert!((20..1000).contains(&tokens), "{api:?}: {tokens}");
    }
}

fn all_at_once(bytes: &[u8]) -> Vec<SseEvent> {
    SseParser::default().push(bytes)
}

proptest! {
    #[test]
    fn a_stream_cut_anywhere_gives_the_same_events(
        lines in prop::collection::vec(
            prop_oneof![
                Just(String::new()),
                Just(": comment".to_owned()),
                "(event|data|id|retry):? ?[a-zé\\{\\}:\" ]{0,12}",
            ],
            0..40,
        ),
        ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r"]), 40),
        cuts in prop::collection::vec(0.0..1.0f64, 0..12),
    ) {
        let text: String = lines.iter().zip(ends.iter().cycle()).map(|(line, end)| format!("{line}{end}")).collect();
        let bytes = text.as_bytes();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place to cut")]
        let mut places: Vec<usize> = cuts.iter().map(|share| (share * bytes.len() as f64) as usize).collect();
        places.extend([0, bytes.len()]);
        places.sort_unstable();
        let mut parser = SseParser::default();
        let events: Vec<SseEvent> = places.windows(2).flat_map(|pair| parser.push(&bytes[pair[0]..pair[1]])).collect();
        prop_assert_eq!(events, all_at_once(bytes));
    }
}

#[test]
fn every_single_cut_of_a_real_stream_gives_the_same_events() {
    let stream = "\u{feff}event: message_start\r\ndata: {\"type\":\"message_start\"}\r\n\r\n: ping\n\ndata: a\ndata: bü\n\nid: 1\ndata:x\r\rdata: [DONE]\n\n";
    let whole = all_at_once(stream.as_bytes());
    assert_eq!(
        whole.iter().map(|event| event.data.as_str()).collect::<Vec<_>>(),
        ["{\"type\":\"message_start\"}", "a\nbü", "x", "[DONE]"]
    );
    for cut in 0..=stream.len() {
        let mut parser = SseParser::default();
        let mut events = parser.push(&stream.as_bytes()[..cut]);
        events.extend(parser.push(&stream.as_bytes()[cut..]));
        assert_eq!(events, whole, "cut at {cut}");
    }
}
