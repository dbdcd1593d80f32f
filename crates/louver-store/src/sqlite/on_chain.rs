//! Points of a chain, the messages on it, and where each stands.

use super::account::named;
use super::values::chain_hash;
use crate::chain::{ChainHash, ChainTag};
use crate::content::{ArchivedMessage, MessagePlace};
use crate::error::Error;
use crate::name::ConversationId;
use crate::on_chain::{OnChain, Point, Tagged, Walk};
use rusqlite::{Connection, OptionalExtension, Row, params};

/// Finds the point that a tag names, among those of a reader.
pub(super) fn tagged(connection: &Connection, reader: &str, tag: &ChainTag) -> Result<Tagged, Error> {
    let sql = "SELECT DISTINCT p.chain FROM positions p JOIN threads t ON t.number = p.thread JOIN readers r ON r.number = t.reader
        WHERE p.chain BETWEEN ?1 AND ?2 AND r.name = ?3 LIMIT 2";
    let (first, last) = tag.bounds();
    let mut statement = connection.prepare_cached(sql)?;
    let chains = statement.query_map(params![first, last, reader], |row| chain_hash(row, 0))?;
    let chains: Vec<ChainHash> = chains.collect::<Result<_, _>>()?;
    let [chain] = chains[..] else {
        return Ok(if chains.is_empty() { Tagged::Unknown } else { Tagged::Ambiguous });
    };
    let sql = "SELECT p.id, p.thread, p.message_index FROM positions p JOIN threads t ON t.number = p.thread
            JOIN readers r ON r.number = t.reader
        WHERE p.chain = ?1 AND r.name = ?2 ORDER BY p.id LIMIT 1";
    Ok(Tagged::Point(connection.prepare_cached(sql)?.query_row(params![chain.0, reader], point)?))
}

/// The last message that a conversation was heard to hold.
pub(super) fn newest_point(connection: &Connection, reader: i64, id: &ConversationId) -> Result<Option<Point>, Error> {
    let sql = "SELECT p.id, p.thread, p.message_index FROM conversations c JOIN threads t ON t.conversation = c.number
            JOIN positions p ON p.thread = t.number
        WHERE c.id = ?1 AND t.reader = ?2 ORDER BY p.id DESC LIMIT 1";
    let point = connection.prepare_cached(sql)?.query_row(params![id.as_str(), reader], point);
    Ok(point.optional()?)
}

fn point(row: &Row<'_>) -> rusqlite::Result<Point> {
    Ok(Point { position: row.get(0)?, thread: row.get(1)?, index: row.get(2)? })
}

/// The messages from the start of a chain to a point of it, as far back as they are known.
pub(super) fn chain_to(connection: &Connection, point: Point) -> Result<Vec<OnChain>, Error> {
    let sql = "SELECT id, message_index, previous, message FROM positions WHERE thread = ?1 AND message_index <= ?2
        ORDER BY message_index DESC";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![point.thread, point.index])?;
    let mut walk = Walk::from(point);
    while let Some(row) = rows.next()? {
        walk.see(OnChain { position: row.get(0)?, index: row.get(1)?, message: row.get(3)? }, row.get(2)?);
        if walk.is_at_end() {
            break;
        }
    }
    Ok(walk.into_chain())
}

const PLACE: &str = "c.id, p.message_index, p.chain, before.chain, m.format FROM positions p
    JOIN threads t ON t.number = p.thread JOIN conversations c ON c.number = t.conversation
    JOIN messages m ON m.id = p.message LEFT JOIN positions before ON before.id = p.previous";

fn place(row: &Row<'_>) -> rusqlite::Result<MessagePlace> {
    Ok(MessagePlace {
        conversation: row.get::<_, String>(0)?.into(),
        index: row.get(1)?,
        chain: chain_hash(row, 2)?,
        previous: row.get::<_, Option<[u8; 32]>>(3)?.map(ChainHash),
        format: named(row, 4)?,
    })
}

/// A message at its place.
pub(super) fn archived(connection: &Connection, position: i64) -> Result<ArchivedMessage, Error> {
    let sql = format!("SELECT {PLACE} WHERE p.id = ?1");
    let place = connection.prepare_cached(&sql)?.query_row([position], place)?;
    let sql = "SELECT x.raw FROM positions p JOIN texts x ON x.message = p.message WHERE p.id = ?1";
    let raw = connection.prepare_cached(sql)?.query_row([position], |row| Ok(row.get_ref(0)?.as_str()?.into()))?;
    Ok(ArchivedMessage { place, raw })
}
