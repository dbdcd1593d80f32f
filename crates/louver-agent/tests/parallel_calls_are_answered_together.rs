//! All results of one answer go back at once, in the order of the calls.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::wire::PartKind;
use louver_sandbox::{Call, Scenario, Turn};
use serde_json::json;
use std::sync::atomic::Ordering;
use world::{Api, MOST_RUNNING, World, assert_sound, complete, read};

#[tokio::test]
async fn results_keep_the_order_of_their_calls() {
    for api in Api::ALL {
        let slow = Call::new("slow", json!({"path": "first"}));
        let scenario =
            Scenario::new("parallel").turn(Turn::calls([slow, read("second"), read("third")])).turn(complete());
        let world = World::new(api, scenario).await;
        let result = world.execute(&world.options()).await;
        let state = result.conversation_state.unwrap();
        assert_sound(api, &state);
        let log = state.window().log();
        let results: Vec<String> = log
            .messages
            .iter()
            .flat_map(|message| {
                message.shape().parts_of(PartKind::ToolResult).map(|part| message.text_of(part).into_owned())
            })
            .collect();
        assert_eq!(results[..3], ["slow first", "read_file second", "read_file third"], "{api:?}");
        let calls = log.messages.iter().filter(|message| message.shape().has(PartKind::ToolCall)).count();
        let expected = if api == Api::Responses { 4 } else { 2 };
        assert_eq!(calls, expected, "{api:?}: the answer is appended once");
        assert_eq!(world.refused(), 0);
    }
}

#[tokio::test]
async fn calls_of_one_answer_run_at_the_same_time() {
    let slow = |n: usize| Call::new("slow", json!({"path": n.to_string()}));
    let scenario = Scenario::new("parallel").turn(Turn::calls((0..6).map(slow))).turn(complete());
    let world = World::new(Api::Chat, scenario).await;
    let result = world.execute(&world.options()).await;
    assert!(result.success);
    assert!(MOST_RUNNING.load(Ordering::SeqCst) >= 6);
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_the_names_there_are() {
    for api in Api::ALL {
        let unknown = Turn::calls([Call::new("fly", json!({}))]);
        let scenario = Scenario::new("unknown").tools(louver_sandbox::Tools::AsWritten).turn(unknown).turn(complete());
        let world = World::new(api, scenario).await;
        let result = world.execute(&world.options()).await;
        let state = result.conversation_state.unwrap();
        assert!(
            state.window().log().messages.iter().any(|message| message.raw().contains("there is no tool")),
            "{api:?}"
        );
        assert_sound(api, &state);
    }
}
