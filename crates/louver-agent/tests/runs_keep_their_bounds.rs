//! Money, turns, replies and silence.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::catalog::Cost;
use louver_agent::provider::Category;
use louver_agent::{ExecuteOptions, Executor, ExecutorConfig, RunEvent, RunOutcome, Stop, execute};
use louver_sandbox::{Call, Scenario, Turn};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use world::{Api, World, assert_sound, complete, connection, steps, tools};

#[tokio::test]
async fn a_run_stops_before_it_costs_more_than_it_may() {
    for api in Api::ALL {
        let world = World::new(api, steps(120)).await;
        let unbounded = world.execute(&world.options()).await;
        assert_eq!(unbounded.stop, Stop::Completed);
        let world = World::new(api, steps(120)).await;
        let max_cost = Cost::from_usd(unbounded.cost.usd() / 2.0);
        let options = ExecuteOptions { max_cost, ..world.options() };
        let executor =
            Executor::new(Arc::clone(&world.provider), Arc::clone(&world.tools), ExecutorConfig::new(options));
        let summary = executor.run("Do the task.").await.unwrap();
        assert_eq!(summary.outcome, RunOutcome::OutOfBudget, "{api:?}");
        assert!(summary.turns > 3 && Some(summary.cost) <= max_cost, "{api:?}: {:?} of {max_cost:?}", summary.cost);
        let lines = world.lines();
        assert!(lines.iter().any(|line| line.starts_with("the next call may cost up to $")), "{api:?}: {lines:?}");
    }
}

#[tokio::test]
async fn a_run_that_goes_on_has_no_more_money_than_before() {
    let world = World::new(Api::Anthropic, steps(120)).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.state");
    let options = ExecuteOptions { max_cost: Cost::from_usd(0.1), ..world.options() };
    let config = ExecutorConfig { state_file: Some(path.clone()), ..ExecutorConfig::new(options) };
    let executor = || Executor::new(Arc::clone(&world.provider), Arc::clone(&world.tools), config.clone());
    let first = executor().run("Do the task.").await.unwrap();
    assert_eq!(first.outcome, RunOutcome::OutOfBudget);
    let asked = world.statuses().len();
    let again = executor().resume(&path).await.unwrap();
    assert_eq!((again.outcome, again.cost), (RunOutcome::OutOfBudget, first.cost));
    assert_eq!(world.statuses().len(), asked, "it asked although its money was spent");
}

#[tokio::test]
async fn a_run_that_cannot_afford_one_call_makes_none() {
    let world = World::new(Api::Anthropic, steps(2)).await;
    let options = ExecuteOptions { max_cost: Cost::from_usd(0.000_001), ..world.options() };
    let result = world.execute(&options).await;
    assert_eq!((result.stop, result.turns, world.statuses().len()), (Stop::OutOfBudget, 0, 0));
}

#[tokio::test]
async fn an_iteration_has_so_many_turns() {
    let world = World::new(Api::Chat, steps(9)).await;
    let options = ExecuteOptions { max_turns: 4, ..world.options() };
    let result = world.execute(&options).await;
    assert_eq!((result.stop, result.turns), (Stop::TurnLimit, 4));
}

#[tokio::test]
async fn no_reply_is_asked_for_that_the_model_cannot_write() {
    assert_eq!(ExecuteOptions::new("claude-sonnet-4-5").max_tokens, 8192);
    assert_eq!(ExecuteOptions::most_reply("gpt-4", 8192), 4096);
}

#[tokio::test]
async fn a_call_that_the_end_of_a_reply_cut_short_is_not_run() {
    // Within the arguments, and right behind the name, where nobody sees that arguments are missing.
    for (max_tokens, is_streamed) in [(30, true), (30, false), (16, true), (16, false)] {
        for api in Api::ALL {
            let call = Call::new("slow", json!({"path": "y".repeat(400)}));
            let cut = Turn::calls([call]).saying("x".repeat(4 * 15));
            let world = World::new(api, Scenario::new("cut").turn(cut).turn(complete())).await;
            let options = ExecuteOptions { max_tokens, is_streamed, ..world.options() };
            let result = world.execute(&options).await;
            let what = format!("{api:?}, {max_tokens} tokens, streamed: {is_streamed}");
            assert_eq!((result.stop, world.refused()), (Stop::Completed, 0), "{what}: {:?}", result.error);
            let events = world.events.lock().unwrap();
            let is_run = |event: &RunEvent| matches!(event, RunEvent::ToolStarted { name, .. } if name == "slow");
            assert!(!events.iter().any(is_run), "{what}: {events:?}");
            let said: Vec<String> = events.iter().filter_map(RunEvent::message).collect();
            let warning = "slow was not run: the reply was full before the arguments were whole (execution.max_tokens \
                           bounds a reply)";
            assert!(said.iter().any(|line| line == warning), "{what}: {said:?}");
            let log = result.conversation_state.as_ref().unwrap().window().log();
            assert!(log.messages.iter().any(|told| told.raw().contains("call it again with less at once")), "{what}");
            assert_sound(api, result.conversation_state.as_ref().unwrap());
        }
    }
}

#[tokio::test]
async fn a_silent_provider_fails_in_the_time_it_is_given() {
    for api in Api::ALL {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let connection = connection(&format!("http://{}", listener.local_addr().unwrap()));
        let connection = connection.with_max_silence(Duration::from_millis(300));
        let knocks = tokio::spawn(async move {
            let mut sockets = Vec::new();
            while let Ok((socket, _)) = listener.accept().await {
                sockets.push(socket);
                if sockets.len() > 2 {
                    break;
                }
            }
        });
        let provider = api.provider(connection, louver_agent::ApiKey::sandbox());
        let options = ExecuteOptions::new(api.model());
        let result = execute(&provider, &Arc::new(tools()), Some("Do the task."), &options, None).await;
        let error = result.error.unwrap();
        assert_eq!(error.category, Category::Network, "{api:?}");
        assert!(error.message.starts_with("the provider said nothing for "), "{api:?}: {error}");
        assert!(!knocks.is_finished(), "{api:?}: it was asked twice, not once per retry");
        knocks.abort();
    }
}
