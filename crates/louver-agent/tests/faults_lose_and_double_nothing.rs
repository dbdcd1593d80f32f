//! What goes wrong between here and the model, and inside tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver_agent::provider::Category;
use louver_agent::{ApiKey, ExecuteOptions, Stop};
use louver_sandbox::{Call, Fault, Scenario, Turn};
use serde_json::json;
use std::time::Duration;
use world::{Api, World, assert_sound, complete, connection, read};

fn failing(faults: &[Fault]) -> Scenario {
    let turn = |name: &str| Turn::calls([read(name)]).saying(format!("I read {name}."));
    let broken = faults.iter().fold(turn("second"), |turn, fault| turn.after(*fault));
    Scenario::new("failing").turn(turn("first")).turn(broken).turn(complete())
}

async fn survives(fault: Fault) {
    for api in Api::ALL {
        for is_streamed in [true, false] {
            let world = World::new(api, failing(&[fault])).await;
            let mut connection = connection(&world.sandbox.url());
            if fault == Fault::Stall {
                connection.idle_timeout = Duration::from_millis(200);
            }
            let world = World { provider: api.provider(connection, ApiKey::sandbox()), ..world };
            let options = ExecuteOptions { is_streamed, ..world.options() };
            let result = world.execute(&options).await;
            assert_eq!(result.stop, Stop::Completed, "{api:?} {fault:?}: {:?}", result.error);
            assert_eq!(result.tool_calls, 3, "{api:?} {fault:?}");
            assert_sound(api, result.conversation_state.as_ref().unwrap());
            assert_eq!(world.refused(), 0, "{api:?} {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for() {
    survives(Fault::RateLimit { retry_after_seconds: Some(0) }).await;
    survives(Fault::RateLimit { retry_after_seconds: None }).await;
}

#[tokio::test]
async fn server_errors_and_overload_are_tried_again() {
    survives(Fault::ServerError).await;
    survives(Fault::Overloaded).await;
}

#[tokio::test]
async fn a_connection_reset_within_an_answer_is_tried_again() {
    survives(Fault::Reset).await;
}

#[tokio::test]
async fn a_stalled_answer_is_given_up_and_tried_again() {
    survives(Fault::Stall).await;
}

#[tokio::test]
async fn a_truncated_answer_is_tried_again() {
    survives(Fault::Truncate).await;
}

#[tokio::test]
async fn an_error_within_a_stream_is_tried_again() {
    survives(Fault::StreamError).await;
}

#[tokio::test]
async fn malformed_arguments_come_back_as_an_error_the_model_can_act_on() {
    for api in Api::ALL {
        let world = World::new(api, failing(&[Fault::MalformedArguments])).await;
        let result = world.execute(&world.options()).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        let state = result.conversation_state.unwrap();
        assert!(
            state.window().log().messages.iter().any(|message| message.raw().contains("not valid JSON")),
            "{api:?}"
        );
        assert_sound(api, &state);
        assert_eq!(world.refused(), 0);
    }
}

#[tokio::test]
async fn a_tool_that_hangs_is_stopped_and_the_run_goes_on() {
    for api in Api::ALL {
        let hang = Call::new("hang", json!({"path": "x"}));
        let scenario = Scenario::new("hang").turn(Turn::calls([hang, read("y")])).turn(complete());
        let world = World::new(api, scenario).await;
        let options = ExecuteOptions { tool_time_limit: Duration::from_millis(500), ..world.options() };
        let result = world.execute(&options).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        let log = result.conversation_state.unwrap().window().log();
        assert!(log.messages.iter().any(|message| message.raw().contains("did not finish within 500 ms")), "{api:?}");
    }
}

/// A run that ends with an error: its category and status, with state and metrics all the same.
async fn ends_with(faults: &[Fault], category: Category, statuses: [Option<u16>; 3]) {
    for (api, status) in Api::ALL.into_iter().zip(statuses) {
        let world = World::new(api, failing(faults)).await;
        let mut connection = connection(&world.sandbox.url());
        connection.retry.max_retries = 1;
        let world = World { provider: api.provider(connection, ApiKey::sandbox()), ..world };
        let result = world.execute(&world.options()).await;
        let error = result.error.unwrap();
        assert_eq!((result.success, error.category, error.status), (false, category, status), "{api:?}: {error}");
        let expected = if api == Api::Responses { 4 } else { 3 };
        assert_eq!(result.conversation_metrics.message_count, expected, "{api:?}: metrics are there on failure");
        assert!(result.conversation_metrics.estimated_tokens > 0);
        assert_sound(api, result.conversation_state.as_ref().unwrap());
    }
}

#[tokio::test]
async fn a_lasting_rate_limit_ends_the_run_as_one() {
    let limit = Fault::RateLimit { retry_after_seconds: Some(0) };
    ends_with(&[limit, limit], Category::RateLimit, [Some(429); 3]).await;
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_waited_for() {
    let limit = Fault::RateLimit { retry_after_seconds: Some(100_000) };
    ends_with(&[limit], Category::RateLimit, [Some(429); 3]).await;
}

#[tokio::test]
async fn a_lasting_overload_ends_the_run_as_the_providers_failure() {
    ends_with(&[Fault::Overloaded; 2], Category::Api, [Some(529), Some(503), Some(503)]).await;
}

#[tokio::test]
async fn a_lasting_break_ends_the_run_as_the_networks_failure() {
    ends_with(&[Fault::Reset; 2], Category::Network, [None; 3]).await;
}

#[tokio::test]
async fn nobody_listening_is_the_networks_failure() {
    let world = World::new(Api::Chat, failing(&[])).await;
    let mut nowhere = connection("http://127.0.0.1:9");
    nowhere.retry.max_retries = 1;
    let world = World { provider: Api::Chat.provider(nowhere, ApiKey::sandbox()), ..world };
    let result = world.execute(&world.options()).await;
    assert_eq!(result.error.unwrap().category, Category::Network);
    assert_eq!(result.conversation_metrics.message_count, 1);
}

#[tokio::test]
async fn a_cancelled_run_stops_with_a_legal_state() {
    for api in Api::ALL {
        let hang = Call::new("hang", json!({"path": "x"}));
        let scenario = Scenario::new("hang").turn(Turn::calls([read("y"), hang])).turn(complete());
        let world = World::new(api, scenario).await;
        let options = world.options();
        let cancel = options.cancel.clone();
        let events = std::sync::Arc::clone(&world.events);
        let canceller = async move {
            while !events
                .lock()
                .unwrap()
                .iter()
                .any(|event| matches!(event, louver_agent::RunEvent::ToolFinished { .. }))
            {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        };
        let (result, ()) = tokio::join!(world.execute(&options), canceller);
        assert_eq!((result.success, result.stop), (false, Stop::Cancelled));
        assert_sound(api, result.conversation_state.as_ref().unwrap());
    }
}
