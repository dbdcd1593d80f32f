//! Decisions in PostgreSQL.

use super::PostgresStore;
use super::pool::Lane;
use super::session::Session;
use super::values::{chain_hash, hash_array, name, small, text};
use crate::chain::ChainTag;
use crate::decisions::{
    ChainQuery, Decision, DecisionHead, DecisionKey, Decisions, DecisionsVersion, FurtherAttempt, Inserted,
    MAX_FURTHER_ATTEMPTS, Sequence, StoredDecision,
};
use crate::error::{Error, Kind};
use crate::name::ConversationId;
use crate::page::{Cursor, Page, PageRequest};
use crate::time::UnixMillis;
use async_trait::async_trait;
use tokio_postgres::Row;

const HEAD: &str = "sequence, is_shown, chain, upstream, model, attempt, touches";
const WHOLE: &str = "sequence, is_shown, chain, upstream, model, attempt, touches, conversation, at_ms, record";

#[async_trait]
impl Decisions for PostgresStore {
    async fn decisions_on(&self, chain: ChainQuery) -> Result<Vec<StoredDecision>, Error> {
        self.pool.run(Lane::Quick, chain, |session, chain| Box::pin(on_chain(session, chain, WHOLE, stored))).await
    }

    async fn decision_heads_on(&self, chain: ChainQuery) -> Result<Vec<DecisionHead>, Error> {
        self.pool.run(Lane::Quick, chain, |session, chain| Box::pin(on_chain(session, chain, HEAD, head))).await
    }

    async fn decision(&self, sequence: Sequence) -> Result<Option<StoredDecision>, Error> {
        self.pool.run(Lane::Quick, sequence, |session, sequence| Box::pin(one(session, *sequence))).await
    }

    async fn decisions_in(
        &self,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<StoredDecision>, Error> {
        let asked = (conversation, page);
        self.pool.run(Lane::Long, asked, |session, (id, page)| Box::pin(of_conversation(session, id, *page))).await
    }

    async fn decisions_at(&self, tag: ChainTag) -> Result<Vec<StoredDecision>, Error> {
        self.pool.run(Lane::Quick, tag, |session, tag| Box::pin(at_tag(session, tag))).await
    }

    async fn insert_decision(&self, decision: Decision) -> Result<Inserted, Error> {
        decision.check()?;
        self.pool.run(Lane::Quick, decision, |session, decision| Box::pin(insert(session, decision))).await
    }

    async fn insert_attempt(&self, decision: Decision) -> Result<FurtherAttempt, Error> {
        decision.check()?;
        if decision.key.attempt == 0 {
            return Err(Error::new(Kind::Invalid, "attempt 0 is no further attempt"));
        }
        self.pool.run(Lane::Quick, decision, |session, decision| Box::pin(insert_attempt(session, decision))).await
    }

    async fn mark_shown(&self, key: DecisionKey) -> Result<bool, Error> {
        self.pool.run(Lane::Quick, key, |session, key| Box::pin(mark_shown(session, key))).await
    }

    async fn decisions_version(&self) -> Result<DecisionsVersion, Error> {
        self.pool.run(Lane::Quick, (), |session, ()| Box::pin(version(session))).await
    }
}

/// The state that the decisions are in.
pub(super) async fn version(session: &mut Session) -> Result<DecisionsVersion, Error> {
    let row = session.query_one("SELECT version FROM louver.decisions_version", &[]).await?;
    Ok(DecisionsVersion(row.try_get(0)?))
}

/// One query over all boundaries.
async fn on_chain<T>(
    session: &mut Session,
    query: &ChainQuery,
    columns: &str,
    read: fn(&Row) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if query.hashes.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {columns} FROM louver.decisions WHERE upstream = $1 AND sequence IN (
            SELECT sequence FROM louver.decisions WHERE chain = ANY ($3) AND sequence > $2
            UNION SELECT sequence FROM louver.decisions WHERE touches = ANY ($3) AND sequence > $2)
        ORDER BY sequence"
    );
    let hashes = hash_array(&query.hashes);
    let rows = session.query(&sql, &[&text(&query.upstream), &query.after.0, &hashes]).await?;
    rows.iter().map(read).collect()
}

async fn one(session: &mut Session, sequence: Sequence) -> Result<Option<StoredDecision>, Error> {
    let sql = format!("SELECT {WHOLE} FROM louver.decisions WHERE sequence = $1");
    session.query_opt(&sql, &[&sequence.0]).await?.as_ref().map(stored).transpose()
}

