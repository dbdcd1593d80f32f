//! What is written behind has bounds, and never makes anybody wait.

use super::{Lock, place};
use crate::suite::{NOW, conversation, decision, texts};
use louver_store::sqlite::SqliteOptions;
use louver_store::{Account, Content, Decisions, Maintenance, Outcome, Queued, RequestEntry, SqliteStore};
use std::time::Duration;

fn entry() -> RequestEntry {
    RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed)
}

fn locked(options: &SqliteOptions) -> (tempfile::TempDir, SqliteStore, Lock) {
    let (folder, path) = place();
    let store = options.clone().busy_timeout(Duration::from_millis(20)).open(&path).unwrap();
    let lock = Lock::hold(&path);
    (folder, store, lock)
}

/// Waits until the store has noticed that it cannot write: from then on everything waits.
async fn until_failing(store: &SqliteStore) {
    assert_eq!(store.record_request(&conversation("c0", "ann"), entry()), Queued::Waiting);
    assert!(store.flush().await.unwrap_err().is_busy());
}

#[tokio::test]
async fn a_full_queue_loses_and_counts() {
    let (_folder, store, lock) = locked(&SqliteOptions::default().queue(5, 1 << 20));
    until_failing(&store).await;
    let queued: Vec<Queued> = (0..9).map(|_| store.record_request(&conversation("c1", "ann"), entry())).collect();
    assert_eq!(queued, [[Queued::Waiting; 4].as_slice(), &[Queued::Lost; 5]].concat());
    assert_eq!((store.status().waiting, store.status().lost), (5, 5));
    lock.release();
    store.flush().await.unwrap();
    assert_eq!(store.conversation("c1".into()).await.unwrap().unwrap().requests, 4);
    assert_eq!((store.status().waiting, store.status().lost), (0, 5));
}

#[tokio::test]
async fn a_queue_is_bounded_by_bytes_too() {
    let (_folder, store, lock) = locked(&SqliteOptions::default().queue(1_000, 50_000));
    until_failing(&store).await;
    let words = "words ".repeat(3_000);
    let put = |id: &str| store.put_content_behind(texts(&conversation(id, "ann"), &[&words]));
    assert_eq!([put("c1"), put("c2"), put("c3")], [Queued::Waiting, Queued::Waiting, Queued::Lost]);
    lock.release();
    store.flush().await.unwrap();
    assert_eq!(put("c3"), Queued::Waiting);
    store.flush().await.unwrap();
    assert_eq!((store.size().await.unwrap().messages, store.status().lost), (1, 1));
}

#[tokio::test]
async fn decisions_go_before_what_is_written_behind() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for number in 0..5_000 {
        assert_eq!(store.record_request(&conversation(&format!("c{number}"), "ann"), entry()), Queued::Waiting);
    }
    store.insert_decision(decision(1, 0, "now")).await.unwrap();
    assert!(store.status().waiting > 0);
    store.flush().await.unwrap();
    assert_eq!(store.size().await.unwrap().conversations, 5_000);
}

#[tokio::test]
async fn what_waits_is_written_when_the_store_is_closed_or_dropped() {
    let (_folder, path) = place();
    for is_closed in [true, false] {
        let store = SqliteStore::open(&path).unwrap();
        for _ in 0..1_000 {
            assert_eq!(store.record_request(&conversation("c1", "ann"), entry()), Queued::Waiting);
        }
        if is_closed {
            store.close().await.unwrap();
        }
    }
    let store = SqliteStore::open(&path).unwrap();
    // The thread of the dropped store goes on for as long as it needs.
    while store.conversation("c1".into()).await.unwrap().unwrap().requests < 2_000 {
        tokio::task::yield_now().await;
    }
}
