//! Refusals that name no figures, replies that leave no room, and answers that break off.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use louver::tokens::CounterChoice;
use louver_agent::provider::Category;
use louver_agent::{ExecuteOptions, ExecutionResult, Observer, RunEvent, Stop, execute};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use world::replies::{Replies, Reply};
use world::{Api, assert_sound, tools};

fn history(body: &Value) -> usize {
    ["messages", "input"]
        .iter()
        .find_map(|key| body[*key].as_array())
        .map_or(0, |list| list.iter().map(|m| m.to_string().len()).sum())
}

fn read(api: Api, number: usize) -> Reply {
    let stop = if api == Api::Chat { "tool_calls" } else { "tool_use" };
    Reply::answer(
        api,
        &format!("I read on, step {number}."),
        &[(&format!("call_{number}"), "read_file", &"x".repeat(400))],
        stop,
    )
}

async fn run(api: Api, replies: &Replies) -> ExecutionResult {
    watched(api, replies, Observer::default()).await
}

async fn watched(api: Api, replies: &Replies, observer: Observer) -> ExecutionResult {
    let mut options = ExecuteOptions { observer, ..ExecuteOptions::new(api.model()) };
    options.window.counter = CounterChoice::Chars4;
    execute(&replies.provider(api), &Arc::new(tools()), Some("Do the task."), &options, None).await
}

/// Twenty turns, then a refusal of whatever is longer than the limit, then the end.
async fn refusing(api: Api, limit: usize, refusal: Reply) -> (ExecutionResult, Vec<usize>) {
    let replies = Replies::start(move |number, body| match (number, history(body)) {
        (0..20, _) => read(api, number),
        (_, length) if length > limit => refusal.clone(),
        _ => Reply::done(api, "call_end"),
    })
    .await;
    let result = run(api, &replies).await;
    (result, replies.asked().iter().map(history).skip(20).collect())
}

fn too_long() -> Reply {
    Reply::refusal(400, &json!({"error": {"message": "Input is too long for requested model."}}))
}

#[tokio::test]
async fn a_refusal_without_figures_is_eased_until_it_fits() {
    for api in Api::ALL {
        // What was sent has to shrink to less than a fifth, which the first step does not do.
        let (result, sent) = refusing(api, 4000, too_long()).await;
        assert_eq!(result.stop, Stop::Completed, "{api:?}: {:?}", result.error);
        assert!((3..=5).contains(&sent.len()) && sent.is_sorted_by(|a, b| a > b), "{api:?}: {sent:?}");
        assert_sound(api, result.conversation_state.as_ref().unwrap());
    }
}

#[tokio::test]
async fn what_never_fits_is_asked_five_times_at_most() {
    for api in Api::ALL {
        let (result, sent) = refusing(api, 0, too_long()).await;
        let error = result.error.unwrap();
        assert_eq!((error.category, error.status), (Category::Overflow, Some(400)), "{api:?}");
        assert!((2..=5).contains(&sent.len()), "{api:?}: {sent:?}");
    }
}

#[tokio::test]
async fn an_answer_that_the_window_cut_short_is_asked_for_again_with_less() {
    let api = Api::Anthropic;
    let replies = Replies::start(move |number, _| match number {
        0..20 => read(api, number),
        20 => Reply::answer(api, "Half a sent", &[], "model_context_window_exceeded"),
        _ => Reply::done(api, "call_end"),
    })
    .await;
    let said: Arc<Mutex<Vec<(bool, String)>>> = Arc::default();
    let hears = Arc::clone(&said);
    let observer = Observer::new(move |event| {
        let is_answer = matches!(event, RunEvent::Answered { .. });
        hears.lock().unwrap().extend(event.message().map(|line| (is_answer, line)));
    });
    let result = watched(api, &replies, observer).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    let sent: Vec<usize> = replies.asked().iter().map(history).collect();
    assert!(sent[21] < sent[20], "{sent:?}");
    let said = said.lock().unwrap();
    let half: Vec<_> = said.iter().filter(|(_, line)| line.contains("Half a sent")).collect();
    let line = "[discarded, because the context window was full before the answer was whole] Half a sent";
    assert_eq!(half, [&(false, line.to_owned())], "what is thrown away is not shown as said");
    assert!(!said.iter().any(|(_, line)| line.contains("refused")), "nothing was refused: {said:?}");
    let log = result.conversation_state.unwrap().window().log();
    assert!(log.messages.iter().all(|message| !message.raw().contains("Half a sent")), "nothing half is kept");
}

#[tokio::test]
async fn a_reply_that_leaves_no_room_is_asked_for_shorter_and_nothing_is_cut() {
    let api = Api::Chat;
    let replies = Replies::start(move |_, body| match body["max_completion_tokens"].as_u64().unwrap() {
        reply if reply > 3900 => {
            let message = format!(
                "'max_tokens' or 'max_completion_tokens' is too large: {reply}. This model's maximum context length is \
                 4096 tokens and your request has 196 input tokens ({reply} > 4096 - 196)."
            );
            // As this server writes it: no `error` around the message.
            Reply::refusal(400, &json!({"object": "error", "message": message, "type": "BadRequestError", "code": 400}))
        }
        _ => Reply::done(api, "call_end"),
    })
    .await;
    let result = run(api, &replies).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    assert_eq!((replies.asked().len(), result.conversation_metrics.evicted_messages), (2, 0));
}

#[tokio::test]
async fn a_request_that_no_minute_has_room_for_is_made_smaller_instead_of_waited_for() {
    let api = Api::Chat;
    let body = json!({"error": {"type": "tokens", "code": "rate_limit_exceeded", "message":
        "Request too large for gpt-5 in organization org-1 on tokens per min (TPM): Limit 3000, Requested 5000. The input \
         or output tokens must be reduced in order to run successfully."}});
    let (result, sent) = refusing(api, 8000, Reply::refusal(429, &body)).await;
    assert_eq!(result.stop, Stop::Completed, "{:?}", result.error);
    assert!(sent.last().unwrap() <= &8000, "{sent:?}");
}
