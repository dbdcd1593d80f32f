//! Servers that stop, are restarted, take no writes or are of another version, and several stores on one.

use super::server::Server;
use crate::suite::{NOW, chain, conversation, decision, key, texts};
use louver_store::postgres::PostgresOptions;
use louver_store::{
    Account, ChainQuery, Content, Decisions, Inserted, Maintenance, Outcome, PostgresStore, Queued, RequestEntry,
    Sequence,
};
use std::time::Duration;

fn all(numbers: std::ops::Range<u64>) -> ChainQuery {
    let hashes = numbers.map(chain).collect();
    ChainQuery { upstream: "anthropic".to_owned(), hashes, after: Sequence::default() }
}

fn entry() -> RequestEntry {
    RequestEntry::new(NOW, "anthropic", "sonnet", Outcome::Passed)
}

#[tokio::test]
async fn a_server_that_stops_is_waited_for_and_nothing_is_lost_or_doubled() {
    let Some(server) = Server::start() else { return };
    let store = PostgresStore::open(&server.database().address).unwrap();
    for (round, mode) in ["fast", "immediate"].into_iter().enumerate() {
        let number = round as u64 * 2;
        store.insert_decision(decision(number, 0, "before")).await.unwrap();
        server.down(mode);
        let error = store.insert_decision(decision(number + 1, 0, "meanwhile")).await.unwrap_err();
        assert!(error.is_transient(), "{error:?}");
        assert!(store.decisions_on(all(0..9)).await.unwrap_err().is_transient());
        assert_eq!(store.record_request(&conversation("c1", "ann"), entry()), Queued::Waiting);
        assert_eq!(store.put_content_behind(texts(&conversation("c1", "ann"), &["words"])), Queued::Waiting);
        assert!(store.flush().await.unwrap_err().is_transient());
        assert!(store.status().is_failing && store.status().waiting == 2);
        server.up();
        store.insert_decision(decision(number + 1, 0, "after")).await.unwrap();
        store.flush().await.unwrap();
        assert!(!store.status().is_failing);
    }
    let kept = store.decisions_on(all(0..9)).await.unwrap();
    let records: Vec<&[u8]> = kept.iter().map(|kept| &kept.decision.record[..]).collect();
    assert_eq!(records, [&b"before"[..], b"after", b"before", b"after"]);
    assert_eq!(store.conversation("c1".into()).await.unwrap().unwrap().requests, 2);
    assert_eq!((store.size().await.unwrap().messages, store.status().lost), (1, 0));
}

#[tokio::test]
async fn a_killed_connection_is_replaced_without_anybody_noticing() {
    let Some(server) = Server::shared() else { return };
    let database = server.database();
    let store = PostgresStore::open(&database.address).unwrap();
    for number in 0..20 {
        store.insert_decision(decision(number, 0, "kept")).await.unwrap();
        assert_eq!(store.record_request(&conversation("c1", "ann"), entry()), Queued::Waiting);
        let others = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'louver'
            AND datname = current_database()";
        server.sql(database.address.rsplit('/').next().unwrap(), others);
    }
    store.flush().await.unwrap();
    assert_eq!(store.size().await.unwrap().decisions, 20);
    assert_eq!(store.conversation("c1".into()).await.unwrap().unwrap().requests, 20);
}

