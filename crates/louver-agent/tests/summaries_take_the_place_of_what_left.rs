//! Tasks 118 and 122: summaries over a real API.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::condense::{MIN_EVICTED_PER_SUMMARY, SUMMARY_PREFIX, SUMMARY_PROMPT};
use louver::policy::{MessagesConfig, PolicyKind};
use louver::window::{Event, Origin};
use louver_agent::{
    ApiKey, CondenseHandler, CondenseOptions, CondenseTiming, Conversation, ExecuteOptions, ExecutionResult, Stop,
};
use louver_sandbox::{Call, Fault, Scenario, Turn};
use serde_json::json;
use std::time::Duration;
use world::{Api, World, assert_sound, complete, connection, steps};

fn condensing(world: &World) -> ExecuteOptions {
    let mut options = world.options();
    options.window.policy = PolicyKind::Messages(MessagesConfig {
        max_messages: 14,
        preserve_last_n: 6,
        summarize_on_trim: true,
        ..MessagesConfig::default()
    });
    options.condense.timing = CondenseTiming::Immediate;
    options
}

async fn run(world: &World, options: &ExecuteOptions) -> ExecutionResult {
    let result = world.execute(options).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}: {:?}", world.api, result.error);
    assert_eq!(world.refused(), 0, "{:?}", world.api);
    assert_sound(world.api, result.conversation_state.as_ref().unwrap());
    result
}

/// Where the summary stands in the view, and its text.
fn summary(conversation: &Conversation) -> Option<(usize, String)> {
    let found = conversation.window().view().iter().enumerate().find(|(_, sent)| sent.origin.is_summary())?;
    Some((found.0, found.1.message.raw().to_owned()))
}

#[tokio::test]
async fn a_summary_stands_between_the_head_and_what_is_kept() {
    for api in Api::ALL {
        let scenario = steps(20).summary(Turn::text("Files 0 to 5 were read."));
        let world = World::new(api, scenario).await;
        let result = run(&world, &condensing(&world)).await;
        let state = result.conversation_state.unwrap();
        let (place, text) = summary(&state).unwrap();
        assert!(text.contains(SUMMARY_PREFIX), "{api:?}: {text}");
        let origins: Vec<Origin> = state.window().view().iter().map(|sent| sent.origin).collect();
        assert_eq!(origins[0], Origin::Kept(0), "{api:?}");
        assert!(
            origins[..place].iter().all(|origin| !matches!(origin, Origin::Kept(index) if *index > 0)),
            "{origins:?}"
        );
        assert!(result.condensing.accepted > 0 && result.condensing.failed == 0, "{api:?}: {:?}", result.condensing);
        assert!(result.condensing.usage.output_tokens > 0, "{api:?}: {:?}", result.condensing);
        assert!(
            world.lines().iter().any(|line| line == "Context condensed: Files 0 to 5 were read...."),
            "{:?}",
            world.lines()
        );
        assert!(world.lines().iter().any(|line| line.starts_with("Context truncated: ")));
    }
}

#[tokio::test]
async fn a_summary_is_asked_for_at_most_once_per_ten_messages() {
    for api in Api::ALL {
        let world = World::new(api, steps(30)).await;
        let result = run(&world, &condensing(&world)).await;
        let evicted = result.conversation_metrics.evicted_messages;
        assert!(result.condensing.asked > 1, "{api:?}");
        assert!(result.condensing.asked <= evicted / MIN_EVICTED_PER_SUMMARY, "{api:?}: {:?}", result.condensing);
    }
}

#[tokio::test]
async fn a_failed_summary_is_plain_eviction_and_what_it_missed_is_in_the_next() {
    for api in Api::ALL {
        let broken = Turn::text("never said").after(Fault::ServerError).after(Fault::ServerError);
        let scenario = steps(30).summary(broken);
        let world = World::new(api, scenario).await;
        let mut own = connection(&world.sandbox.url());
        own.retry.max_retries = 0;
        let world = World { provider: api.provider(own, ApiKey::sandbox()), ..world };
        let result = run(&world, &condensing(&world)).await;
        assert!(result.condensing.failed >= 1 && result.condensing.accepted >= 1, "{api:?}: {:?}", result.condensing);
        assert!(world.lines().iter().any(|line| line.starts_with("condensing failed")), "{:?}", world.lines());
        let answers: Vec<bool> = result
            .conversation_state
            .unwrap()
            .window()
            .log()
            .events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Answered(answered) => Some(answered.answer.is_ok()),
                _ => None,
            })
            .collect();
        assert_eq!(answers.first(), Some(&false), "{api:?}: {answers:?}");
    }
}

#[tokio::test]
async fn a_summary_larger_than_what_it_replaces_is_refused() {
    for api in Api::ALL {
        let scenario = steps(16).summary(Turn::text("long ".repeat(3000)));
        let world = World::new(api, scenario).await;
        let result = run(&world, &condensing(&world)).await;
        assert_eq!(result.condensing.failed, 1, "{api:?}: {:?}", result.condensing);
        assert!(world.lines().iter().any(|line| line.contains("more than the")), "{:?}", world.lines());
    }
}

#[tokio::test]
async fn tool_results_alone_are_not_summarised() {
    for api in Api::ALL {
        let silent = |n: usize| Turn::calls([Call::new("read_file", json!({"path": n.to_string()}))]);
        let scenario = (0..30).fold(Scenario::new("silent"), |scenario, n| scenario.turn(silent(n))).turn(complete());
        let world = World::new(api, scenario).await;
        let result = run(&world, &condensing(&world)).await;
        assert!(result.conversation_metrics.evicted_messages > 10, "{api:?}");
        assert_eq!(result.condensing.asked, 0, "{api:?}: {:?}", result.condensing);
    }
}

