//! Nothing of what was deleted stays in the files.

use super::place;
use crate::suite::{NOW, content, conversation, said};
use louver_store::sqlite::SqliteOptions;
use louver_store::{
    Account, Content, Maintenance, NewContent, Outcome, Queued, RequestEntry, Retention, SearchAnswer, SearchRequest,
    SearchScope, SqliteStore,
};
use std::path::Path;
use std::time::Duration;

/// A word that stands nowhere else, whole and in a name.
const SECRET: &str = "xylophonesecret";

/// How often the secret stands in the bytes of all files, in any case.
fn count(folder: &Path) -> usize {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let in_file = |bytes: Vec<u8>| {
        bytes.windows(SECRET.len()).filter(|window| window.eq_ignore_ascii_case(SECRET.as_bytes())).count()
    };
    files.map(in_file).sum()
}

/// Both kinds of conversations by turns, so that their rows share pages.
async fn fill(store: &SqliteStore, is_one_batch: bool) {
    let words = |number: usize, word: &str| {
        said(&format!("{word}{number} {word}/{word}_{number}.rs {} {word}", "common words ".repeat(number % 200)))
    };
    let secret = content(&conversation("secret", "ann"), (0..300).map(|number| words(number, SECRET)));
    let open = content(&conversation("open", "ann"), (0..300).map(|number| words(number, "public")));
    let step = if is_one_batch { 300 } else { 7 };
    for start in (0..300_usize).step_by(step) {
        for whole in [&secret, &open] {
            let part = NewContent {
                index: start as u32,
                previous: start.checked_sub(1).map(|before| whole.messages[before].chain),
                messages: whole.messages[start..(start + step).min(300)].to_vec(),
                ..whole.clone()
            };
            store.put_content(part).await.unwrap();
        }
    }
    let entry = RequestEntry {
        cut_reason: Some(format!("because of {SECRET}")),
        ..RequestEntry::new(NOW, "anthropic", SECRET, Outcome::Cut)
    };
    for _ in 0..50 {
        assert_eq!(store.record_request(&conversation("secret", "ann"), entry.clone()), Queued::Waiting);
    }
    store.flush().await.unwrap();
}

async fn found(store: &SqliteStore, query: &str) -> usize {
    let scope = SearchScope::Everything;
    let request = SearchRequest { reader: "ann".into(), scope, query: query.to_owned(), limit: 1_000 };
    let SearchAnswer::Hits(hits) = store.search(request).await.unwrap() else { panic!() };
    hits.len()
}

#[tokio::test]
async fn a_deleted_conversation_leaves_no_byte() {
    for is_one_batch in [true, false] {
        let (folder, path) = place();
        let store = SqliteStore::open(&path).unwrap();
        fill(&store, is_one_batch).await;
        assert!(count(folder.path()) > 1_000);
        let others = found(&store, "public").await;
        let removed = store.delete_conversation("secret".into()).await.unwrap();
        assert_eq!((removed.messages, removed.requests, removed.is_erased), (300, 50, true));
        assert_eq!(count(folder.path()), 0, "in one batch: {is_one_batch}");
        assert_eq!((found(&store, SECRET).await, found(&store, "public7").await), (0, 1));
        assert_eq!(found(&store, "public").await, others);
        store.check().await.unwrap();
        store.close().await.unwrap();
        assert_eq!(count(folder.path()), 0);
    }
}

/// Messages whose words hardly come again, so that the index has something to merge.
fn rare(id: &str, messages: u64, word: &str) -> NewContent {
    let mut state = messages ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let mut text = |number: u64| {
        let words = (0..120).map(|_| format!("{word}{:x}", next())).collect::<Vec<_>>();
        said(&format!("{number} {}", words.join(" ")))
    };
    content(&conversation(id, "ann"), (0..messages).map(&mut text).collect::<Vec<_>>())
}

#[tokio::test]
async fn a_deleted_conversation_leaves_no_byte_while_others_write() {
    let (folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for number in 0..40 {
        store.put_content(rare(&format!("before {number}"), 40 + number, "public")).await.unwrap();
    }
    store.put_content(rare("secret", 40, SECRET)).await.unwrap();
    store.put_content(rare("first", 2, "public")).await.unwrap();
    // One that was deleted before leaves the index in one piece.
    store.delete_conversation("first".into()).await.unwrap();
    let writes = async {
        for number in 0..60 {
            store.put_content(rare(&format!("beside {number}"), 3, "public")).await.unwrap();
        }
    };
    let (removed, ()) = tokio::join!(store.delete_conversation("secret".into()), writes);
    if !removed.unwrap().is_erased {
        store.vacuum().await.unwrap();
    }
    store.close().await.unwrap();
    assert_eq!(count(folder.path()), 0);
}

#[tokio::test]
async fn what_leaves_by_age_leaves_no_byte() {
    let (folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    fill(&store, false).await;
    let before = Some(NOW.plus_days(1));
    let retention = Retention { content_before: before, account_before: before, ..Retention::default() };
    let removed = store.retain(retention).await.unwrap();
    assert_eq!((removed.messages, removed.requests, removed.is_erased), (600, 50, true));
    assert_eq!(count(folder.path()), 0);
}

#[tokio::test]
async fn somebody_who_reads_holds_the_bytes_until_they_end() {
    let (folder, path) = place();
    let store = SqliteOptions::default().busy_timeout(Duration::from_millis(50)).open(&path).unwrap();
    fill(&store, true).await;
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM messages").unwrap();
    let removed = store.delete_conversation("secret".into()).await.unwrap();
    assert!(!removed.is_erased && count(folder.path()) > 0);
    reader.execute_batch("COMMIT").unwrap();
    assert!(store.retain(Retention::default()).await.unwrap().is_erased);
    assert_eq!(count(folder.path()), 0);
}
