//! What whoever watches a run gets to see, and what it adds up to.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::policy::{MessagesConfig, PolicyKind};
use louver::wire::Format;
use louver_agent::provider::{Answer, Provider, ProviderError, Request};
use louver_agent::{
    CancellationToken, CondenseHandler, ConversationMetrics, ExecuteOptions, Executor, ExecutorConfig, RunEvent,
    RunOutcome, RunSummary,
};
use louver_sandbox::{Fault, Scenario, Turn};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use world::{Api, World, complete, read, steps};

fn capped(world: &World, summarize_on_trim: bool) -> ExecuteOptions {
    let mut options = world.options();
    let messages =
        MessagesConfig { max_messages: 12, preserve_last_n: 4, summarize_on_trim, ..MessagesConfig::default() };
    options.window.policy = PolicyKind::Messages(messages);
    options
}

#[tokio::test]
async fn what_the_model_says_and_calls_is_told_as_it_happens() {
    let long = "x".repeat(500);
    let scenario = Scenario::new("talk")
        .turn(Turn::calls([read("a.rs"), read(&long)]).saying("First I read.\nThen I write."))
        .turn(complete());
    let world = World::new(Api::Chat, scenario).await;
    world.execute(&world.options()).await;
    let talk: Vec<String> = {
        let events = world.events.lock().unwrap();
        events.iter().filter(|event| event.is_talk()).filter_map(RunEvent::message).collect()
    };
    assert_eq!(talk[..2], ["First I read.\nThen I write.".to_owned(), r#"> read_file {"path":"a.rs"}"#.to_owned()]);
    assert!(talk[2].starts_with(r#"> read_file {"path":"xxx"#) && talk[2].chars().count() < 130, "{}", talk[2]);
    assert_eq!(talk[3], r#"> task_complete {"summary":"All done."}"#);
    assert_eq!(talk.len(), 4);
}

#[tokio::test]
async fn a_tool_that_fails_is_told_with_its_reason() {
    let broken = Turn::calls([read("a.rs")]).after(Fault::MalformedArguments);
    let world = World::new(Api::Chat, Scenario::new("failing").turn(broken).turn(complete())).await;
    world.execute(&world.options()).await;
    let lines = world.lines();
    let reason = "> read_file failed: the arguments for `read_file` are not valid JSON; ";
    assert!(lines.iter().any(|line| line.starts_with(reason) && line.chars().count() < 130), "{lines:?}");
}

#[test]
fn one_message_is_one_message() {
    let metrics = ConversationMetrics { message_count: 1, estimated_tokens: 7, ..ConversationMetrics::default() };
    let said = |event: RunEvent| event.message().unwrap();
    assert_eq!(said(RunEvent::IterationFinished { metrics }), "Conversation: 1 message (~7 tokens)");
    assert_eq!(said(RunEvent::Truncated { messages: 1 }), "Context truncated: 1 message removed");
    assert_eq!(said(RunEvent::Truncated { messages: 2 }), "Context truncated: 2 messages removed");
}

#[tokio::test]
async fn every_decision_is_an_event_that_names_its_task() {
    let world = World::new(Api::Anthropic, steps(20)).await;
    world.execute(&capped(&world, false)).await;
    let events = world.events.lock().unwrap();
    let decided = events.iter().filter_map(|event| match event {
        RunEvent::Decided(decision) => Some(serde_json::to_value(decision).unwrap()),
        _ => None,
    });
    let decided: Vec<_> = decided.collect();
    let cuts = events.iter().filter(|event| matches!(event, RunEvent::Truncated { .. })).count();
    assert_eq!((decided.len(), decided.is_empty()), (cuts, false));
    for decision in decided {
        assert_eq!((&decision["task_id"], &decision["policy"]), (&"task-7".into(), &"messages".into()), "{decision}");
        assert!(decision["tokens_before"].as_u64() > decision["tokens_after"].as_u64(), "{decision}");
    }
}

/// Cancels a run before its n-th request.
#[derive(Debug)]
struct StopsAt {
    inner: Arc<dyn Provider>,
    left: AtomicUsize,
    cancel: CancellationToken,
}

#[async_trait::async_trait]
impl Provider for StopsAt {
    fn format(&self) -> Format {
        self.inner.format()
    }

    async fn send(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<Answer, ProviderError> {
        if self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.cancel.cancel();
        }
        self.inner.send(request, cancel).await
    }

    async fn count_tokens(&self, request: &Request<'_>, cancel: &CancellationToken) -> Result<u64, ProviderError> {
        self.inner.count_tokens(request, cancel).await
    }
}

/// Runs a task in as many processes as it takes, each stopped at its n-th request.
async fn run_in_pieces(world: &World, options: &ExecuteOptions, state: &Path, stops: &[usize]) -> Vec<RunSummary> {
    let mut summaries = Vec::new();
    for (process, stop) in stops.iter().enumerate() {
        let options = ExecuteOptions { cancel: CancellationToken::new(), ..options.clone() };
        let (inner, cancel) = (Arc::clone(&world.provider), options.cancel.clone());
        let provider = Arc::new(StopsAt { inner, left: AtomicUsize::new(*stop), cancel });
        let config = ExecutorConfig { state_file: Some(state.to_owned()), ..ExecutorConfig::new(options) };
        let executor = Executor::new(provider, Arc::clone(&world.tools), config);
        let summary = match process {
            0 => executor.run("Do the task.").await.unwrap(),
            _ => executor.resume(state).await.unwrap(),
        };
        let live = executor.live().borrow().clone();
        if live.iteration > 0 {
            assert_eq!(live.evicted_messages, summary.conversation_metrics.evicted_messages, "process {process}");
            assert_eq!(live.cost, summary.cost + summary.condensing.cost, "process {process}");
            assert_eq!(live.tool_calls, summary.tool_calls, "process {process}");
        }
        summaries.push(summary);
    }
    summaries
}

#[tokio::test]
async fn the_totals_of_a_run_are_those_of_all_its_processes() {
    for api in Api::ALL {
        let folder = tempfile::tempdir().unwrap();
        let whole = World::new(api, steps(20)).await;
        let whole = run_in_pieces(&whole, &capped(&whole, false), &folder.path().join("whole"), &[0]).await.remove(0);
        let pieces = World::new(api, steps(20)).await;
        let state = folder.path().join("pieces");
        // The last process finds the task done.
        let pieces = run_in_pieces(&pieces, &capped(&pieces, false), &state, &[6, 8, 0, 0]).await;
        assert_eq!(pieces[0].outcome, RunOutcome::Cancelled, "{api:?}");
        for summary in &pieces[2..] {
            assert_eq!(summary.outcome, whole.outcome, "{api:?}");
            assert_eq!((summary.turns, summary.tool_calls), (whole.turns, whole.tool_calls), "{api:?}");
            assert_eq!(summary.usage.prompt_tokens(), whole.usage.prompt_tokens(), "{api:?}");
            assert_eq!(summary.usage.output_tokens, whole.usage.output_tokens, "{api:?}");
            assert_eq!(summary.conversation_metrics, whole.conversation_metrics, "{api:?}");
            assert!(summary.cost > pieces[1].cost && summary.duration >= pieces[1].duration, "{api:?}");
        }
    }
}

/// A summariser that never answers.
#[derive(Debug)]
struct Never(Format);

#[async_trait::async_trait]
impl Provider for Never {
    fn format(&self) -> Format {
        self.0
    }

    async fn send(&self, _: &Request<'_>, _: &CancellationToken) -> Result<Answer, ProviderError> {
        std::future::pending().await
    }

    async fn count_tokens(&self, _: &Request<'_>, _: &CancellationToken) -> Result<u64, ProviderError> {
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_summary_that_is_open_at_the_end_is_warned_about_and_billed() {
    let world = World::new(Api::Anthropic, steps(20)).await;
    let mut options = capped(&world, true);
    let model = options.model.clone();
    options.condense.handler = Some(CondenseHandler { provider: Arc::new(Never(Format::Anthropic)), model });
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let summary = run_in_pieces(&world, &options, &state, &[0]).await.remove(0);
    assert_eq!(summary.outcome, RunOutcome::Completed("All done.".to_owned()));
    let condensing = summary.condensing;
    assert_eq!((condensing.asked, condensing.accepted, condensing.failed), (1, 0, 1));
    assert!(condensing.usage.prompt_tokens() > 100 && condensing.cost.usd() > 0.0, "{condensing:?}");
    let warned = world.lines();
    let warned: Vec<&String> = warned.iter().filter(|line| line.contains("still being written")).collect();
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("billed with at most $0."), "{warned:?}");
    let again = run_in_pieces(&world, &options, &state, &[0, 0]).await;
    assert_eq!(again[1].condensing.cost, again[0].condensing.cost, "the next process knows of it");
}
