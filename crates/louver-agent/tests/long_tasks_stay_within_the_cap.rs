//! Task 123 and the success criteria: a long task on every API, the cap kept, nothing refused.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver_agent::{ExecuteOptions, Stop};
use louver_sandbox::{Scenario, Task};
use world::{Api, World, assert_sound};

const CAP: usize = 30;

fn capped(world: &World) -> ExecuteOptions {
    let mut options = world.options();
    options.window.policy =
        PolicyKind::Messages(MessagesConfig { max_messages: CAP, preserve_last_n: 10, ..MessagesConfig::default() });
    options
}

fn sixty_calls() -> Scenario {
    Scenario::task(&Task { calls: 60, tools: vec!["read_file".into(), "write_file".into()], ..Task::default() })
}

async fn runs_within_the_cap(api: Api, is_streamed: bool) {
    let world = World::new(api, sixty_calls()).await;
    let options = ExecuteOptions { is_streamed, ..capped(&world) };
    let result = world.execute(&options).await;
    assert_eq!((result.success, result.stop, result.tool_calls), (true, Stop::Completed, 61), "{:?}", result.error);
    assert_eq!(world.refused(), 0);
    let largest = world.sandbox.journal().iter().map(|entry| entry.messages).max().unwrap();
    // A turn is one answer with up to three results, and its text and calls are items of their own in Responses; the
    // system prompt is a message in Chat; one marker may stand at the seam.
    assert!(largest <= CAP + 7 + 2, "{api:?}: {largest}");
    let metrics = result.conversation_metrics;
    assert_eq!(metrics.total_messages, metrics.preserved_messages + metrics.evicted_messages);
    assert!(metrics.evicted_messages > 30 && metrics.estimated_tokens > 0, "{metrics:?}");
    assert!(metrics.message_count >= metrics.preserved_messages);
    assert_sound(api, result.conversation_state.as_ref().unwrap());
}

#[tokio::test]
async fn anthropic_completes_sixty_calls_without_a_refusal() {
    runs_within_the_cap(Api::Anthropic, true).await;
    runs_within_the_cap(Api::Anthropic, false).await;
}

#[tokio::test]
async fn chat_completes_sixty_calls_without_a_refusal() {
    runs_within_the_cap(Api::Chat, true).await;
    runs_within_the_cap(Api::Chat, false).await;
}

#[tokio::test]
async fn responses_completes_sixty_calls_without_a_refusal() {
    runs_within_the_cap(Api::Responses, true).await;
    runs_within_the_cap(Api::Responses, false).await;
}

#[tokio::test]
async fn without_a_cap_everything_is_sent() {
    for api in Api::ALL {
        let world = World::new(api, sixty_calls()).await;
        let mut options = capped(&world);
        options.window.policy = PolicyKind::Messages(MessagesConfig { max_messages: 0, ..MessagesConfig::default() });
        let result = world.execute(&options).await;
        assert_eq!(result.conversation_metrics.evicted_messages, 0);
        let last = world.sandbox.journal().pop().unwrap();
        assert!(last.messages > 80, "{api:?}: {}", last.messages);
    }
}

#[tokio::test]
async fn the_cache_is_read_between_cuts() {
    for api in Api::ALL {
        let world = World::new(api, world::steps(12)).await;
        let mut options = world.options();
        options.system_prompt = Some("Work carefully, and say what you do. ".repeat(200));
        let result = world.execute(&options).await;
        assert!(result.success, "{api:?}: {:?}", result.error);
        let usage = result.usage;
        assert!(usage.cache_read_tokens > usage.input_tokens, "{api:?}: {usage:?}");
    }
}
