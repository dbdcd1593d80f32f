//! Which way the server goes.

use super::server::Server;
use louver_store::{Account, Order, PageRequest, PostgresStore, Whose};
use std::time::Duration;

/// How many rows were read by an index, as soon as the server says that enough were. Planning alone reads a few.
async fn rows_read(server: &Server, database: &str, index: &str, enough: u64) -> u64 {
    let sql = format!("SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = '{index}'");
    let mut rows = 0;
    for _ in 0..100 {
        rows = server.sql(database, &sql).parse().unwrap();
        if rows >= enough {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    rows
}

#[tokio::test]
async fn conversations_by_money_are_read_from_an_index() {
    let Some(server) = Server::shared() else { return };
    let database = server.database();
    let name = database.address.rsplit('/').next().unwrap();
    let store = PostgresStore::open(&database.address).unwrap();
    server.sql(
        name,
        "INSERT INTO louver.readers (name) SELECT 'reader' || n FROM generate_series(0, 9) n;
        INSERT INTO louver.conversations (id, reader, format, model, first_ms, last_ms, cost_nano, baseline_nano)
            SELECT 'c' || n, r.number, 'anthropic', 'sonnet', n, n, n * 7919 % 10007, n * 104729 % 20011
            FROM generate_series(1, 20000) n JOIN louver.readers r ON r.name = 'reader' || n % 10;
        ANALYZE louver.readers, louver.conversations",
    );
    for (order, of_everybody, of_one) in [
        (Order::Dearest, "conversations_by_cost", "conversations_by_reader_cost"),
        (Order::MostSaved, "conversations_by_saving", "conversations_by_reader_saving"),
    ] {
        for (whose, index) in [(Whose::Everybody, of_everybody), (Whose::Only("reader3".into()), of_one)] {
            let first = store.conversations_by(order, whose.clone(), PageRequest::first(50)).await.unwrap();
            let next = PageRequest::after(first.next.unwrap(), 50);
            assert_eq!(store.conversations_by(order, whose, next).await.unwrap().rows.len(), 50);
            // Two pages, and not all of them: a sort would have read every conversation.
            let rows = rows_read(server, name, index, 100).await;
            assert!((100..1_000).contains(&rows), "{order:?} {index}: {rows}");
        }
    }
}
