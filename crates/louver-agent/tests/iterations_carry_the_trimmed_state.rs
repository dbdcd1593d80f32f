//! Tasks 119 and 123: the executor between its iterations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver_agent::{Executor, ExecutorConfig, RunEvent, RunOutcome};
use louver_sandbox::{Call, Scenario, Turn};
use serde_json::json;
use world::{Api, World, assert_sound_log, complete, read};

/// So many iterations of four calls each, each ended by a text, the last by a completed task.
fn iterations(count: usize) -> Scenario {
    let mut scenario = Scenario::new("iterations");
    for iteration in 0..count {
        for call in 0..4 {
            scenario = scenario.turn(Turn::calls([read(&format!("{iteration}/{call}"))]).saying("On with it."));
        }
        scenario = scenario.turn(Turn::text("That is it for now."));
    }
    scenario.turn(complete())
}

fn executor(world: &World, max_messages: usize) -> Executor {
    let mut options = world.options();
    options.window.policy =
        PolicyKind::Messages(MessagesConfig { max_messages, preserve_last_n: 6, ..MessagesConfig::default() });
    Executor::new(world.provider.clone(), world.tools.clone(), ExecutorConfig::new(options))
}

#[tokio::test]
async fn what_is_sent_in_the_next_iteration_is_the_trimmed_view() {
    for api in Api::ALL {
        let world = World::new(api, iterations(6)).await;
        let executor = executor(&world, 12);
        let live = executor.live();
        let summary = executor.run("Do the task.").await.unwrap();
        assert_eq!(summary.outcome, RunOutcome::Completed("All done.".to_owned()), "{api:?}");
        assert_eq!((summary.iterations, summary.tool_calls, summary.turns), (7, 25, 31), "{api:?}");
        assert_eq!(world.refused(), 0);
        let largest = world.sandbox.journal().iter().map(|entry| entry.messages).max().unwrap();
        assert!(largest <= 12 + 6, "{api:?}: {largest}");
        assert_sound_log(api, &summary.log);
        let count = live.borrow().conversation_message_count;
        assert_eq!(count, Some(summary.conversation_metrics.message_count));
        assert_eq!(live.borrow().tool_calls, 25);
        assert_eq!((live.borrow().max_messages, live.borrow().cost), (Some(12), summary.cost));
        assert!(live.borrow().context_window.is_some() && summary.cost.usd() > 0.0, "{api:?}");
    }
}

#[tokio::test]
async fn every_iteration_says_how_long_the_conversation_is() {
    let world = World::new(Api::Chat, iterations(3)).await;
    let summary = executor(&world, 12).run("Do the task.").await.unwrap();
    let lines = world.lines();
    let conversation: Vec<&String> = lines.iter().filter(|line| line.starts_with("Conversation: ")).collect();
    assert_eq!(conversation.len(), summary.iterations);
    let metrics = summary.conversation_metrics;
    let sent = world.sandbox.journal();
    // The system prompt is a message in Chat, and none of the conversation's.
    assert_eq!(metrics.message_count, sent[sent.len() - 1].messages - 1, "the figures are those of the last request");
    let last = format!("Conversation: {} messages (~{} tokens)", metrics.message_count, metrics.estimated_tokens);
    assert_eq!(*conversation[conversation.len() - 1], last);
    let warning = format!("Conversation approaching limit ({}/12 messages)", metrics.message_count);
    assert!(lines.contains(&warning), "{lines:?}");
}

#[tokio::test]
async fn the_warning_starts_at_eighty_percent_of_the_cap() {
    // What the last answer was given to: one prompt, four calls with their results, nine messages.
    for (cap, is_near) in [(11, true), (12, false)] {
        let scenario =
            (0..4).fold(Scenario::new("x"), |scenario, n| scenario.turn(Turn::calls([read(&n.to_string())])));
        let world = World::new(Api::Chat, scenario.turn(Turn::text("Done."))).await;
        let mut options = world.options();
        options.window.policy = PolicyKind::Messages(MessagesConfig { max_messages: cap, ..MessagesConfig::default() });
        let mut config = ExecutorConfig::new(options);
        config.max_iterations = 1;
        let summary = Executor::new(world.provider.clone(), world.tools.clone(), config).run("Go.").await.unwrap();
        assert_eq!((summary.outcome, summary.conversation_metrics.message_count), (RunOutcome::OutOfIterations, 9));
        let events = world.events.lock().unwrap();
        assert_eq!(events.iter().any(|event| matches!(event, RunEvent::ApproachingLimit { .. })), is_near, "{cap}");
    }
}

#[tokio::test]
async fn a_blocked_task_ends_the_run_with_its_reason() {
    for api in Api::ALL {
        let blocked = Turn::calls([Call::new("task_blocked", json!({"summary": "No access."}))]);
        let world = World::new(api, Scenario::new("blocked").turn(blocked)).await;
        let summary = executor(&world, 12).run("Do the task.").await.unwrap();
        assert_eq!(summary.outcome, RunOutcome::Blocked("No access.".to_owned()));
    }
}

#[tokio::test]
async fn files_that_were_written_are_named_once() {
    let write = |path: &str| Turn::calls([Call::new("write_file", json!({"path": path}))]);
    let scenario = Scenario::new("files").turn(write("a")).turn(write("b")).turn(write("a")).turn(complete());
    let world = World::new(Api::Anthropic, scenario).await;
    let summary = executor(&world, 0).run("Do the task.").await.unwrap();
    assert_eq!(summary.files_changed, ["a", "b"].map(std::path::PathBuf::from));
}

#[tokio::test]
async fn a_bad_key_ends_the_run_as_an_auth_failure() {
    for api in Api::ALL {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "bad-key").unwrap();
        let world = World::new(api, complete_only()).await;
        let key = louver_agent::ApiKey::from_file(file.path()).unwrap();
        let provider = api.provider(world::connection(&world.sandbox.url()), key);
        let summary = executor(&World { provider, ..world }, 12).run("Do the task.").await.unwrap();
        let RunOutcome::Failed(error) = summary.outcome else { panic!("{:?}", summary.outcome) };
        assert_eq!((error.category, error.status), (louver_agent::provider::Category::Auth, Some(401)));
    }
}

fn complete_only() -> Scenario {
    Scenario::new("complete").turn(complete())
}
