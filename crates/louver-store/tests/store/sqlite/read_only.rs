//! A file that may only be read: everything is answered, and nothing is made or changed.

use super::place;
use super::processes::{child, told};
use crate::suite::{conversation, decision, end, texts};
use louver::address::Address;
use louver_store::sqlite::SqliteOptions;
use louver_store::{
    ChainPoint, Content, Decisions, Error, Maintenance, NewContent, Queued, RecallRequest, Recalled, SearchAnswer,
    SearchRequest, SearchScope, SqliteStore,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

fn read(path: &Path) -> Result<SqliteStore, Error> {
    SqliteOptions::default().read_only().open(path)
}

fn said(number: usize) -> NewContent {
    texts(&conversation(&format!("c{number}"), "ann"), &["Where is the zebra?", &format!("At gate {number}.")])
}

/// What stands at the second place of a conversation.
async fn recalled(store: &SqliteStore, content: &NewContent) -> Option<String> {
    let point = ChainPoint::Tag(end(content).into());
    let request = RecallRequest { reader: "ann".into(), point, address: Address::of(1), max_bytes: 999 };
    match store.recall(request).await.unwrap() {
        Recalled::Messages { messages, .. } => messages.first().map(|message| message.raw.to_string()),
        _ => None,
    }
}

async fn found(store: &SqliteStore, query: &str) -> usize {
    let (reader, query) = ("ann".into(), query.to_owned());
    match store.search(SearchRequest { reader, scope: SearchScope::Everything, query, limit: 9 }).await.unwrap() {
        SearchAnswer::Hits(hits) => hits.len(),
        _ => 0,
    }
}

/// Every file of a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap())).collect()
}

async fn closed_store(path: &Path, contents: impl IntoIterator<Item = NewContent>) {
    let store = SqliteStore::open(path).unwrap();
    for content in contents {
        store.put_content(content).await.unwrap();
    }
    store.insert_decision(decision(1, 0, "cut")).await.unwrap();
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_closed_store_is_read_and_nothing_is_written() {
    let (folder, _) = place();
    let path = folder.path().join("file:store.db?mode=memory&x=%41 ä");
    closed_store(&path, [said(7)]).await;
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    let store = read(&path).unwrap();
    assert!(recalled(&store, &said(7)).await.unwrap().contains("At gate 7."));
    assert_eq!((found(&store, "zebra").await, found(&store, "giraffe").await), (1, 0));
    assert_eq!(store.size().await.unwrap().decisions, 1);
    assert!(store.insert_decision(decision(2, 0, "late")).await.unwrap_err().is_read_only());
    assert!(store.put_content(said(8)).await.unwrap_err().is_read_only());
    assert_eq!(store.put_content_behind(said(8)), Queued::Waiting);
    store.flush().await.unwrap();
    assert_eq!(store.status().lost, 1);
    store.close().await.unwrap();
    assert!(files(folder.path()) == before, "something was written");
}

#[tokio::test]
async fn a_store_that_was_closed_is_one_file() {
    for round in 0..50 {
        let (folder, path) = place();
        let store = SqliteOptions::default().readers(8).open(&path).unwrap();
        store.put_content(said(7)).await.unwrap();
        store.close().await.unwrap();
        assert_eq!(files(folder.path()).len(), 1, "round {round}");
    }
}

#[tokio::test]
async fn what_others_write_is_seen_with_the_next_question() {
    let (folder, path) = place();
    closed_store(&path, [said(7)]).await;
    let store = read(&path).unwrap();
    assert_eq!(recalled(&store, &said(8)).await, None);
    closed_store(&path, [said(8)]).await;
    assert!(recalled(&store, &said(8)).await.unwrap().contains("At gate 8."));
    let others = folder.path().join("other.db");
    closed_store(&others, []).await;
    std::fs::rename(others, &path).unwrap();
    let request =
        SearchRequest { reader: "ann".into(), scope: SearchScope::Everything, query: "zebra".to_owned(), limit: 9 };
    assert!(store.search(request).await.unwrap_err().is_gone());
}

#[tokio::test]
async fn a_log_is_read_along_while_its_writer_lives_and_after_it_was_killed() {
    let (folder, path) = place();
    closed_store(&path, []).await;
    let mut writer = child("write", &path, "10");
    let mut lines = BufReader::new(writer.stdout.take().unwrap());
    let mut output = String::new();
    let mut last = None;
    for _ in 0..20 {
        while told(&output, "put").last().map(str::to_owned) == last {
            assert!(lines.read_line(&mut output).unwrap() > 0, "{output}");
        }
        last = told(&output, "put").last().map(str::to_owned);
        let number: u64 = last.as_ref().unwrap().parse().unwrap();
        let store = read(&path).unwrap();
        let content = super::processes::written(number);
        assert!(recalled(&store, &content).await.is_some(), "{number}");
        store.close().await.unwrap();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
    let number: u64 = last.unwrap().parse().unwrap();
    let before = files(folder.path());
    assert_eq!(before.keys().collect::<Vec<_>>(), ["store.db", "store.db-shm", "store.db-wal"]);
    assert!(!before["store.db-wal"].is_empty());
    let store = read(&path).unwrap();
    assert!(recalled(&store, &super::processes::written(number)).await.is_some());
    store.close().await.unwrap();
    assert!(files(folder.path()) == before, "something was written");

    // Nobody can say what of a log counts without the file beside it, and that cannot be made here.
    std::fs::remove_file(folder.path().join("store.db-shm")).unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.is_read_only() && error.to_string().contains("let `louver archive list` open it once"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_in_one_sentence() {
    let (folder, path) = place();
    assert!(read(&path).unwrap_err().is_gone());
    std::fs::write(&path, "").unwrap();
    let error = read(&path).unwrap_err();
    assert!(error.to_string().contains("older than what can be read"), "{error}");
    std::fs::write(&path, b"Dear diary, ".repeat(500)).unwrap();
    assert!(read(&path).unwrap_err().is_corrupt());
    std::fs::remove_file(&path).unwrap();
    closed_store(&path, []).await;
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(read(&path).unwrap_err().is_newer_schema());
    drop(folder);
}
