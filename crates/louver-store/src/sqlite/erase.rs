//! Removing rows so that nothing of them is left.
//!
//! SQLite overwrites what is deleted (`secure_delete`), but two places keep old bytes: the search index notes that a
//! passage is gone and forgets its terms only when parts of it are merged, and the log beside the file holds pages as they
//! were until it is emptied.

use crate::error::Error;
use crate::maintenance::Removed;
use crate::time::UnixMillis;
use rusqlite::{Connection, Params, Transaction, TransactionBehavior, params};

/// Rows in one transaction.
const STEP: usize = 256;
/// Pages of the search index that are merged in one transaction.
const MERGED_PAGES: i64 = 256;
/// How often merging is begun anew where others write meanwhile.
const MERGES: usize = 16;

/// Removes, and counts what it removes.
pub(super) struct Erase<'c> {
    connection: &'c mut Connection,
    removed: Removed,
}

/// Whether there is more to do.
enum Step {
    More,
    Done,
}

impl<'c> Erase<'c> {
    pub(super) fn new(connection: &'c mut Connection) -> Self {
        Self { connection, removed: Removed::default() }
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection
    }

    /// The numbers that a query finds.
    pub(super) fn numbers(&self, sql: &str, values: impl Params) -> Result<Vec<i64>, Error> {
        let mut statement = self.connection.prepare(sql)?;
        let rows = statement.query_map(values, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Steps of a size that lets others in between.
    fn in_steps(
        &mut self,
        mut step: impl FnMut(&Transaction<'_>, &mut Removed) -> Result<Step, Error>,
    ) -> Result<(), Error> {
        loop {
            let mut removed = self.removed;
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let next = step(&transaction, &mut removed)?;
            transaction.commit()?;
            self.removed = removed;
            if matches!(next, Step::Done) {
                return Ok(());
            }
            std::thread::yield_now();
        }
    }

    /// Decisions of conversations in which none was made since.
    pub(super) fn decisions(&mut self, before: UnixMillis) -> Result<(), Error> {
        let silent = "SELECT conversation FROM decisions GROUP BY conversation HAVING max(at_ms) < ?1";
        let silent: Vec<String> = {
            let mut statement = self.connection.prepare(silent)?;
            let rows = statement.query_map([before.0], |row| row.get(0))?;
            rows.collect::<Result<_, _>>()?
        };
        // Somebody may decide in the meantime.
        let sql = "DELETE FROM decisions WHERE conversation = ?1
            AND NOT EXISTS (SELECT 1 FROM decisions WHERE conversation = ?1 AND at_ms >= ?2)";
        let mut silent = silent.into_iter();
        self.in_steps(|transaction, removed| {
            for conversation in silent.by_ref().take(STEP) {
                removed.decisions += transaction.prepare_cached(sql)?.execute(params![conversation, before.0])? as u64;
            }
            Ok(if silent.len() > 0 { Step::More } else { Step::Done })
        })
    }

    /// The messages of a conversation that no other holds, and what the search knows of them.
    pub(super) fn content(&mut self, conversation: i64) -> Result<(), Error> {
        for thread in self.numbers("SELECT number FROM threads WHERE conversation = ?1", [conversation])? {
            self.in_steps(|transaction, removed| positions(transaction, thread, removed))?;
        }
        Ok(())
    }

    /// The requests of a conversation, and itself where nothing else is kept of it.
    pub(super) fn account(&mut self, conversation: i64) -> Result<(), Error> {
        self.in_steps(|transaction, removed| {
            let sql =
                "DELETE FROM requests WHERE number IN (SELECT number FROM requests WHERE conversation = ?1 LIMIT ?2)";
            let gone = transaction.prepare_cached(sql)?.execute(params![conversation, STEP as i64])?;
            removed.requests += gone as u64;
            if gone == STEP {
                return Ok(Step::More);
            }
            let sql = "DELETE FROM conversations WHERE number = ?1
                AND NOT EXISTS (SELECT 1 FROM threads WHERE conversation = ?1)";
            transaction.prepare_cached(sql)?.execute([conversation])?;
            Ok(Step::Done)
        })
    }

    /// Lets the search index forget what it was told to. Says whether it has.
    ///
    /// A step with a negative number begins to merge everything, the others go on with that. One that began before, or
    /// somebody who writes meanwhile, lets them end early and leaves words behind: only where nothing is left to begin
    /// with, all is one.
    pub(super) fn merge_terms(&mut self) -> Result<bool, Error> {
        for _ in 0..MERGES {
            let (mut pages, mut is_one) = (-MERGED_PAGES, false);
            self.in_steps(|transaction, _| {
                let before = transaction.total_changes();
                let sql = "INSERT INTO passages (passages, rank) VALUES ('merge', ?1)";
                transaction.prepare_cached(sql)?.execute([pages])?;
                // The documented sign that there was nothing left to merge.
                let is_idle = transaction.total_changes() - before < 2;
                is_one |= is_idle && pages < 0;
                pages = MERGED_PAGES;
                Ok(if is_idle { Step::Done } else { Step::More })
            })?;
            if is_one {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Moves the log into the file. Says whether nothing of it is left.
    pub(super) fn empty_log(&mut self) -> Result<bool, Error> {
        // Waits for others as long as any other write does.
        let is_busy: bool = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        Ok(!is_busy)
    }

    pub(super) fn finish(mut self) -> Result<Removed, Error> {
        let is_merged = self.removed.messages == 0 || self.merge_terms()?;
        let is_erased = self.empty_log()? && is_merged;
        Ok(Removed { is_erased, ..self.removed })
    }
}

/// Some positions of a thread, and the messages that stand nowhere else.
fn positions(transaction: &Transaction<'_>, thread: i64, removed: &mut Removed) -> Result<Step, Error> {
    let some: Vec<(i64, i64)> = {
        // From the end, so that what is left is a conversation.
        let sql = "SELECT id, message FROM positions WHERE thread = ?1 ORDER BY message_index DESC LIMIT ?2";
        let mut statement = transaction.prepare_cached(sql)?;
        let rows = statement.query_map(params![thread, STEP as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        rows.collect::<Result<_, _>>()?
    };
    for (position, message) in &some {
        transaction.prepare_cached("DELETE FROM positions WHERE id = ?1")?.execute([position])?;
        let sql = "SELECT EXISTS (SELECT 1 FROM positions WHERE message = ?1)";
        let is_held: bool = transaction.prepare_cached(sql)?.query_row([message], |row| row.get(0))?;
        if !is_held {
            remove_message(transaction, *message)?;
            removed.messages += 1;
        }
    }
    if some.len() == STEP {
        return Ok(Step::More);
    }
    transaction.prepare_cached("DELETE FROM threads WHERE number = ?1")?.execute([thread])?;
    Ok(Step::Done)
}

fn remove_message(transaction: &Transaction<'_>, message: i64) -> Result<(), Error> {
    let sql = "SELECT length(lengths) / 2 FROM messages WHERE id = ?1";
    let passages: i64 = transaction.prepare_cached(sql)?.query_row([message], |row| row.get(0))?;
    for passage in message..message + passages {
        transaction.prepare_cached("DELETE FROM passages WHERE rowid = ?1")?.execute([passage])?;
    }
    transaction.prepare_cached("DELETE FROM texts WHERE message = ?1")?.execute([message])?;
    transaction.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([message])?;
    Ok(())
}
