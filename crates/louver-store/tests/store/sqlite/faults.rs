//! Disks that are full, files that are locked, damaged, moved or not ours to write.

use super::{Lock, place};
use crate::suite::{NOW, chain, content, conversation, decision, said, texts};
use louver_store::sqlite::SqliteOptions;
use louver_store::{
    Account, ChainQuery, Content, Decision, Decisions, Error, Maintenance, Outcome, Queued, RequestEntry, Retention,
    Sequence, SqliteStore,
};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn all(numbers: std::ops::Range<u64>) -> ChainQuery {
    let hashes = numbers.map(chain).collect();
    ChainQuery { upstream: "anthropic".to_owned(), hashes, after: Sequence::default() }
}

fn large(number: u64) -> Decision {
    Decision { record: vec![number as u8; 20_000].into(), ..decision(number, 0, "") }
}

/// Inserts until it fails.
async fn fill(store: &SqliteStore) -> (u64, Error) {
    for number in 0.. {
        if let Err(error) = store.insert_decision(large(number)).await {
            return (number, error);
        }
    }
    unreachable!()
}

#[tokio::test]
async fn a_full_disk_is_said_and_nothing_is_half_written() {
    let (_folder, path) = place();
    let store = SqliteOptions::default().max_bytes(800 << 10).open(&path).unwrap();
    let (kept, error) = fill(&store).await;
    assert!(kept > 5 && error.is_full() && error.is_transient(), "{kept} {error:?}");
    assert_eq!(error.to_string(), "there is no room for the store to grow: the disk or its quota is full");

    let raws = (0..50).map(|number| said(&format!("{number} {}", "words ".repeat(4_000))));
    let error = store.put_content(content(&conversation("c1", "ann"), raws)).await.unwrap_err();
    assert!(error.is_full());
    let size = store.size().await.unwrap();
    assert_eq!((size.decisions, size.messages, size.conversations), (kept, 0, 0));
    assert_eq!(store.decisions_on(all(0..kept)).await.unwrap().len() as u64, kept);
    store.check().await.unwrap();

    // What is written behind waits until there is room again.
    for number in 0..300 {
        let reason = Some(format!("{number} {}", "reason ".repeat(60)));
        let entry =
            RequestEntry { cut_reason: reason, ..RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed) };
        assert_eq!(store.record_request(&conversation("c1", "ann"), entry), Queued::Waiting);
    }
    assert!(store.flush().await.unwrap_err().is_full());
    assert!(store.status().is_failing && store.status().waiting > 0);
    let everything = Retention { decisions_before: Some(NOW.plus_days(1)), ..Retention::default() };
    assert_eq!(store.retain(everything).await.unwrap().decisions, kept);
    store.flush().await.unwrap();
    assert_eq!(store.conversation("c1".into()).await.unwrap().unwrap().requests, 300);
    assert_eq!((store.status().is_failing, store.status().lost), (false, 0));
    store.insert_decision(large(0)).await.unwrap();
}

#[tokio::test]
async fn a_store_that_closes_while_the_disk_is_full_counts_what_it_loses() {
    let (_folder, path) = place();
    let store = SqliteOptions::default().max_bytes(800 << 10).open(&path).unwrap();
    fill(&store).await;
    let words = texts(&conversation("c1", "ann"), &[&"words and more ".repeat(20_000)]);
    assert_eq!(store.put_content_behind(words), Queued::Waiting);
    assert!(store.close().await.unwrap_err().is_full());
    assert_eq!((store.status().waiting, store.status().lost), (0, 1));
}

#[tokio::test]
async fn a_locked_store_is_busy_and_then_goes_on() {
    let (_folder, path) = place();
    let store = SqliteOptions::default().busy_timeout(Duration::from_millis(50)).open(&path).unwrap();
    store.insert_decision(decision(1, 0, "before")).await.unwrap();
    let lock = Lock::hold(&path);
    let error = store.insert_decision(decision(2, 0, "meanwhile")).await.unwrap_err();
    assert!(error.is_busy() && error.is_transient());
    assert_eq!(error.to_string(), "another process holds the store and did not finish in time");
    // Reading does not wait for writers.
    assert_eq!(store.decisions_on(all(0..9)).await.unwrap().len(), 1);
    let entry = RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(store.record_request(&conversation("c1", "ann"), entry), Queued::Waiting);
    assert!(store.flush().await.unwrap_err().is_busy());
    lock.release();
    store.flush().await.unwrap();
    store.insert_decision(decision(2, 0, "after")).await.unwrap();
    let found = store.decisions_on(all(0..9)).await.unwrap();
    assert_eq!(found.iter().map(|found| &found.decision.record[..]).collect::<Vec<_>>(), [&b"before"[..], b"after"]);
    assert_eq!(store.conversation("c1".into()).await.unwrap().unwrap().requests, 1);
}

