//! Each example against the sandbox: 200 tool turns past the window, none refused.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use louver_examples::{CONTEXT_WINDOW, Ended, Error};
use louver_sandbox::{Sandbox, Scenario};
use serde_json::{Value, json};

const TURNS: usize = 200;

/// A model that calls a tool 200 times and then answers.
async fn assert_kept_inside<F: Future<Output = Result<Ended, Error>>>(talk: impl FnOnce(String) -> F, messages: usize) {
    let call = json!({ "name": "read_file", "arguments": { "path": "a.txt" } });
    let mut turns: Vec<Value> =
        (0..TURNS).map(|turn| json!({ "text": format!("Step {turn}."), "calls": [call] })).collect();
    turns.push(json!({ "text": "All is read." }));
    let scenario = Scenario::from_json(&json!({ "name": "long", "turns": turns }).to_string()).unwrap();
    let sandbox = Sandbox::builder().scenario(scenario).context_window(CONTEXT_WINDOW);
    let sandbox = sandbox.start("127.0.0.1:0").await.unwrap();
    let ended = talk(format!("http://{}", sandbox.addr())).await.unwrap();
    assert_eq!(ended, Ended { text: "All is read.".to_owned(), messages });
    let journal = sandbox.journal();
    let refused: Vec<_> = journal.iter().filter(|entry| entry.status != 200 || !entry.violations.is_empty()).collect();
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(journal.len(), TURNS + 1);
    assert!(journal.last().unwrap().messages < messages / 2, "the last request would have had everything");
}

#[tokio::test]
async fn plain_http_stays_inside() {
    assert_kept_inside(|url| async move { louver_examples::plain_http::talk(&url).await }, 2 + 2 * TURNS).await;
}

#[tokio::test]
async fn async_openai_stays_inside() {
    assert_kept_inside(|url| async move { louver_examples::with_async_openai::talk(&url).await }, 3 + 2 * TURNS).await;
}

#[tokio::test]
async fn rig_stays_inside() {
    assert_kept_inside(|url| async move { louver_examples::with_rig::talk(&url).await }, 2 + 2 * TURNS).await;
}
