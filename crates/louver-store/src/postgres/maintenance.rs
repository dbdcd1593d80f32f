//! Removing, shrinking and checking.

use super::PostgresStore;
use super::pool::closed;
use super::session::Session;
use super::values::{counted, text};
use crate::error::{Error, Kind};
use crate::maintenance::{Maintenance, Removed, Retention, Status, StoreSize};
use crate::name::ConversationId;
use crate::time::UnixMillis;
use async_trait::async_trait;

/// Rows in one transaction.
const STEP: i64 = 2_000;
/// Tables that hold what people said, or what was made of it.
const SPOKEN: &str = "louver.texts, louver.passages, louver.messages, louver.positions, louver.threads";
const ACCOUNT: &str = "louver.requests, louver.conversations";

#[async_trait]
impl Maintenance for PostgresStore {
    async fn retain(&self, retention: Retention) -> Result<Removed, Error> {
        let _turn = self.maintenance.lock().await;
        let mut erase = Erase::new(self.own_session().await?);
        erase.retain(&retention).await?;
        erase.finish().await
    }

    async fn delete_conversation(&self, id: ConversationId) -> Result<Removed, Error> {
        // What waits to be written may be of this conversation.
        self.writer.flush().await?;
        let _turn = self.maintenance.lock().await;
        let mut erase = Erase::new(self.own_session().await?);
        let sql = "SELECT number FROM louver.conversations WHERE id = $1";
        for conversation in erase.session.numbers(sql, &[&text(id.as_str())]).await? {
            erase.content(conversation).await?;
            erase.account(conversation).await?;
        }
        erase.finish().await
    }

    async fn vacuum(&self) -> Result<(), Error> {
        let _turn = self.maintenance.lock().await;
        let mut session = self.own_session().await?;
        session.batch(&format!("VACUUM (FULL, ANALYZE) {SPOKEN}, {ACCOUNT}, louver.decisions")).await
    }

    async fn check(&self) -> Result<(), Error> {
        let _turn = self.maintenance.lock().await;
        let mut session = self.own_session().await?;
        let sql = "SELECT count(*) FROM louver.messages m LEFT JOIN louver.texts x ON x.message = m.id
            WHERE x.raw IS NULL OR octet_length(x.raw) <> m.bytes";
        let odd = counted(&session.query_one(sql, &[]).await?, 0)?;
        if odd > 0 {
            return Err(Error::new(
                Kind::Corrupt,
                format!("the store is damaged: {odd} messages have lost their text"),
            ));
        }
        Ok(())
    }

    async fn size(&self) -> Result<StoreSize, Error> {
        let _turn = self.maintenance.lock().await;
        let mut session = self.own_session().await?;
        let sql = "SELECT (SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
                WHERE relnamespace = 'louver'::regnamespace AND relkind = 'r'),
            (SELECT count(*) FROM louver.decisions), (SELECT count(*) FROM louver.conversations),
            (SELECT count(*) FROM louver.requests), (SELECT count(*) FROM louver.messages),
            (SELECT coalesce(sum(bytes), 0)::bigint FROM louver.messages)";
        let row = session.query_one(sql, &[]).await?;
        Ok(StoreSize {
            file_bytes: counted(&row, 0)?,
            decisions: counted(&row, 1)?,
            conversations: counted(&row, 2)?,
            requests: counted(&row, 3)?,
            messages: counted(&row, 4)?,
            content_bytes: counted(&row, 5)?,
        })
    }

    fn status(&self) -> Status {
        self.writer.status(self.pool.is_failing())
    }

    async fn flush(&self) -> Result<(), Error> {
        self.writer.flush().await
    }

    async fn close(&self) -> Result<(), Error> {
        let flushed = self.writer.flush().await;
        self.pool.close();
        self.writer.close().await;
        match flushed {
            Err(error) if error.is_closed() => Ok(()),
            flushed => flushed,
        }
    }
}

impl PostgresStore {
    /// A connection for work that takes its time.
    async fn own_session(&self) -> Result<Session, Error> {
        if self.pool.is_closed() {
            return Err(closed());
        }
        let pool = self.pool.clone();
        let connecting = self.runtime.spawn(async move { pool.connect().await });
        let mut session = connecting.await.map_err(|_| closed())??;
        session.batch("SET statement_timeout = 0").await?;
        Ok(session)
    }
}

/// Removes, and counts what it removes.
struct Erase {
    session: Session,
    removed: Removed,
}

impl Erase {
    fn new(session: Session) -> Self {
        Self { session, removed: Removed::default() }
    }

