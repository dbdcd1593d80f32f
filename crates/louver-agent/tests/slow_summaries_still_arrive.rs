//! A summariser that takes many turns, or for ever, behind a window that cuts on every one of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver::wire::Format;
use louver_agent::provider::{Answer, Provider, ProviderError, Request};
use louver_agent::tools::{Tool, ToolDefinition, ToolOutput, ToolSet};
use louver_agent::{CondenseHandler, CondenseTiming, ExecuteOptions, RunEvent, Stop};
use louver_sandbox::{Call, Fault, Scenario, Turn};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use world::{Api, World, assert_sound, complete, read, steps};

const HOUR: Duration = Duration::from_secs(3600);

/// Asks the sandbox, but only when it is let through, and says when it has been answered.
#[derive(Debug)]
struct Slow {
    inner: Arc<dyn Provider>,
    start: Semaphore,
    answered: Semaphore,
    prompts: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Provider for Slow {
    fn format(&self) -> Format {
        self.inner.format()
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        self.prompts.lock().unwrap().push(request.messages.concat());
        self.start.acquire().await.unwrap().forget();
        let answer = self.inner.send(request, cancel).await;
        self.answered.add_permits(1);
        answer
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        self.inner.count_tokens(request, cancel).await
    }
}

/// Lets the summariser through and waits until it has answered, so that no test depends on who is faster.
#[derive(Debug)]
struct WaitForSummary(Arc<Slow>);

#[async_trait::async_trait]
impl Tool for WaitForSummary {
    fn definition(&self) -> ToolDefinition {
        let schema = json!({"type": "object", "properties": {}});
        ToolDefinition { name: "wait".to_owned(), description: "Waits.".to_owned(), schema }
    }

    async fn call(&self, _: Value) -> ToolOutput {
        self.0.start.add_permits(1);
        self.0.answered.acquire().await.unwrap().forget();
        ToolOutput { text: "a summary has arrived".to_owned(), ..ToolOutput::default() }
    }
}

fn in_background(world: &World) -> ExecuteOptions {
    let mut options = world.options();
    options.window.policy = PolicyKind::Messages(MessagesConfig {
        max_messages: 8,
        preserve_last_n: 4,
        summarize_on_trim: true,
        ..MessagesConfig::default()
    });
    options.condense.timing = CondenseTiming::Background { max_wait: HOUR };
    options.condense.time_limit = HOUR;
    options
}

fn step(n: usize) -> Turn {
    Turn::calls([read(&format!("src/file_{n}.rs"))]).saying(format!("Step number-{n}. {}", "Words. ".repeat(20)))
}

/// Thirty turns that are cut every time, the answer, and then as many again with another one.
fn twice_thirty_steps() -> Scenario {
    let wait = || Turn::calls([Call::new("wait", json!({}))]);
    let steps = |from: usize| (from..from + 30).map(step);
    let turns = steps(0).chain([wait()]).chain(steps(30)).chain([wait(), step(60), complete()]);
    let scenario = turns.fold(Scenario::new("slow"), Scenario::turn);
    scenario.summary(Turn::text("The first stretch.")).summary(Turn::text("Both stretches."))
}

async fn slow_world(api: Api) -> (World, Arc<Slow>, ExecuteOptions) {
    let mut world = World::new(api, twice_thirty_steps()).await;
    let inner = Arc::clone(&world.provider);
    let slow =
        Arc::new(Slow { inner, start: Semaphore::new(0), answered: Semaphore::new(0), prompts: Mutex::default() });
    let tool = |name| Arc::new(world::Scripted { name, delay: Duration::ZERO }) as Arc<dyn Tool>;
    let wait = Arc::new(WaitForSummary(Arc::clone(&slow))) as Arc<dyn Tool>;
    world.tools = Arc::new(ToolSet::new([tool("read_file"), tool("task_complete"), wait]));
    let mut options = in_background(&world);
    let handler = CondenseHandler { provider: slow.clone(), model: api.model().to_owned() };
    options.condense.handler = Some(handler);
    (world, slow, options)
}

#[tokio::test]
async fn a_summary_that_takes_thirty_cuts_arrives_and_the_next_one_covers_the_rest() {
    for api in Api::ALL {
        let (world, slow, options) = slow_world(api).await;
        let result = world.execute(&options).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        assert_eq!(world.refused(), 0, "{api:?}");
        assert_eq!((result.condensing.accepted, result.condensing.failed), (2, 0), "{api:?}: {:?}", result.condensing);
        let cuts =
            world.events.lock().unwrap().iter().filter(|event| matches!(event, RunEvent::Truncated { .. })).count();
        assert!(cuts > 50, "{api:?}: it was cut {cuts} times");
        let state = result.conversation_state.unwrap();
        assert_eq!(state.window().summary(), Some("Both stretches."), "{api:?}");
        assert_sound(api, &state);
        let prompts = slow.prompts.lock().unwrap();
        let steps_in = |prompt: &str| -> Vec<usize> {
            (0..61).filter(|n| prompt.contains(&format!("Step number-{n}. "))).collect()
        };
        let (first, second) = (steps_in(&prompts[0]), steps_in(&prompts[1]));
        assert_eq!(first[0], 0, "{api:?}: {first:?}");
        assert_eq!(second[0], first.len(), "{api:?}: the next one begins where the first ended");
        assert!(second.len() > 20, "{api:?}: what left meanwhile was carried to it: {second:?}");
        assert!(prompts[1].contains("[summary]: The first stretch."), "{api:?}");
    }
}

#[tokio::test]
async fn a_summariser_that_never_answers_holds_nothing_up() {
    for api in Api::ALL {
        let stalled = Turn::text("never said").after(Fault::Stall);
        let mut world = World::new(api, steps(40).summary(stalled)).await;
        let mut patient = world::connection(&world.sandbox.url());
        patient.idle_timeout = HOUR;
        world.provider = api.provider(patient, louver_agent::ApiKey::sandbox());
        let result = world.execute(&in_background(&world)).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        let condensing = result.condensing;
        assert_eq!((condensing.asked, condensing.accepted, condensing.failed), (1, 0, 0), "{api:?}");
        assert!(result.conversation_metrics.evicted_messages > 60, "{api:?}");
        assert!(result.conversation_state.unwrap().window().open_job().is_some(), "{api:?}: it is still open");
    }
}

#[tokio::test]
async fn a_job_that_a_stopped_run_left_open_is_run_again() {
    let stalled = Turn::text("never said").after(Fault::Stall);
    let world = World::new(Api::Chat, steps(20).summary(stalled)).await;
    let options = in_background(&world);
    let stopped = world.execute(&options).await.conversation_state.unwrap();
    let covers = stopped.window().open_job().unwrap().covers.clone();
    let system = options.system_prompt.as_deref();
    let config = options.window.config(Format::OpenAiChat, &options.model, options.max_tokens, system, &[]).unwrap();
    let resumed = louver_agent::Conversation::restore(config, stopped.window().log()).unwrap();
    drop(stopped);
    assert_eq!(resumed.window().open_job().unwrap().covers, covers);
    let again = World::new(Api::Chat, steps(20)).await;
    let mut options = in_background(&again);
    options.condense.timing = CondenseTiming::Immediate;
    let result = again.go_on(Some("Go on."), &options, Some(resumed)).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    assert!(result.condensing.accepted > 0, "{:?}", result.condensing);
}
