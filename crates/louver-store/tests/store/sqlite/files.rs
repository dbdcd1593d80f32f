//! Files: who may see them, what is refused, and what an older version left.

use super::place;
use crate::suite::{NOW, chain, conversation, decision, end, said, texts};
use louver::address::Address;
use louver::tokens::Factor;
use louver_store::sqlite::SqliteOptions;
use louver_store::{
    Account, ChainPoint, ChainQuery, Content, CredentialHash, Decisions, Facts, LearnedFacts, LimitScope, Maintenance,
    NanoUsd, Outcome, PageRequest, Queued, RecallRequest, Recalled, RequestEntry, SearchAnswer, SearchRequest,
    SearchScope, Sequence, ServedModel, SqliteStore, Usage,
};
use std::path::{Path, PathBuf};

#[cfg(unix)]
#[tokio::test]
async fn files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, _) = place();
    let path = folder.path().join("new/er/store.db");
    let store = SqliteStore::open(&path).unwrap();
    store.insert_decision(decision(1, 0, "x")).await.unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files: Vec<PathBuf> =
        std::fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 3, "{files:?}");
    assert!(files.iter().all(|file| mode(file) == 0o600), "{files:?}");
    assert_eq!([mode(path.parent().unwrap()), mode(&folder.path().join("new"))], [0o700; 2]);
}

#[test]
fn what_is_no_store_is_left_alone() {
    let (folder, path) = place();
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = SqliteStore::open(&path).unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        error
    };
    let text = open(&b"Dear diary, ".repeat(500));
    assert!(text.is_corrupt() && !text.is_transient());
    assert_eq!(text.to_string(), format!("{}: the file is no store of Louver", path.display()));
    assert!(open(b"short").is_corrupt());
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    assert!(SqliteStore::open(&path).unwrap_err().to_string().contains("a database of another program"));
    assert!(SqliteStore::open(folder.path()).unwrap_err().is_corrupt());
    assert!(!SqliteStore::open(path.join("below/a/file.db")).unwrap_err().is_transient() || cfg!(unix));
}

#[test]
fn a_missing_store_is_only_made_where_that_is_wanted() {
    let (folder, path) = place();
    let error = SqliteOptions::default().create(false).open(&path).unwrap_err();
    assert!(error.is_gone());
    assert_eq!(error.to_string(), format!("there is no store at {}", path.display()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_newer_schema_is_refused() {
    let (_folder, path) = place();
    drop(SqliteStore::open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(error.is_newer_schema() && !error.is_transient());
    assert!(error.to_string().contains("made by a newer version of Louver (schema 99"), "{error}");
}

#[tokio::test]
async fn a_name_that_looks_like_a_uri_is_a_name() {
    let (folder, _) = place();
    let path = folder.path().join("file:store.db?mode=memory&x=%41 ä");
    let store = SqliteStore::open(&path).unwrap();
    store.insert_decision(decision(1, 0, "x")).await.unwrap();
    store.close().await.unwrap();
    assert!(path.metadata().unwrap().len() > 0);
    assert_eq!(SqliteStore::open(&path).unwrap().size().await.unwrap().decisions, 1);
}

/// A store of the first version, made by `make_golden`. It stays as it is: every later version has to read it.
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/store-1.db");

#[tokio::test]
async fn a_store_of_the_first_version_is_read_as_it_was_written() {
    let (_folder, path) = place();
    std::fs::copy(GOLDEN, &path).unwrap();
    // Also where it may not be brought up to date.
    let store = SqliteOptions::default().read_only().open(&path).unwrap();
    check_golden_content(&store).await;
    store.close().await.unwrap();
    check_golden(&SqliteStore::open(&path).unwrap()).await;
}

/// Writes a new golden store where `LOUVER_STORE_GOLDEN` says, for the day when there is a second version.
#[tokio::test]
#[ignore = "makes a file to be committed"]
async fn make_golden() {
    let path = PathBuf::from(std::env::var_os("LOUVER_STORE_GOLDEN").unwrap());
    let store = SqliteStore::open(&path).unwrap();
    fill_golden(&store).await;
    check_golden(&store).await;
    store.vacuum().await.unwrap();
    store.close().await.unwrap();
}

fn golden_scope() -> LimitScope {
    let served = ServedModel { upstream: "anthropic".to_owned(), model: "sonnet".to_owned() };
    LimitScope { served, beta: "context-1m".to_owned(), credential: CredentialHash([8; 32]) }
}

fn golden_request() -> RequestEntry {
    RequestEntry {
        usage: Some(Usage { input: 1, cache_read: 2, cache_write_5m: 3, cache_write_1h: 4, output: 5, reasoning: 6 }),
        cost: Some(NanoUsd(7)),
        baseline: Some(NanoUsd(8)),
        cut_reason: Some("rent".to_owned()),
        ..RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Cut)
    }
}

async fn fill_golden(store: &SqliteStore) {
    store.insert_decision(decision(1, 0, "first")).await.unwrap();
    store.insert_decision(decision(2, 1, "second")).await.unwrap();
    store.mark_shown(crate::suite::key(2, 0)).await.unwrap();
    store.learn_limit(golden_scope(), 1_000_000, NOW).await.unwrap();
    store.learn_calibration(golden_scope().served, Factor::from_millionths(1_180_000)).await.unwrap();
    store.learn_answer(golden_scope().served, 4_321).await.unwrap();
    assert_eq!(store.record_request(&conversation("c1", "ann"), golden_request()), Queued::Waiting);
    store.put_content(golden_content()).await.unwrap();
    store.flush().await.unwrap();
}

fn golden_content() -> louver_store::NewContent {
    texts(&conversation("c1", "ann"), &["See src/main_loop.rs.", "main loop main loop", "日本語 text"])
}

async fn check_golden(store: &SqliteStore) {
    let hashes = vec![chain(1), chain(2)];
    let query = ChainQuery { upstream: "anthropic".to_owned(), hashes, after: Sequence::default() };
    let found = store.decisions_on(query).await.unwrap();
    assert_eq!(
        found.iter().map(|found| (&found.decision, found.is_shown)).collect::<Vec<_>>(),
        [(&decision(1, 0, "first"), false), (&decision(2, 1, "second"), true),]
    );
    let facts = store.facts(golden_scope(), NOW).await.unwrap();
    let expected = LearnedFacts {
        calibration: Some(Factor::from_millionths(1_180_000)),
        context_limit: Some(1_000_000),
        longest_answer: Some(4_321),
    };
    assert_eq!(facts, expected);
    let requests = store.requests("c1".into(), PageRequest::first(9)).await.unwrap();
    assert_eq!(requests.rows, [golden_request()]);
    check_golden_content(store).await;
    store.check().await.unwrap();
}

async fn check_golden_content(store: &SqliteStore) {
    let tag = end(&golden_content());
    let address = Address::of(1);
    let recall = RecallRequest { reader: "ann".into(), point: ChainPoint::Tag(tag.into()), address, max_bytes: 999 };
    let Recalled::Messages { messages, .. } = store.recall(recall).await.unwrap() else { panic!() };
    assert_eq!(messages[0].raw, said("main loop main loop"));
    let scope = SearchScope::Conversation("c1".into());
    let search = SearchRequest { reader: "ann".into(), scope, query: "MAIN loop 本語".to_owned(), limit: 9 };
    let SearchAnswer::Hits(hits) = store.search(search).await.unwrap() else { panic!() };
    assert_eq!(hits.iter().map(|hit| hit.place.index).collect::<Vec<_>>(), [2, 1, 0]);
}
