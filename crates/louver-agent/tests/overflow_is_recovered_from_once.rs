//! A provider that counts more than we do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver_agent::Stop;
use louver_agent::provider::Category;
use louver_sandbox::{Sandbox, Scenario, Task};
use world::{Api, World, assert_sound};

fn task() -> Scenario {
    Scenario::task(&Task { calls: 40, tools: vec!["read_file".into()], ..Task::default() })
}

#[tokio::test]
async fn a_refused_view_is_tightened_and_sent_again() {
    for api in Api::ALL {
        let world = World::with(api, Sandbox::builder().scenario(task()).context_window(700)).await;
        let mut options = world.options();
        options.max_tokens = 16;
        let result = world.execute(&options).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        assert!(world.statuses().contains(&400), "{api:?}: the provider did refuse");
        assert!(result.conversation_metrics.evicted_messages > 0);
        let lines = world.lines();
        assert!(lines.iter().any(|line| line.starts_with("the provider refused")), "{api:?}: {lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("Context truncated: ")), "{api:?}: {lines:?}");
        assert_sound(api, result.conversation_state.as_ref().unwrap());
    }
}

#[tokio::test]
async fn without_a_window_overflow_ends_the_run() {
    for api in Api::ALL {
        let world = World::with(api, Sandbox::builder().scenario(task()).context_window(700)).await;
        let mut options = world.options();
        options.max_tokens = 16;
        options.window.policy = PolicyKind::Messages(MessagesConfig { max_messages: 0, ..MessagesConfig::default() });
        let result = world.execute(&options).await;
        let error = result.error.unwrap();
        assert_eq!((error.category, error.status), (Category::Overflow, Some(400)), "{api:?}: {error}");
        assert_eq!(world.statuses().iter().filter(|status| **status == 400).count(), 1, "{api:?}: tried once");
        assert_eq!(result.conversation_metrics.evicted_messages, 0, "nothing happens when it is switched off");
    }
}

#[tokio::test]
async fn what_cannot_fit_ends_the_run_after_the_second_try() {
    let world = World::with(Api::Anthropic, Sandbox::builder().scenario(task()).context_window(20)).await;
    let mut options = world.options();
    options.max_tokens = 4;
    let result = world.execute(&options).await;
    assert_eq!(result.error.unwrap().category, Category::Overflow);
    assert!(world.statuses().len() <= 2);
}
