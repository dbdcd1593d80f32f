//! Removing, shrinking and checking.
//!
//! All of it has a connection of its own and goes in small transactions, so that decisions get in between.

use super::SqliteStore;
use super::erase::Erase;
use super::place::Place;
use super::reads::{closed, spawn, unanswered};
use crate::error::{Error, Kind};
use crate::maintenance::{Maintenance, Removed, Retention, Status, StoreSize};
use crate::name::ConversationId;
use async_trait::async_trait;
use rusqlite::{Connection, params};
use tokio::sync::oneshot;

#[async_trait]
impl Maintenance for SqliteStore {
    async fn retain(&self, retention: Retention) -> Result<Removed, Error> {
        self.maintain(move |connection, _| retain(Erase::new(connection), &retention)).await
    }

    async fn delete_conversation(&self, id: ConversationId) -> Result<Removed, Error> {
        // What waits to be written may be of this conversation.
        self.writes.flush().await?;
        self.maintain(move |connection, _| {
            let mut erase = Erase::new(connection);
            let number = "SELECT number FROM conversations WHERE id = ?1";
            for conversation in erase.numbers(number, params![id.as_str()])? {
                erase.content(conversation)?;
                erase.account(conversation)?;
            }
            erase.finish()
        })
        .await
    }

    async fn vacuum(&self) -> Result<(), Error> {
        self.maintain(|connection, _| {
            let mut erase = Erase::new(connection);
            if !erase.merge_terms()? {
                return Err(Error::new(Kind::Busy, "others write to the store all the time: try again later"));
            }
            erase.connection().execute_batch("VACUUM")?;
            erase.empty_log().map(drop)
        })
        .await
    }

    async fn check(&self) -> Result<(), Error> {
        self.maintain(|connection, _| check(connection)).await
    }

    async fn size(&self) -> Result<StoreSize, Error> {
        self.maintain(size).await
    }

    fn status(&self) -> Status {
        self.writes.status()
    }

    async fn flush(&self) -> Result<(), Error> {
        self.writes.flush().await
    }

    async fn close(&self) -> Result<(), Error> {
        let flushed = self.writes.flush().await;
        self.writes.close().await;
        self.reads.close().await;
        match flushed {
            Err(error) if error.is_closed() => Ok(()),
            flushed => flushed,
        }
    }
}

impl SqliteStore {
    /// Works on a thread and a connection of its own; one at a time.
    async fn maintain<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection, &Place) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let _turn = self.maintenance.lock().await;
        if self.writes.is_closing() {
            return Err(closed());
        }
        let (reply, answer) = oneshot::channel();
        let place = self.place.clone();
        let work = move || {
            let done = place.check().and_then(|()| {
                let mut connection = place.connect()?;
                let done = work(&mut connection, &place);
                place.close(connection);
                done
            });
            // Nobody may be waiting any more.
            let _ = reply.send(done);
        };
        spawn("louver-store-maintain", work)?;
        answer.await.map_err(|_| unanswered())?
    }
}

fn retain(mut erase: Erase<'_>, retention: &Retention) -> Result<Removed, Error> {
    if let Some(before) = retention.decisions_before {
        erase.decisions(before)?;
    }
    if let Some(before) = retention.content_before {
        let silent = "SELECT DISTINCT c.number FROM conversations c JOIN threads t ON t.conversation = c.number
            WHERE c.last_ms < ?1";
        for conversation in erase.numbers(silent, params![before.0])? {
            erase.content(conversation)?;
        }
    }
    if let Some(most) = retention.content_max_bytes {
        let oldest = "SELECT c.number FROM conversations c JOIN threads t ON t.conversation = c.number
            GROUP BY c.number ORDER BY c.last_ms, c.number";
        for conversation in erase.numbers(oldest, params![])? {
            if content_bytes(erase.connection())? <= most {
                break;
            }
            erase.content(conversation)?;
        }
    }
    if let Some(before) = retention.account_before {
        let silent = "SELECT number FROM conversations WHERE last_ms < ?1";
        for conversation in erase.numbers(silent, params![before.0])? {
            erase.account(conversation)?;
        }
    }
    erase.finish()
}

fn content_bytes(connection: &Connection) -> Result<u64, Error> {
    let sql = "SELECT coalesce(sum(bytes), 0) FROM messages";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0))?.try_into().unwrap_or_default())
}

fn check(connection: &mut Connection) -> Result<(), Error> {
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict != "ok" {
        return Err(Error::new(Kind::Corrupt, format!("the store's file is damaged: {verdict}")));
    }
    connection.execute("INSERT INTO passages (passages) VALUES ('integrity-check')", [])?;
    Ok(())
}

fn size(connection: &mut Connection, place: &Place) -> Result<StoreSize, Error> {
    let count = |table: &str| -> Result<u64, Error> {
        let sql = format!("SELECT count(*) FROM {table}");
        Ok(connection.query_row(&sql, [], |row| row.get::<_, i64>(0))?.try_into().unwrap_or_default())
    };
    Ok(StoreSize {
        file_bytes: place.bytes(),
        decisions: count("decisions")?,
        conversations: count("conversations")?,
        requests: count("requests")?,
        messages: count("messages")?,
        content_bytes: content_bytes(connection)?,
    })
}
