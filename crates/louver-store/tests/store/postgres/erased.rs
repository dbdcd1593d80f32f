//! Nothing of what was deleted stays in the server's files.

use super::server::Server;
use crate::suite::{NOW, content, conversation, said};
use louver_store::{Account, Content, Maintenance, Outcome, PostgresStore, Queued, RequestEntry};
use std::path::Path;

/// A word that stands nowhere else, whole and in a name.
const SECRET: &str = "xylophonesecret";

/// How often the secret stands in the bytes of all files below a folder, in any case.
fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let in_entry = |entry: std::fs::DirEntry| match entry.file_type().unwrap().is_dir() {
        true => count(&entry.path()),
        false => std::fs::read(entry.path()).map_or(0, |bytes| {
            bytes.windows(SECRET.len()).filter(|window| window.eq_ignore_ascii_case(SECRET.as_bytes())).count()
        }),
    };
    entries.map(in_entry).sum()
}

#[tokio::test]
async fn a_deleted_conversation_leaves_no_byte() {
    // A server of its own: the files of others are not looked at.
    let Some(server) = Server::start() else { return };
    let database = server.database();
    let store = PostgresStore::open(&database.address).unwrap();
    let words = |number: usize, word: &str| said(&format!("{word}{number} {word}/{word}_{number}.rs {word}"));
    for (id, word) in [("secret", SECRET), ("open", "public")] {
        let kept = content(&conversation(id, "ann"), (0..300).map(|number| words(number, word)));
        store.put_content(kept).await.unwrap();
    }
    let entry = RequestEntry {
        cut_reason: Some(format!("because of {SECRET}")),
        ..RequestEntry::new(NOW, "anthropic", SECRET, Outcome::Cut)
    };
    for _ in 0..50 {
        assert_eq!(store.record_request(&conversation("secret", "ann"), entry.clone()), Queued::Waiting);
    }
    store.flush().await.unwrap();
    assert!(count(&server.files()) > 1_000);
    let removed = store.delete_conversation("secret".into()).await.unwrap();
    assert_eq!((removed.messages, removed.requests, removed.is_erased), (300, 50, true));
    assert_eq!(count(&server.files()), 0);
    assert_eq!(store.size().await.unwrap().messages, 300);
    store.check().await.unwrap();
}