#[tokio::test]
async fn a_summary_that_never_comes_holds_nothing_up() {
    for api in Api::ALL {
        let stalled = (0..9).fold(Turn::text("never said"), |turn, _| turn.after(Fault::Stall));
        let world = World::new(api, steps(20).summary(stalled)).await;
        for timing in [CondenseTiming::Immediate, CondenseTiming::Background { max_wait: Duration::from_millis(5) }] {
            let mut options = condensing(&world);
            options.condense = CondenseOptions { timing, time_limit: Duration::from_millis(2), ..options.condense };
            let result = run(&world, &options).await;
            assert!(
                result.condensing.failed > 0 && result.condensing.accepted == 0,
                "{api:?}: {:?}",
                result.condensing
            );
            assert!(summary(&result.conversation_state.unwrap()).is_none());
        }
    }
}

#[tokio::test]
async fn a_background_summary_arrives_while_the_run_goes_on() {
    for api in Api::ALL {
        let world = World::new(api, steps(30)).await;
        let mut options = condensing(&world);
        options.condense.timing = CondenseTiming::Background { max_wait: Duration::from_secs(2) };
        let result = run(&world, &options).await;
        assert!(result.condensing.accepted > 0, "{api:?}: {:?}", result.condensing);
        assert!(summary(&result.conversation_state.unwrap()).is_some());
    }
}

#[tokio::test]
async fn a_summary_that_would_cost_too_much_is_not_asked_for() {
    let world = World::new(Api::Anthropic, steps(20)).await;
    let mut options = condensing(&world);
    options.condense.max_cost = Some(louver::catalog::Cost::ZERO);
    let result = run(&world, &options).await;
    assert!(result.condensing.failed > 0 && result.condensing.accepted == 0);
    assert_eq!(result.condensing.usage.prompt_tokens(), 0);
    assert!(world.lines().iter().any(|line| line.contains("would cost")), "{:?}", world.lines());
}

#[tokio::test]
async fn another_api_can_make_the_summaries() {
    let summariser = World::new(Api::Chat, Scenario::new("other").summary(Turn::text("From elsewhere."))).await;
    let world = World::new(Api::Anthropic, steps(20)).await;
    let mut options = condensing(&world);
    let handler = CondenseHandler { provider: summariser.provider.clone(), model: "gpt-5".to_owned() };
    options.condense.handler = Some(handler);
    let result = run(&world, &options).await;
    assert!(result.condensing.accepted > 0);
    assert_eq!(summariser.sandbox.journal().len(), result.condensing.asked);
    assert!(summariser.sandbox.journal().iter().all(|entry| entry.messages == 1), "the plain prompt");
}

#[tokio::test]
async fn a_summary_of_what_was_just_sent_rides_on_the_cached_prefix() {
    for api in Api::ALL {
        let world = World::new(api, steps(40)).await;
        let mut options = by_tokens(&world, 8000);
        options.system_prompt = Some("Work carefully, and say what you do. ".repeat(450));
        let result = run(&world, &options).await;
        assert!(result.condensing.accepted > 0, "{api:?}: {:?}", result.condensing);
        let usage = result.condensing.usage;
        assert!(usage.cache_read_tokens > 2 * usage.input_tokens, "{api:?}: {usage:?}");
        let in_the_books: u64 = world.sandbox.journal().iter().map(|entry| entry.cache_read_tokens).sum();
        assert_eq!(in_the_books, result.usage.cache_read_tokens + usage.cache_read_tokens, "{api:?}");
        options.condense.timing = CondenseTiming::Background { max_wait: Duration::from_secs(60) };
        let in_background = run(&world, &options).await.condensing;
        assert!(in_background.accepted > 0, "{api:?}: {in_background:?}");
        assert!(in_background.usage.cache_read_tokens > 2 * in_background.usage.input_tokens, "{api:?}");
    }
}

#[tokio::test]
async fn the_prompt_is_the_seeds_sentence_a_blank_line_and_the_lines() {
    let raw = [r#"{"role":"user","content":"Fix it."}"#, r#"{"role":"assistant","content":"Fixed in src/a.rs."}"#];
    let messages: Vec<_> = raw
        .iter()
        .map(|raw| std::sync::Arc::new(louver::wire::Message::parse(louver::wire::Format::OpenAiChat, raw).unwrap()))
        .collect();
    let said = louver_agent::seeds::summarize(louver::wire::Format::OpenAiChat, &messages, async |prompt| Ok(prompt));
    let expected = format!("{SUMMARY_PROMPT}\n\n[user]: Fix it.\n[assistant]: Fixed in src/a.rs.");
    assert_eq!(said.await.unwrap(), expected);
}

fn by_tokens(world: &World, context_window: u64) -> ExecuteOptions {
    let mut options = world.options();
    options.max_tokens = 100;
    let tokens = louver::policy::TokensConfig { auto_condense_context: true, ..Default::default() };
    options.window.policy = PolicyKind::Tokens(tokens);
    options.window.budget = Some(louver::budget::Budget::new(context_window, Some(100)).unwrap());
    options.condense.timing = CondenseTiming::Immediate;
    options
}

#[tokio::test]
async fn the_token_window_condenses_too() {
    for api in Api::ALL {
        let world = World::new(api, steps(40)).await;
        let mut options = by_tokens(&world, 2500);
        for timing in [CondenseTiming::Immediate, CondenseTiming::Background { max_wait: Duration::from_secs(2) }] {
            options.condense.timing = timing;
            let result = run(&world, &options).await;
            assert!(result.condensing.accepted > 0, "{api:?} {timing:?}: {:?}", result.condensing);
        }
    }
}