    async fn retain(&mut self, retention: &Retention) -> Result<(), Error> {
        if let Some(before) = retention.decisions_before {
            self.decisions(before).await?;
        }
        if let Some(before) = retention.content_before {
            let silent = "SELECT DISTINCT c.number FROM louver.conversations c
                JOIN louver.threads t ON t.conversation = c.number WHERE c.last_ms < $1";
            for conversation in self.session.numbers(silent, &[&before.0]).await? {
                self.content(conversation).await?;
            }
        }
        if let Some(most) = retention.content_max_bytes {
            self.content_beyond(most).await?;
        }
        if let Some(before) = retention.account_before {
            let silent = "SELECT number FROM louver.conversations WHERE last_ms < $1";
            for conversation in self.session.numbers(silent, &[&before.0]).await? {
                self.account(conversation).await?;
            }
        }
        Ok(())
    }

    /// Decisions of conversations in which none was made since.
    async fn decisions(&mut self, before: UnixMillis) -> Result<(), Error> {
        let sql = "SELECT conversation FROM louver.decisions GROUP BY conversation HAVING max(at_ms) < $1";
        let rows = self.session.query(sql, &[&before.0]).await?;
        let silent: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        for some in silent.chunks(256) {
            self.session.batch("BEGIN").await?;
            // Held before anything is looked at, as by everybody who changes decisions.
            self.session.execute("SELECT louver.next_version()", &[]).await?;
            let sql = "DELETE FROM louver.decisions WHERE conversation = ANY ($1) AND NOT EXISTS (
                SELECT FROM louver.decisions later WHERE later.conversation = decisions.conversation AND later.at_ms >= $2)";
            let gone = self.session.execute(sql, &[&some, &before.0]).await?;
            self.session.batch("COMMIT").await?;
            self.removed.decisions += gone;
        }
        Ok(())
    }

    /// Messages of the conversations that were silent for longest, until no more bytes are left than this.
    async fn content_beyond(&mut self, most: u64) -> Result<(), Error> {
        let oldest = "SELECT c.number FROM louver.conversations c JOIN louver.threads t ON t.conversation = c.number
            GROUP BY c.number ORDER BY c.last_ms, c.number";
        for conversation in self.session.numbers(oldest, &[]).await? {
            let sql = "SELECT coalesce(sum(bytes), 0)::bigint FROM louver.messages";
            if counted(&self.session.query_one(sql, &[]).await?, 0)? <= most {
                break;
            }
            self.content(conversation).await?;
        }
        Ok(())
    }

    /// The messages of a conversation that no other holds, and what the search knows of them.
    async fn content(&mut self, conversation: i64) -> Result<(), Error> {
        let sql = "SELECT number FROM louver.threads WHERE conversation = $1";
        for thread in self.session.numbers(sql, &[&conversation]).await? {
            while self.positions(thread).await? > 0 {}
            self.session.execute("DELETE FROM louver.threads WHERE number = $1", &[&thread]).await?;
        }
        Ok(())
    }

    /// Some positions of a thread, from the end, so that what is left is a conversation; says how many there were.
    async fn positions(&mut self, thread: i64) -> Result<usize, Error> {
        self.session.batch("BEGIN").await?;
        let sql = "DELETE FROM louver.positions WHERE id IN (
                SELECT id FROM louver.positions WHERE thread = $1 ORDER BY message_index DESC LIMIT $2)
            RETURNING message";
        let messages = self.session.numbers(sql, &[&thread, &STEP]).await?;
        // The texts and passages of a message leave with it.
        let sql = "DELETE FROM louver.messages m WHERE id = ANY ($1)
            AND NOT EXISTS (SELECT FROM louver.positions p WHERE p.message = m.id)";
        let gone = self.session.execute(sql, &[&messages]).await?;
        self.session.batch("COMMIT").await?;
        self.removed.messages += gone;
        Ok(messages.len())
    }

    /// The requests of a conversation, and itself where nothing else is kept of it.
    async fn account(&mut self, conversation: i64) -> Result<(), Error> {
        let sql = "DELETE FROM louver.requests WHERE conversation = $1";
        self.removed.requests += self.session.execute(sql, &[&conversation]).await?;
        let sql = "DELETE FROM louver.conversations WHERE number = $1
            AND NOT EXISTS (SELECT FROM louver.threads WHERE conversation = $1)";
        self.session.execute(sql, &[&conversation]).await.map(drop)
    }

    /// A deleted row stays in its file until the file is written anew, and in the log until that is let go. Both need
    /// rights that not every user has.
    async fn finish(mut self) -> Result<Removed, Error> {
        let mut steps: Vec<String> = Vec::new();
        if self.removed.messages > 0 {
            steps.push(format!("VACUUM (FULL, ANALYZE) {SPOKEN}"));
        }
        if self.removed.requests > 0 {
            steps.push(format!("VACUUM (FULL, ANALYZE) {ACCOUNT}"));
        }
        if !steps.is_empty() {
            steps.extend(["SELECT pg_switch_wal()", "CHECKPOINT"].map(str::to_owned));
        }
        let mut is_erased = true;
        for step in steps {
            if let Err(error) = self.session.batch(&step).await {
                tracing::warn!(%error, "bytes of what was deleted stay in the server's files until it lets them go");
                is_erased = false;
            }
        }
        Ok(Removed { is_erased, ..self.removed })
    }
}
