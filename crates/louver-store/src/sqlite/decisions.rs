//! Decisions in SQLite.

use super::SqliteStore;
use super::values::{chain_hash, hash_array};
use crate::chain::{ChainHash, ChainTag};
use crate::decisions::{
    ChainQuery, Decision, DecisionHead, DecisionKey, Decisions, DecisionsVersion, FurtherAttempt, Inserted,
    MAX_FURTHER_ATTEMPTS, Sequence, StoredDecision,
};
use crate::error::{Error, Kind};
use crate::name::ConversationId;
use crate::page::{Cursor, Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;

const HEAD: &str = "sequence, is_shown, chain, upstream, model, attempt, touches";
const WHOLE: &str = "sequence, is_shown, chain, upstream, model, attempt, touches, conversation, at_ms, record";
/// So many hashes are looked up at once.
const SMALL_CHAIN: usize = 32;

#[async_trait]
impl Decisions for SqliteStore {
    async fn decisions_on(&self, chain: ChainQuery) -> Result<Vec<StoredDecision>, Error> {
        let is_small = chain.hashes.len() <= SMALL_CHAIN;
        let question =
            move |connection: &mut Connection| on_chain(connection, &chain, WHOLE, stored, |found| &found.decision);
        if is_small { self.reads.ask_small(question).await } else { self.reads.ask(question).await }
    }

    async fn decision_heads_on(&self, chain: ChainQuery) -> Result<Vec<DecisionHead>, Error> {
        self.reads.ask(move |connection| on_chain(connection, &chain, HEAD, head, |found| found)).await
    }

    async fn decision(&self, sequence: Sequence) -> Result<Option<StoredDecision>, Error> {
        let sql = format!("SELECT {WHOLE} FROM decisions WHERE sequence = ?1");
        self.reads
            .ask(move |connection| Ok(connection.prepare_cached(&sql)?.query_row([sequence.0], stored).optional()?))
            .await
    }

    async fn decisions_in(
        &self,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<StoredDecision>, Error> {
        let sql = format!(
            "SELECT {WHOLE} FROM decisions WHERE conversation = ?1 AND (at_ms, sequence) > (?2, ?3)
            ORDER BY at_ms, sequence LIMIT ?4"
        );
        let after = page.after.unwrap_or(Cursor { order: i64::MIN, number: 0 });
        self.reads
            .ask(move |connection| {
                let mut statement = connection.prepare_cached(&sql)?;
                let values = params![conversation.as_str(), after.order, after.number, page.one_more()];
                let rows = statement.query_map(values, stored)?;
                let placed = |row: StoredDecision| (Cursor { order: row.decision.at.0, number: row.sequence.0 }, row);
                Ok(Page::of(rows.map(|row| row.map(placed)).collect::<Result<_, _>>()?, page.limit()))
            })
            .await
    }

    async fn decisions_at(&self, tag: ChainTag) -> Result<Vec<StoredDecision>, Error> {
        let sql = format!("SELECT {WHOLE} FROM decisions WHERE chain BETWEEN ?1 AND ?2 ORDER BY sequence");
        self.reads
            .ask(move |connection| {
                let (first, last) = tag.bounds();
                let mut statement = connection.prepare_cached(&sql)?;
                let rows = statement.query_map(params![first, last], stored)?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn insert_decision(&self, decision: Decision) -> Result<Inserted, Error> {
        decision.check()?;
        self.writes.ask(move |connection| insert(connection, &decision)).await
    }

    async fn insert_attempt(&self, decision: Decision) -> Result<FurtherAttempt, Error> {
        decision.check()?;
        if decision.key.attempt == 0 {
            return Err(Error::new(Kind::Invalid, "attempt 0 is no further attempt"));
        }
        self.writes.ask(move |connection| insert_attempt(connection, &decision)).await
    }

    async fn mark_shown(&self, key: DecisionKey) -> Result<bool, Error> {
        self.writes.ask(move |connection| mark_shown(connection, &key)).await
    }

    async fn decisions_version(&self) -> Result<DecisionsVersion, Error> {
        let sql = "SELECT version FROM decisions_version";
        let version =
            |connection: &mut Connection| Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?);
        self.reads.ask_small(version).await.map(DecisionsVersion)
    }
}

/// What a row says of itself on a chain.
trait OnChain {
    fn hashes(&self) -> [ChainHash; 2];
}

impl OnChain for DecisionHead {
    fn hashes(&self) -> [ChainHash; 2] {
        [self.key.chain, self.touches]
    }
}

impl OnChain for Decision {
    fn hashes(&self) -> [ChainHash; 2] {
        [self.key.chain, self.touches]
    }
}

/// One query: by the hashes, or over what came since, whichever is less.
fn on_chain<T, C: OnChain>(
    connection: &Connection,
    query: &ChainQuery,
    columns: &str,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
    on_chain: fn(&T) -> &C,
) -> Result<Vec<T>, Error> {
    let newest = "SELECT coalesce(max(sequence), 0) FROM decisions";
    let newest: i64 = connection.prepare_cached(newest)?.query_row([], |row| row.get(0))?;
    let since = newest.saturating_sub(query.after.0);
    if since <= 0 || query.hashes.is_empty() {
        return Ok(Vec::new());
    }
    if since <= query.hashes.len() as i64 {
        let hashes: HashSet<&ChainHash> = query.hashes.iter().collect();
        let sql = format!("SELECT {columns} FROM decisions WHERE sequence > ?1 AND +upstream = ?2 ORDER BY sequence");
        let mut statement = connection.prepare_cached(&sql)?;
        let rows = statement.query_map(params![query.after.0, query.upstream], read)?;
        let is_wanted = |row: &T| on_chain(row).hashes().iter().any(|hash| hashes.contains(hash));
        return Ok(rows.filter(|row| row.as_ref().map_or(true, is_wanted)).collect::<Result<_, _>>()?);
    }
    let sql = format!(
        "SELECT {columns} FROM decisions WHERE +upstream = ?1 AND sequence > ?2 AND sequence IN (
            SELECT sequence FROM decisions WHERE chain IN rarray(?3)
            UNION SELECT sequence FROM decisions WHERE touches IN rarray(?3))
        ORDER BY sequence"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![query.upstream, query.after.0, hash_array(&query.hashes)], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn insert(connection: &Connection, decision: &Decision) -> Result<Inserted, Error> {
    let sql = "INSERT INTO decisions (chain, upstream, model, attempt, touches, conversation, at_ms, record)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (chain, upstream, model, attempt) DO NOTHING";
    let is_mine = execute_insert(connection, sql, decision)?;
    let winner = at_request(connection, &decision.key)?.into_iter().find(|found| found.decision.key == decision.key);
    let winner = winner.ok_or_else(|| Error::new(Kind::Other, "a decision that was just kept is not there"))?;
    Ok(if is_mine { Inserted::Mine(winner) } else { Inserted::Theirs(winner) })
}

fn insert_attempt(connection: &Connection, decision: &Decision) -> Result<FurtherAttempt, Error> {
    let sql = format!(
        "INSERT INTO decisions (chain, upstream, model, attempt, touches, conversation, at_ms, record)
        SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
        WHERE ?4 <= {MAX_FURTHER_ATTEMPTS}
            AND EXISTS (SELECT 1 FROM decisions WHERE chain = ?1 AND upstream = ?2 AND model = ?3 AND attempt = ?4 - 1)
            AND NOT EXISTS (SELECT 1 FROM decisions WHERE chain = ?1 AND upstream = ?2 AND model = ?3 AND is_shown)
        ON CONFLICT (chain, upstream, model, attempt) DO NOTHING"
    );
    let is_mine = execute_insert(connection, &sql, decision)?;
    let attempts = at_request(connection, &decision.key)?;
    FurtherAttempt::of(attempts, &decision.key, is_mine)
}

/// Says whether a row was inserted.
fn execute_insert(connection: &Connection, sql: &str, decision: &Decision) -> Result<bool, Error> {
    let Decision { key, touches, conversation, at, record } = decision;
    let inserted = connection.prepare_cached(sql)?.execute(params![
        key.chain.0,
        key.upstream,
        key.model,
        key.attempt,
        touches.0,
        conversation.as_str(),
        at.0,
        &record[..],
    ])?;
    Ok(inserted == 1)
}

/// All attempts at a request, in their order.
fn at_request(connection: &Connection, key: &DecisionKey) -> Result<Vec<StoredDecision>, Error> {
    let sql =
        format!("SELECT {WHOLE} FROM decisions WHERE chain = ?1 AND upstream = ?2 AND model = ?3 ORDER BY attempt");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params![key.chain.0, key.upstream, key.model], stored)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn mark_shown(connection: &Connection, key: &DecisionKey) -> Result<bool, Error> {
    let condition = "chain = ?1 AND upstream = ?2 AND model = ?3 AND attempt = ?4";
    let key = params![key.chain.0, key.upstream, key.model, key.attempt];
    let update = format!("UPDATE decisions SET is_shown = 1 WHERE {condition} AND NOT is_shown");
    let changed = connection.prepare_cached(&update)?.execute(key)?;
    let exists = format!("SELECT EXISTS (SELECT 1 FROM decisions WHERE {condition})");
    Ok(changed > 0 || connection.prepare_cached(&exists)?.query_row(key, |row| row.get(0))?)
}

fn head(row: &Row<'_>) -> rusqlite::Result<DecisionHead> {
    Ok(DecisionHead {
        sequence: Sequence(row.get(0)?),
        is_shown: row.get(1)?,
        key: key(row)?,
        touches: chain_hash(row, 6)?,
    })
}

fn key(row: &Row<'_>) -> rusqlite::Result<DecisionKey> {
    Ok(DecisionKey { chain: chain_hash(row, 2)?, upstream: row.get(3)?, model: row.get(4)?, attempt: row.get(5)? })
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredDecision> {
    let decision = Decision {
        key: key(row)?,
        touches: chain_hash(row, 6)?,
        conversation: row.get::<_, String>(7)?.into(),
        at: UnixMillis(row.get(8)?),
        record: row.get_ref(9)?.as_blob()?.into(),
    };
    Ok(StoredDecision { sequence: Sequence(row.get(0)?), is_shown: row.get(1)?, decision })
}
