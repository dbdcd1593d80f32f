//! Thinking behind a cut, on models that differ in what they demand of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver_agent::{CondenseTiming, Stop};
use louver_sandbox::{Scenario, Task, Turn};
use serde_json::{Value, json};
use world::{Api, World, complete, read};

fn thoughtful() -> Scenario {
    let tools = vec!["read_file".into(), "write_file".into()];
    Scenario::task(&Task { calls: 60, thinking: true, tools, ..Task::default() })
}

async fn completes(api: Api, model: &str, field: &str, value: Value, summaries: &[bool]) {
    for &summarize_on_trim in summaries {
        let world = World::new(api, thoughtful()).await;
        let mut options = world.options();
        model.clone_into(&mut options.model);
        options.extra.insert(field.to_owned(), value.clone());
        options.window.policy = PolicyKind::Messages(MessagesConfig {
            max_messages: 30,
            preserve_last_n: 10,
            summarize_on_trim,
            ..MessagesConfig::default()
        });
        options.condense.timing = CondenseTiming::Immediate;
        let result = world.execute(&options).await;
        assert_eq!(result.stop, Stop::Completed, "{model}: {:?}", result.error);
        assert_eq!(world.refused(), 0, "{model}");
        let log = result.conversation_state.unwrap().window().log();
        let thoughts = log.messages.iter().filter(|message| message.shape().has(louver::wire::PartKind::Thinking));
        assert!(thoughts.count() > 30, "{model}: there was thinking");
    }
}

#[tokio::test]
async fn a_model_whose_open_turn_must_start_with_thinking_gets_it() {
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    completes(Api::Anthropic, "claude-sonnet-4-5", "thinking", thinking, &[false, true]).await;
}

#[tokio::test]
async fn a_model_that_thinks_once_a_turn_keeps_what_it_thought_until_the_turn_is_over() {
    let step =
        |n: usize| Turn::calls([read(&format!("src/{n}.rs"))]).saying(format!("Step {n} follows from the plan."));
    let first = step(0).thinking("Everything is to be read.");
    let scenario = (1..40).map(step).fold(Scenario::new("once").turn(first), Scenario::turn).turn(complete());
    for summarize_on_trim in [false, true] {
        let world = World::new(Api::Anthropic, scenario.clone()).await;
        let mut options = world.options();
        options.extra.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": 1024}));
        options.window.policy = PolicyKind::Messages(MessagesConfig {
            max_messages: 30,
            preserve_last_n: 10,
            summarize_on_trim,
            ..MessagesConfig::default()
        });
        options.condense.timing = CondenseTiming::Immediate;
        let result = world.execute(&options).await;
        assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
        assert_eq!(world.refused(), 0);
        let warnings = world.lines().iter().filter(|line| line.starts_with("thinking is off")).count();
        assert_eq!(warnings, 0, "the answer that opens the turn stays: {:?}", world.lines());
    }
}

#[tokio::test]
async fn a_model_that_binds_thinking_to_its_prefix_refuses_nothing() {
    completes(Api::Anthropic, "claude-sonnet-5-5", "thinking", json!({"type": "adaptive"}), &[false, true]).await;
}

#[tokio::test]
async fn reasoning_items_stay_with_what_follows_them() {
    completes(Api::Responses, "gpt-5", "reasoning", json!({"effort": "low", "summary": "auto"}), &[false, true]).await;
}