async fn of_conversation(
    session: &mut Session,
    id: &ConversationId,
    page: PageRequest,
) -> Result<Page<StoredDecision>, Error> {
    let sql = format!(
        "SELECT {WHOLE} FROM louver.decisions WHERE conversation = $1 AND (at_ms, sequence) > ($2, $3)
        ORDER BY at_ms, sequence LIMIT $4"
    );
    let after = page.after.unwrap_or(Cursor { order: i64::MIN, number: 0 });
    let rows = session.query(&sql, &[&text(id.as_str()), &after.order, &after.number, &page.one_more()]).await?;
    let placed = |row: &Row| {
        let found = stored(row)?;
        Ok((Cursor { order: found.decision.at.0, number: found.sequence.0 }, found))
    };
    Ok(Page::of(rows.iter().map(placed).collect::<Result<_, Error>>()?, page.limit()))
}

async fn at_tag(session: &mut Session, tag: &ChainTag) -> Result<Vec<StoredDecision>, Error> {
    let sql = format!("SELECT {WHOLE} FROM louver.decisions WHERE chain BETWEEN $1 AND $2 ORDER BY sequence");
    let (first, last) = tag.bounds();
    let rows = session.query(&sql, &[&&first[..], &&last[..]]).await?;
    rows.iter().map(stored).collect()
}

async fn insert(session: &mut Session, decision: &Decision) -> Result<Inserted, Error> {
    let sql = "SELECT louver.insert_decision($1, $2, $3, $4, $5, $6, $7, $8)";
    let is_mine = call(session, sql, decision, None).await?;
    let winner = at_request(session, &decision.key).await?.into_iter().find(|found| is_at(found, &decision.key));
    let winner = winner.ok_or_else(|| Error::new(Kind::Other, "a decision that was just kept is not there"))?;
    Ok(if is_mine { Inserted::Mine(winner) } else { Inserted::Theirs(winner) })
}

async fn insert_attempt(session: &mut Session, decision: &Decision) -> Result<FurtherAttempt, Error> {
    let sql = "SELECT louver.insert_attempt($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let is_mine = call(session, sql, decision, Some(i64::from(MAX_FURTHER_ATTEMPTS))).await?;
    let attempts = at_request(session, &decision.key).await?;
    FurtherAttempt::of(attempts, &decision.key, is_mine)
}

/// Calls a function that inserts, and says whether it did.
async fn call(session: &mut Session, sql: &str, decision: &Decision, most: Option<i64>) -> Result<bool, Error> {
    let Decision { key, touches, conversation, at, record } = decision;
    let (chain, touches, record) = (&key.chain.0[..], &touches.0[..], &record[..]);
    let (upstream, model, conversation) = (text(&key.upstream), text(&key.model), text(conversation.as_str()));
    let attempt = i64::from(key.attempt);
    let mut values: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
        vec![&chain, &upstream, &model, &attempt, &touches, &conversation, &at.0, &record];
    if let Some(most) = &most {
        values.push(most);
    }
    Ok(session.query_one(sql, &values).await?.try_get(0)?)
}

/// All attempts at a request, in their order.
async fn at_request(session: &mut Session, key: &DecisionKey) -> Result<Vec<StoredDecision>, Error> {
    let sql = format!(
        "SELECT {WHOLE} FROM louver.decisions WHERE chain = $1 AND upstream = $2 AND model = $3 ORDER BY attempt"
    );
    let rows = session.query(&sql, &[&&key.chain.0[..], &text(&key.upstream), &text(&key.model)]).await?;
    rows.iter().map(stored).collect()
}

fn is_at(found: &StoredDecision, key: &DecisionKey) -> bool {
    found.decision.key.attempt == key.attempt
}

async fn mark_shown(session: &mut Session, key: &DecisionKey) -> Result<bool, Error> {
    let sql = "SELECT louver.mark_shown($1, $2, $3, $4)";
    let (chain, attempt) = (&key.chain.0[..], i64::from(key.attempt));
    let row = session.query_one(sql, &[&chain, &text(&key.upstream), &text(&key.model), &attempt]).await?;
    Ok(row.try_get(0)?)
}

fn head(row: &Row) -> Result<DecisionHead, Error> {
    Ok(DecisionHead {
        sequence: Sequence(row.try_get(0)?),
        is_shown: row.try_get(1)?,
        key: key(row)?,
        touches: chain_hash(row, 6)?,
    })
}

fn key(row: &Row) -> Result<DecisionKey, Error> {
    Ok(DecisionKey {
        chain: chain_hash(row, 2)?,
        upstream: name(row, 3)?,
        model: name(row, 4)?,
        attempt: small(row, 5)?,
    })
}

fn stored(row: &Row) -> Result<StoredDecision, Error> {
    let decision = Decision {
        key: key(row)?,
        touches: chain_hash(row, 6)?,
        conversation: name(row, 7)?.into(),
        at: UnixMillis(row.try_get(8)?),
        record: row.try_get::<_, &[u8]>(9)?.into(),
    };
    Ok(StoredDecision { sequence: Sequence(row.try_get(0)?), is_shown: row.try_get(1)?, decision })
}