#[tokio::test]
async fn a_server_that_takes_no_writes_is_said_and_waited_for() {
    let Some(server) = Server::start() else { return };
    let database = server.database();
    let store = PostgresOptions::default().answer_within(Duration::from_secs(3)).open(&database.address).unwrap();
    store.insert_decision(decision(1, 0, "before")).await.unwrap();
    server.sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on");
    server.sql("postgres", "SELECT pg_reload_conf()");
    // The server reads its settings in its own time.
    let mut number = 2;
    let error = loop {
        match store.insert_decision(decision(number, 0, "meanwhile")).await {
            Err(error) => break error,
            Ok(_) => number += 1,
        }
    };
    assert!(error.is_transient(), "{error:?}");
    server.down("fast");
    std::fs::remove_file(server.files().join("postgresql.auto.conf")).unwrap();
    server.up();
    store.insert_decision(decision(number, 0, "after")).await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_opened_is_told_in_one_sentence() {
    let Some(server) = Server::shared() else { return };
    let error = PostgresStore::open(&server.address("absent")).unwrap_err();
    assert!(error.is_gone() && error.to_string().ends_with("/absent: there is no such database on the store's server"));
    let database = server.database();
    let name = database.address.rsplit('/').next().unwrap();
    let error = PostgresOptions::default().create(false).open(&database.address).unwrap_err();
    assert!(error.is_gone(), "{error}");
    server.sql(name, "CREATE SCHEMA louver");
    assert!(PostgresStore::open(&database.address).unwrap_err().is_corrupt());
    server.sql(name, "DROP SCHEMA louver");
    drop(PostgresStore::open(&database.address).unwrap());
    // The next version only adds, so this one goes on beside it; not beside the one after.
    server.sql(name, "UPDATE louver.schema_version SET version = 5");
    PostgresStore::open(&database.address).unwrap().insert_decision(decision(1, 0, "beside")).await.unwrap();
    server.sql(name, "UPDATE louver.schema_version SET version = 6");
    let error = PostgresStore::open(&database.address).unwrap_err();
    assert!(error.is_newer_schema());
    assert!(
        error.to_string().ends_with("(schema 6, this one knows 4): update Louver, or name another store"),
        "{error}"
    );
    let error = PostgresStore::open("postgres://postgres:hidden@127.0.0.1:1/x").unwrap_err();
    assert!(error.is_transient() && !format!("{error:?}").contains("hidden"), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_racing_replicas_one_wins_each_time() {
    const RACES: u64 = 10_000;
    const AT_ONCE: u64 = 64;
    let Some(server) = Server::shared() else { return };
    let address = server.database().address;
    let together = tokio::sync::Barrier::new(2);
    let racer = async |name: &'static str| {
        let store = PostgresStore::open(&address).unwrap();
        let mut won = 0;
        for start in (0..RACES).step_by(AT_ONCE as usize) {
            let mut numbers: Vec<u64> = (start..(start + AT_ONCE).min(RACES)).collect();
            // At the same moment, and every other time from both ends: on a busy machine one is always a little earlier.
            if name == "b" && start / AT_ONCE % 2 == 1 {
                numbers.reverse();
            }
            together.wait().await;
            let inserts = numbers.into_iter().map(|number| {
                let store = &store;
                async move { store.insert_decision(decision(number, 0, name)).await.unwrap() }
            });
            for inserted in futures_util::future::join_all(inserts).await {
                won += u64::from(matches!(inserted, Inserted::Mine(mine) if *mine.decision.record == *name.as_bytes()));
            }
        }
        won
    };
    let (a, b) = futures_util::future::join(racer("a"), racer("b")).await;
    assert!(a > 0 && b > 0, "there was no race: {a} and {b}");
    assert_eq!(a + b, RACES);
    let store = PostgresStore::open(&address).unwrap();
    let kept = store.decisions_on(all(0..RACES)).await.unwrap();
    assert_eq!(kept.len() as u64, RACES);
    let won = kept.iter().filter(|kept| &*kept.decision.record == b"a").count() as u64;
    assert_eq!(won, a);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_asks_for_later_ones_misses_none() {
    let Some(server) = Server::shared() else { return };
    let address = server.database().address;
    let (ours, theirs) = (PostgresStore::open(&address).unwrap(), PostgresStore::open(&address).unwrap());
    let writes = (0..400_u64).map(|number| {
        let store = if number % 2 == 0 { &ours } else { &theirs };
        async move { store.insert_decision(decision(number, 0, "x")).await.unwrap() }
    });
    let reading = async {
        let (mut seen, mut after) = (Vec::new(), Sequence::default());
        while seen.len() < 400 {
            let found = ours.decisions_on(ChainQuery { after, ..all(0..400) }).await.unwrap();
            after = found.last().map_or(after, |last| last.sequence);
            seen.extend(found.iter().map(|found| found.sequence));
        }
        seen
    };
    let reading = tokio::time::timeout(Duration::from_secs(60), reading);
    let (_, seen) = futures_util::future::join(futures_util::future::join_all(writes), reading).await;
    let seen = seen.expect("a decision was committed behind one that was seen before");
    assert!(seen.is_sorted());
}

#[tokio::test]
async fn a_shown_attempt_ends_the_others_on_every_replica() {
    let Some(server) = Server::shared() else { return };
    let address = server.database().address;
    let (ours, theirs) = (PostgresStore::open(&address).unwrap(), PostgresStore::open(&address).unwrap());
    for number in 0..200 {
        ours.insert_decision(decision(number, 0, "first")).await.unwrap();
        let further = louver_store::Decision { key: key(number, 1), ..decision(number, 0, "second") };
        let (shown, attempt) =
            futures_util::future::join(ours.mark_shown(key(number, 0)), theirs.insert_attempt(further)).await;
        assert!(shown.unwrap());
        // Either it came before, or it was told.
        let kept = ours.decisions_on(all(number..number + 1)).await.unwrap();
        match attempt.unwrap() {
            louver_store::FurtherAttempt::Shown(_) => assert!(kept[0].is_shown),
            louver_store::FurtherAttempt::Inserted(_) => assert_eq!(kept.len(), 2),
            louver_store::FurtherAttempt::Exhausted => panic!(),
        }
    }
}

#[test]
fn a_new_store_may_be_opened_by_many_at_once() {
    let Some(server) = Server::shared() else { return };
    let address = server.database().address;
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..8).map(|_| scope.spawn(|| PostgresStore::open(&address))).collect();
        for opened in opening {
            opened.join().unwrap().unwrap();
        }
    });
}
