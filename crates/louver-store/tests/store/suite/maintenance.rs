use super::{NOW, Tested, conversation, decision, end, texts};
use louver::address::Address;
use louver_store::{
    ChainPoint, ChainQuery, Decision, NewContent, Outcome, PageRequest, Queued, RecallRequest, Recalled, Removed,
    RequestEntry, Retention, SearchAnswer, SearchRequest, SearchScope, Sequence, UnixMillis, Whose,
};

fn days(days: i64) -> UnixMillis {
    NOW.plus_days(days)
}

async fn record(store: Tested<'_>, id: &str, at: UnixMillis) {
    let entry = RequestEntry::new(at, "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(store.record_request(&conversation(id, "ann"), entry), Queued::Waiting);
    store.flush().await.unwrap();
}

async fn put(store: Tested<'_>, id: &str, at: UnixMillis, words: &[&str]) -> NewContent {
    let kept = NewContent { at, ..texts(&conversation(id, "ann"), words) };
    store.put_content(kept.clone()).await.unwrap();
    kept
}

async fn is_there(store: Tested<'_>, kept: &NewContent) -> bool {
    let request = RecallRequest {
        reader: "ann".into(),
        point: ChainPoint::Tag(end(kept).into()),
        address: Address::of_ranges(std::iter::once(0..kept.messages.len())).unwrap(),
        max_bytes: usize::MAX,
    };
    matches!(store.recall(request).await.unwrap(), Recalled::Messages { .. })
}

async fn found(store: Tested<'_>, query: &str) -> usize {
    let request =
        SearchRequest { reader: "ann".into(), scope: SearchScope::Everything, query: query.to_owned(), limit: 99 };
    match store.search(request).await.unwrap() {
        SearchAnswer::Hits(hits) => hits.len(),
        other => panic!("{other:?}"),
    }
}

async fn conversations(store: Tested<'_>) -> Vec<String> {
    let page = store.conversations(Whose::Everybody, PageRequest::first(99)).await.unwrap();
    page.rows.into_iter().map(|row| row.info.id.to_string()).collect()
}

pub(crate) async fn old_decisions_leave_with_their_conversation(store: Tested<'_>) {
    let made = [("old", 1, -500), ("old", 2, -401), ("alive", 3, -500), ("alive", 4, -1), ("new", 5, -399)];
    for (id, number, day) in made {
        let decision = Decision { conversation: id.into(), at: days(day), ..decision(number, 0, id) };
        store.insert_decision(decision).await.unwrap();
    }
    let version = store.decisions_version().await.unwrap();
    let removed = store.retain(Retention::default_at(NOW)).await.unwrap();
    assert_eq!(removed, Removed { decisions: 2, is_erased: true, ..Removed::default() });
    assert_ne!(store.decisions_version().await.unwrap(), version);
    let hashes = (1..6).map(super::chain).collect();
    let query = ChainQuery { upstream: "anthropic".to_owned(), hashes, after: Sequence::default() };
    let left = store.decisions_on(query).await.unwrap();
    assert_eq!(left.iter().map(|left| left.decision.at).collect::<Vec<_>>(), [days(-500), days(-1), days(-399)]);
    // A number is never given twice.
    let next = store.insert_decision(decision(9, 0, "next")).await.unwrap();
    assert!(next.winner().sequence > left[2].sequence);
}

pub(crate) async fn old_content_leaves(store: Tested<'_>) {
    let old = put(store, "old", days(-40), &["shared words", "old words"]).await;
    let new = put(store, "new", days(-20), &["shared words", "new words"]).await;
    record(store, "old", days(-40)).await;
    let retention = Retention { content_before: Some(days(-30)), ..Retention::default() };
    let removed = store.retain(retention).await.unwrap();
    assert_eq!(removed, Removed { messages: 1, is_erased: true, ..Removed::default() });
    assert_eq!((is_there(store, &old).await, is_there(store, &new).await), (false, true));
    assert_eq!((found(store, "old").await, found(store, "words").await), (0, 2));
    // The account is another matter.
    assert_eq!(conversations(store).await, ["new", "old"]);
    // It may be told again.
    assert_eq!(store.put_content(old.clone()).await.unwrap(), 2);
    assert_eq!((is_there(store, &old).await, found(store, "old").await), (true, 1));
}

pub(crate) async fn content_is_kept_within_bytes(store: Tested<'_>) {
    let mut kept = Vec::new();
    for (id, day) in [("b", -2), ("a", -3), ("c", -1)] {
        kept.push(put(store, id, days(day), &[&format!("{id} {}", "x".repeat(1_000))]).await);
    }
    let retention = |bytes| Retention { content_max_bytes: Some(bytes), ..Retention::default() };
    assert_eq!(store.retain(retention(10_000)).await.unwrap().messages, 0);
    assert_eq!(store.retain(retention(2_500)).await.unwrap().messages, 1);
    let left = [is_there(store, &kept[0]).await, is_there(store, &kept[1]).await, is_there(store, &kept[2]).await];
    assert_eq!(left, [true, false, true]);
    assert_eq!(store.retain(retention(0)).await.unwrap().messages, 2);
    assert_eq!(store.size().await.unwrap().content_bytes, 0);
}

pub(crate) async fn old_accounts_leave(store: Tested<'_>) {
    for number in 0..600 {
        let entry = RequestEntry::new(days(-90), "anthropic", "sonnet", Outcome::Passed);
        let id = if number % 2 == 0 { "old" } else { "older" };
        assert_eq!(store.record_request(&conversation(id, "ann"), entry), Queued::Waiting);
    }
    record(store, "new", days(-5)).await;
    put(store, "older", days(-90), &["words"]).await;
    let retention = Retention { account_before: Some(days(-30)), ..Retention::default() };
    assert_eq!(store.retain(retention).await.unwrap().requests, 600);
    // What is left of one is its content.
    assert_eq!(conversations(store).await, ["new", "older"]);
    assert_eq!(store.requests("older".into(), PageRequest::first(9)).await.unwrap().rows, []);
}

pub(crate) async fn a_deleted_conversation_is_gone(store: Tested<'_>) {
    let words: Vec<String> = (0..700).map(|number| format!("needle{number} secret")).collect();
    let kept = put(store, "c1", NOW, &words.iter().map(String::as_str).collect::<Vec<_>>()).await;
    record(store, "c1", NOW).await;
    store.insert_decision(decision(1, 0, "stays")).await.unwrap();
    // What only waits to be written goes, too.
    let more = texts(&conversation("c1", "ann"), &["secret behind"]);
    assert_eq!(store.put_content_behind(more), Queued::Waiting);
    let removed = store.delete_conversation("c1".into()).await.unwrap();
    assert_eq!(removed, Removed { decisions: 0, requests: 1, messages: 701, is_erased: true });
    assert_eq!((is_there(store, &kept).await, found(store, "secret needle7").await), (false, 0));
    assert_eq!(store.conversation("c1".into()).await.unwrap(), None);
    let size = store.size().await.unwrap();
    assert_eq!((size.decisions, size.conversations, size.requests, size.messages), (1, 0, 0, 0));
    let nothing = store.delete_conversation("c1".into()).await.unwrap();
    assert_eq!(nothing, Removed { is_erased: true, ..Removed::default() });
    store.check().await.unwrap();
}

pub(crate) async fn what_others_hold_stays(store: Tested<'_>) {
    let first = put(store, "c1", NOW, &["shared", "mine alone", "shared"]).await;
    let fork = put(store, "c2", NOW, &["shared", "another"]).await;
    let twin =
        NewContent { conversation: conversation("c3", "bob"), ..texts(&conversation("c1", "ann"), &["mine alone"]) };
    store.put_content(twin).await.unwrap();
    assert_eq!(store.delete_conversation("c1".into()).await.unwrap().messages, 1);
    assert_eq!((is_there(store, &first).await, is_there(store, &fork).await), (false, true));
    assert_eq!((found(store, "shared").await, found(store, "mine").await), (1, 0));
    assert_eq!(store.size().await.unwrap().messages, 3);
}

pub(crate) async fn a_vacuum_changes_nothing(store: Tested<'_>) {
    let kept = put(store, "c1", NOW, &["some needle", "other words"]).await;
    record(store, "c1", NOW).await;
    store.insert_decision(decision(1, 0, "kept")).await.unwrap();
    let before = store.size().await.unwrap();
    store.vacuum().await.unwrap();
    store.check().await.unwrap();
    let after = store.size().await.unwrap();
    assert_eq!(louver_store::StoreSize { file_bytes: 0, ..after }, louver_store::StoreSize { file_bytes: 0, ..before });
    assert_eq!((is_there(store, &kept).await, found(store, "needle").await), (true, 1));
}

pub(crate) async fn sizes_are_counted(store: Tested<'_>) {
    let empty = store.size().await.unwrap();
    assert_eq!(louver_store::StoreSize { file_bytes: 0, ..empty }, louver_store::StoreSize::default());
    put(store, "c1", NOW, &["words"]).await;
    record(store, "c1", NOW).await;
    record(store, "c2", NOW).await;
    store.insert_decision(decision(1, 0, "kept")).await.unwrap();
    let size = store.size().await.unwrap();
    assert_eq!((size.decisions, size.conversations, size.requests, size.messages), (1, 2, 2, 1));
    assert!(size.content_bytes == super::said("words").len() as u64 && size.file_bytes > 0);
}

pub(crate) async fn a_closed_store_says_so(store: Tested<'_>) {
    let entry = || RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed);
    assert_eq!(store.record_request(&conversation("c1", "ann"), entry()), Queued::Waiting);
    store.close().await.unwrap();
    store.close().await.unwrap();
    assert_eq!(store.status().waiting, 0);
    assert_eq!(store.record_request(&conversation("c1", "ann"), entry()), Queued::Lost);
    assert_eq!(store.status().lost, 1);
    assert!(store.insert_decision(decision(1, 0, "late")).await.unwrap_err().is_closed());
    assert!(store.conversation("c1".into()).await.unwrap_err().is_closed());
    assert!(store.flush().await.unwrap_err().is_closed());
    assert!(store.vacuum().await.unwrap_err().is_closed());
}