#[tokio::test]
async fn a_file_that_is_moved_is_noticed() {
    for is_replaced in [false, true] {
        let (folder, path) = place();
        let store = SqliteStore::open(&path).unwrap();
        store.insert_decision(decision(1, 0, "kept")).await.unwrap();
        let elsewhere = folder.path().join("elsewhere.db");
        std::fs::rename(&path, &elsewhere).unwrap();
        if is_replaced {
            std::fs::write(&path, "").unwrap();
        }
        let errors = [
            store.insert_decision(decision(2, 0, "lost")).await.unwrap_err(),
            store.decisions_on(all(0..9)).await.unwrap_err(),
            store.decisions_version().await.unwrap_err(),
            store.vacuum().await.unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.is_gone() && !error.is_transient()), "{errors:?}");
        let entry = RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed);
        assert_eq!(store.record_request(&conversation("c1", "ann"), entry), Queued::Waiting);
        assert!(store.flush().await.is_ok());
        assert_eq!(store.status().lost, 1);
        if !is_replaced {
            // Back in its place it is the same file.
            std::fs::rename(&elsewhere, &path).unwrap();
            assert_eq!(store.decisions_on(all(0..9)).await.unwrap().len(), 1);
            store.insert_decision(decision(2, 0, "kept")).await.unwrap();
        }
    }
}

/// A store with something of everything, closed.
async fn filled(path: &Path) {
    let store = SqliteStore::open(path).unwrap();
    for number in 0..20 {
        store.insert_decision(large(number)).await.unwrap();
    }
    let raws = (0..200).map(|number| said(&format!("words of {number}")));
    store.put_content(content(&conversation("c1", "ann"), raws)).await.unwrap();
    store.close().await.unwrap();
}

/// Everything that can be asked; the errors that came.
async fn ask_everything(path: &Path) -> Vec<Error> {
    let store = match SqliteStore::open(path) {
        Ok(store) => store,
        Err(error) => return vec![error],
    };
    let mut errors = Vec::new();
    errors.extend(store.decisions_on(all(0..30)).await.err());
    errors.extend(store.insert_decision(decision(100, 0, "new")).await.err());
    errors.extend(store.put_content(texts(&conversation("c2", "ann"), &["new words"])).await.err());
    errors.extend(store.delete_conversation("c1".into()).await.err());
    errors.extend(store.check().await.err());
    errors.extend(store.vacuum().await.err());
    errors.extend(store.close().await.err());
    errors
}

#[tokio::test]
async fn damage_is_told_and_is_no_panic() {
    let (folder, whole) = place();
    filled(&whole).await;
    let bytes = std::fs::read(&whole).unwrap();
    let path = folder.path().join("damaged.db");
    let mut told = 0;
    for page in 0..bytes.len() / 4096 {
        let mut damaged = bytes.clone();
        damaged[page * 4096..][..4096].fill(0xa5);
        std::fs::write(&path, damaged).unwrap();
        let errors = ask_everything(&path).await;
        told += usize::from(errors.iter().any(Error::is_corrupt));
        for suffix in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", path.display()));
        }
    }
    // Pages of text may be anything; the others are not.
    assert!(told * 4096 * 3 > bytes.len(), "{told} of {}", bytes.len() / 4096);
    // A file of one byte is an empty one to SQLite.
    for length in [2, 99, 100, 4095, 4096, 5000, bytes.len() / 2] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        let errors = ask_everything(&path).await;
        assert!(errors.iter().any(Error::is_corrupt), "{length}: {errors:?}");
        let _ = std::fs::remove_file(&path);
    }
}

/// Where a child finds the store, and what it is to do.
const CHILD: &str = "LOUVER_STORE_CHILD";

#[cfg(unix)]
#[tokio::test]
async fn what_may_not_be_written_is_refused() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    // Nothing is forbidden to the superuser, so that a child has to be somebody else.
    let nobody = 65_534;
    let (folder, path) = place();
    filled(&path).await;
    let exe = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    let is_root = chown(&path, Some(nobody), Some(nobody)).is_ok();
    let allow = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(&exe, 0o755);
    for (folder_mode, file_mode) in [(0o755, 0o400), (0o755, 0o000), (0o555, 0o444)] {
        allow(&path, file_mode);
        allow(folder.path(), folder_mode);
        let mut child = Command::new(&exe);
        child.args(["--exact", "sqlite::faults::open_what_may_not_be_written", "--ignored"]).env(CHILD, &path);
        if is_root {
            child.uid(nobody).gid(nobody);
        }
        let output = child.output().unwrap();
        allow(folder.path(), 0o755);
        assert!(output.status.success(), "{folder_mode:o} {file_mode:o} {output:?}");
    }
}

#[test]
#[ignore = "run as a child"]
fn open_what_may_not_be_written() {
    let path = std::env::var_os(CHILD).unwrap();
    let error = SqliteStore::open(&path).unwrap_err();
    assert!(error.is_read_only() && !error.is_transient(), "{error:?}");
    let beside = Path::new(&path).with_file_name("new/store.db");
    assert!(SqliteStore::open(beside).unwrap_err().is_read_only());
}

#[tokio::test]
async fn a_call_that_is_given_up_leaves_the_store_sound() {
    let (_folder, path) = place();
    let store = SqliteStore::open(&path).unwrap();
    for number in 0..200 {
        let insert = store.insert_decision(decision(number, 0, "x"));
        // Polled once, then dropped.
        tokio::select! {
            biased;
            inserted = insert => drop(inserted),
            () = std::future::ready(()) => {}
        }
    }
    store.insert_decision(decision(1_000, 0, "last")).await.unwrap();
    assert_eq!(store.size().await.unwrap().decisions, 201);
    store.check().await.unwrap();
}
