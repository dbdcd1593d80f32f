//! Messages that were numbered early and committed late.

use super::server::Server;
use crate::suite::{conversation, texts};
use louver_store::{Content, NewContent, PostgresStore, SearchAnswer, SearchRequest, SearchScope};
use std::sync::Arc;
use std::time::Duration;

async fn found(store: &PostgresStore) -> Vec<String> {
    let request =
        SearchRequest { reader: "ann".into(), scope: SearchScope::Everything, query: "needle".to_owned(), limit: 9 };
    match store.search(request).await.unwrap() {
        SearchAnswer::Hits(hits) => hits.into_iter().map(|hit| hit.place.conversation.to_string()).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn whoever_searches_everything_again_misses_none() {
    let Some(server) = Server::shared() else { return };
    let database = server.database();
    let name = database.address.rsplit('/').next().unwrap();
    let store = Arc::new(PostgresStore::open(&database.address).unwrap());
    store.put_content(texts(&conversation("first", "ann"), &["needle one"])).await.unwrap();
    // A message at this index has its number and its words, and is committed when there is something in a table.
    server.sql(
        name,
        "CREATE TABLE gate (is_open BOOLEAN);
        CREATE FUNCTION wait_at_gate() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        BEGIN
            WHILE NOT EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP;
            RETURN NEW;
        END
        $$;
        CREATE TRIGGER waits BEFORE INSERT ON louver.positions FOR EACH ROW WHEN (NEW.message_index = 77)
            EXECUTE FUNCTION wait_at_gate()",
    );
    let late = NewContent { index: 77, ..texts(&conversation("late", "ann"), &["needle two"]) };
    let writing = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.put_content(late).await }
    });
    let waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";
    while server.sql(name, waiting) != "1" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    store.put_content(texts(&conversation("early", "ann"), &["needle three"])).await.unwrap();
    assert_eq!(found(&store).await, ["early", "first"]);
    server.sql(name, "INSERT INTO gate VALUES (TRUE)");
    writing.await.unwrap().unwrap();
    assert_eq!(found(&store).await, ["early", "late", "first"]);
    assert_eq!(found(&PostgresStore::open(&database.address).unwrap()).await, ["early", "late", "first"]);
}
