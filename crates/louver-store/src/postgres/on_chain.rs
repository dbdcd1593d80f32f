//! Points of a chain, the messages on it, and where each stands.

use super::session::Session;
use super::values::{chain_hash, name, named, optional_hash, small, text};
use crate::chain::ChainTag;
use crate::content::{ArchivedMessage, MessagePlace};
use crate::error::{Error, Kind};
use crate::name::ConversationId;
use crate::on_chain::{OnChain, Point, Tagged, Walk};
use std::collections::HashMap;
use tokio_postgres::Row;

/// Finds the point that a tag names, among those of a reader.
pub(super) async fn tagged(session: &mut Session, reader: i64, tag: &ChainTag) -> Result<Tagged, Error> {
    let sql = "SELECT min(p.id) FROM louver.positions p JOIN louver.threads t ON t.number = p.thread
        WHERE p.chain BETWEEN $1 AND $2 AND t.reader = $3 GROUP BY p.chain LIMIT 2";
    let (first, last) = tag.bounds();
    let found = session.numbers(sql, &[&&first[..], &&last[..], &reader]).await?;
    let [position] = found[..] else {
        return Ok(if found.is_empty() { Tagged::Unknown } else { Tagged::Ambiguous });
    };
    let sql = "SELECT id, thread, message_index FROM louver.positions WHERE id = $1";
    Ok(Tagged::Point(point(&session.query_one(sql, &[&position]).await?)?))
}

/// The last message that a conversation was heard to hold.
pub(super) async fn newest_point(
    session: &mut Session,
    reader: i64,
    id: &ConversationId,
) -> Result<Option<Point>, Error> {
    let sql = "SELECT p.id, p.thread, p.message_index FROM louver.conversations c
            JOIN louver.threads t ON t.conversation = c.number JOIN louver.positions p ON p.thread = t.number
        WHERE c.id = $1 AND t.reader = $2 ORDER BY p.id DESC LIMIT 1";
    session.query_opt(sql, &[&text(id.as_str()), &reader]).await?.as_ref().map(point).transpose()
}

fn point(row: &Row) -> Result<Point, Error> {
    Ok(Point { position: row.try_get(0)?, thread: row.try_get(1)?, index: small(row, 2)? })
}

/// The messages from the start of a chain to a point of it, as far back as they are known.
pub(super) async fn chain_to(session: &mut Session, point: Point) -> Result<Vec<OnChain>, Error> {
    let sql = "SELECT id, message_index, previous, message FROM louver.positions
        WHERE thread = $1 AND message_index <= $2 ORDER BY message_index DESC";
    let mut walk = Walk::from(point);
    for row in session.query(sql, &[&point.thread, &i64::from(point.index)]).await? {
        let found = OnChain { position: row.try_get(0)?, index: small(&row, 1)?, message: row.try_get(3)? };
        walk.see(found, row.try_get(2)?);
        if walk.is_at_end() {
            break;
        }
    }
    Ok(walk.into_chain())
}

/// How many bytes the messages at some positions have.
pub(super) async fn sizes(session: &mut Session, positions: &[i64]) -> Result<HashMap<i64, usize>, Error> {
    let sql = "SELECT p.id, m.bytes FROM louver.positions p JOIN louver.messages m ON m.id = p.message
        WHERE p.id = ANY ($1)";
    let rows = session.query(sql, &[&positions]).await?;
    rows.iter().map(|row| Ok((row.try_get(0)?, small::<u32>(row, 1)? as usize))).collect()
}

/// Messages at their places, in the order that is asked for.
pub(super) async fn archived(session: &mut Session, positions: &[i64]) -> Result<Vec<ArchivedMessage>, Error> {
    let sql = "SELECT c.id, p.message_index, p.chain, before.chain, m.format, x.raw, p.id FROM louver.positions p
            JOIN louver.threads t ON t.number = p.thread JOIN louver.conversations c ON c.number = t.conversation
            JOIN louver.messages m ON m.id = p.message JOIN louver.texts x ON x.message = m.id
            LEFT JOIN louver.positions before ON before.id = p.previous
        WHERE p.id = ANY ($1)";
    let rows = session.query(sql, &[&positions]).await?;
    let found = rows.iter().map(|row| Ok((row.try_get(6)?, message(row)?)));
    let mut found: HashMap<i64, ArchivedMessage> = found.collect::<Result<_, Error>>()?;
    let gone = || Error::new(Kind::Busy, "a message that was found has left the archive meanwhile");
    positions.iter().map(|position| found.remove(position).ok_or_else(gone)).collect()
}

fn message(row: &Row) -> Result<ArchivedMessage, Error> {
    let place = MessagePlace {
        conversation: name(row, 0)?.into(),
        index: small(row, 1)?,
        chain: chain_hash(row, 2)?,
        previous: optional_hash(row, 3)?,
        format: named(row, 4)?,
    };
    Ok(ArchivedMessage { place, raw: String::from_utf8_lossy(row.try_get(5)?).into() })
}
