//! Messages in SQLite.

use super::SqliteStore;
use super::account::{conversation_number, find_reader, reader_number};
use super::on_chain::{archived, chain_to, newest_point, tagged};
use super::search::search;
use super::values::{chain_hash, counted, hash_array};
use super::writes::behind;
use crate::account::{Queued, Whose};
use crate::bounds::count;
use crate::chain::ChainHash;
use crate::content::{
    ArchivedMessage, ChainPlace, ChainPoint, Content, MAX_PAGE_BYTES, NewContent, RecallRequest, Recalled,
    SearchAnswer, SearchRequest, content_hash,
};
use crate::error::Error;
use crate::name::{ConversationId, ReaderId};
use crate::on_chain::{OnChain, Tagged, addressed};
use crate::page::{Cursor, Page, PageRequest};
use crate::postings::PassageTokens;
use async_trait::async_trait;
use louver::search::passages;
use louver::{Format, Message};
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::HashMap;
use std::sync::Arc;

#[async_trait]
impl Content for SqliteStore {
    async fn put_content(&self, content: NewContent) -> Result<usize, Error> {
        content.check()?;
        let mut new = 0;
        for chunk in content.into_chunks() {
            new += self.writes.ask(move |connection| put(connection, &chunk)).await?;
        }
        Ok(new)
    }

    fn put_content_behind(&self, content: NewContent) -> Queued {
        let mut queued = Queued::Waiting;
        for chunk in content.into_chunks() {
            let bytes = chunk.messages.iter().map(|message| message.raw.len() + 100).sum();
            let write = move |connection: &Connection| put(connection, &chunk).map(drop);
            if self.writes.push(behind(bytes, write)) == Queued::Lost {
                queued = Queued::Lost;
            }
        }
        queued
    }

    async fn recall(&self, request: RecallRequest) -> Result<Recalled, Error> {
        self.reads.ask(move |connection| recall(&*connection.transaction()?, &request)).await
    }

    async fn chain_places(&self, reader: ReaderId, point: ChainPoint) -> Result<Vec<ChainPlace>, Error> {
        self.reads.ask(move |connection| chain_places(&*connection.transaction()?, &reader, &point)).await
    }

    async fn search(&self, request: SearchRequest) -> Result<SearchAnswer, Error> {
        let remembered = Arc::clone(&self.remembered);
        let search = move |connection: &mut Connection| {
            let known = remembered.get(request.reader.as_str());
            search(&*connection.transaction()?, &request, known, &remembered)
        };
        self.reads.ask(search).await
    }

    async fn has_content(&self, reader: ReaderId) -> Result<bool, Error> {
        self.reads.ask(move |connection| has_content(connection, &reader)).await
    }

    async fn content(
        &self,
        whose: Whose,
        conversation: ConversationId,
        page: PageRequest,
    ) -> Result<Page<ArchivedMessage>, Error> {
        self.reads.ask(move |connection| all(connection, &whose, &conversation, page)).await
    }
}

/// Keeps messages that are not there yet, and says how many.
fn put(connection: &Connection, content: &NewContent) -> Result<usize, Error> {
    let info = &content.conversation;
    let reader = reader_number(connection, info.reader.as_str())?;
    let thread = thread_number(connection, conversation_number(connection, info, content.at)?, reader)?;
    let known = known_positions(connection, thread, content)?;
    let mut previous = content.previous.and_then(|chain| known.get(&chain)).map_or(0, |known| known.id);
    let mut new = 0;
    for (index, message) in (content.index..).zip(&content.messages) {
        previous = match known.get(&message.chain) {
            Some(position) => linked(connection, position, previous)?,
            None => {
                new += 1;
                let id = message_id(connection, reader, info.reader.as_str(), info.format, &message.raw)?;
                insert_position(connection, (thread, index, message.chain, previous, id))?
            }
        };
    }
    Ok(new)
}

fn thread_number(connection: &Connection, conversation: i64, reader: i64) -> Result<i64, Error> {
    let sql = "SELECT number FROM threads WHERE conversation = ?1 AND reader = ?2";
    let known = connection.prepare_cached(sql)?.query_row([conversation, reader], |row| row.get(0)).optional()?;
    if let Some(number) = known {
        return Ok(number);
    }
    let sql = "INSERT INTO threads (conversation, reader) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute([conversation, reader])?;
    Ok(connection.last_insert_rowid())
}

/// A position that is there.
struct Position {
    id: i64,
    index: u32,
    previous: i64,
}

fn known_positions(
    connection: &Connection,
    thread: i64,
    content: &NewContent,
) -> Result<HashMap<ChainHash, Position>, Error> {
    let sql = "SELECT chain, id, message_index, previous FROM positions WHERE chain IN rarray(?1) AND thread = ?2";
    let hashes = hash_array(content.messages.iter().map(|message| &message.chain).chain(&content.previous));
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(params![hashes, thread], |row| {
        Ok((chain_hash(row, 0)?, Position { id: row.get(1)?, index: row.get(2)?, previous: row.get(3)? }))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Tells a position what stands before it, if nobody knew.
fn linked(connection: &Connection, position: &Position, previous: i64) -> Result<i64, Error> {
    if position.previous == 0 && position.index > 0 && previous > 0 {
        let sql = "UPDATE positions SET previous = ?1 WHERE id = ?2";
        connection.prepare_cached(sql)?.execute([previous, position.id])?;
    }
    Ok(position.id)
}

fn insert_position(
    connection: &Connection,
    (thread, index, chain, previous, message): (i64, u32, ChainHash, i64, i64),
) -> Result<i64, Error> {
    let sql = "INSERT INTO positions (thread, message_index, chain, previous, message) VALUES (?1, ?2, ?3, ?4, ?5)";
    connection.prepare_cached(sql)?.execute(params![thread, index, chain.0, previous, message])?;
    Ok(connection.last_insert_rowid())
}

/// Finds or keeps a message.
fn message_id(connection: &Connection, reader: i64, name: &str, format: Format, raw: &str) -> Result<i64, Error> {
    let hash = content_hash(name, format, raw);
    let sql = "SELECT id FROM messages WHERE hash = ?1";
    let known = connection.prepare_cached(sql)?.query_row([hash], |row| row.get(0)).optional()?;
    match known {
        Some(id) => Ok(id),
        None => insert_message(connection, reader, format, raw, hash),
    }
}

fn insert_message(
    connection: &Connection,
    reader: i64,
    format: Format,
    raw: &str,
    hash: [u8; 32],
) -> Result<i64, Error> {
    // What the engine cannot read is kept, but found by its place alone.
    let texts = Message::parse(format, raw).map(|message| passages(&message)).unwrap_or_default();
    let tokens: Vec<PassageTokens> = texts.iter().map(|text| PassageTokens::of(reader, text)).collect();
    let sql = "UPDATE next_passage SET id = id + ?1 RETURNING id - ?1";
    let id: i64 = connection.prepare_cached(sql)?.query_row([tokens.len().max(1) as i64], |row| row.get(0))?;
    let lengths: Vec<u8> =
        tokens.iter().flat_map(|passage| u16::try_from(passage.length).unwrap_or(u16::MAX).to_le_bytes()).collect();
    let sql = "INSERT INTO messages (id, reader, hash, format, bytes, lengths) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let values = params![id, reader, hash, format.name(), count(raw.len() as u64), lengths];
    connection.prepare_cached(sql)?.execute(values)?;
    connection.prepare_cached("INSERT INTO texts (message, raw) VALUES (?1, ?2)")?.execute(params![id, raw])?;
    let mut insert = connection.prepare_cached("INSERT INTO passages (rowid, terms) VALUES (?1, ?2)")?;
    for (passage, number) in tokens.iter().zip(id..) {
        insert.execute(params![number, passage.tokens])?;
    }
    Ok(id)
}

fn recall(connection: &Connection, request: &RecallRequest) -> Result<Recalled, Error> {
    let point = match pointed(connection, &request.reader, &request.point)? {
        Tagged::Unknown => return Ok(Recalled::UnknownTag),
        Tagged::Ambiguous => return Ok(Recalled::AmbiguousTag),
        Tagged::Point(point) => point,
    };
    let (wanted, missing) = addressed(&chain_to(connection, point)?, point, &request.address);
    let (mut messages, mut bytes): (Vec<ArchivedMessage>, usize) = (Vec::new(), 0);
    for found in wanted {
        let message = archived(connection, found.position)?;
        bytes = bytes.saturating_add(message.raw.len());
        if bytes > request.max_bytes.min(MAX_PAGE_BYTES) && !messages.is_empty() {
            return Ok(Recalled::Messages { messages, next: Some(found.index) });
        }
        messages.push(message);
    }
    Ok(missing.map_or(Recalled::Messages { messages, next: None }, |index| Recalled::Missing { index }))
}

/// The point of a reader's chain that is meant.
fn pointed(connection: &Connection, reader: &ReaderId, point: &ChainPoint) -> Result<Tagged, Error> {
    match point {
        ChainPoint::Tag(tag) => tagged(connection, reader.as_str(), tag),
        ChainPoint::Newest(id) => {
            let reader = find_reader(connection, reader.as_str())?.unwrap_or_default();
            Ok(newest_point(connection, reader, id)?.map_or(Tagged::Unknown, Tagged::Point))
        }
    }
}

fn chain_places(connection: &Connection, reader: &ReaderId, point: &ChainPoint) -> Result<Vec<ChainPlace>, Error> {
    let Tagged::Point(point) = pointed(connection, reader, point)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached("SELECT chain FROM positions WHERE id = ?1")?;
    let mut place = |found: &OnChain| {
        let chain = statement.query_row([found.position], |row| chain_hash(row, 0))?;
        Ok(ChainPlace { index: found.index, chain })
    };
    chain_to(connection, point)?.iter().map(&mut place).collect()
}

fn has_content(connection: &Connection, reader: &ReaderId) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM readers r JOIN messages m ON m.reader = r.number WHERE r.name = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([reader.as_str()], |row| row.get(0))?)
}

fn all(
    connection: &Connection,
    whose: &Whose,
    conversation: &ConversationId,
    page: PageRequest,
) -> Result<Page<ArchivedMessage>, Error> {
    let reader = match whose {
        Whose::Everybody => None,
        Whose::Only(reader) => Some(find_reader(connection, reader.as_str())?.unwrap_or_default()),
    };
    let sql = "SELECT p.message_index, p.id, m.bytes FROM conversations c JOIN threads t ON t.conversation = c.number
            JOIN positions p ON p.thread = t.number JOIN messages m ON m.id = p.message
        WHERE c.id = ?1 AND coalesce(t.reader = ?2, true) AND (p.message_index, p.id) > (?3, ?4)
        ORDER BY p.message_index, p.id LIMIT ?5";
    let after = page.after.unwrap_or(Cursor { order: -1, number: 0 });
    let limit = page.limit();
    let mut statement = connection.prepare_cached(sql)?;
    let values = params![conversation.as_str(), reader, after.order, after.number, page.one_more()];
    let mut rows = statement.query(values)?;
    let (mut found, mut bytes): (Vec<(Cursor, ArchivedMessage)>, u64) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        bytes = bytes.saturating_add(counted(row, 2)?);
        if bytes > MAX_PAGE_BYTES as u64 && !found.is_empty() {
            let limit = found.len();
            let next = found.last().map(|(cursor, _)| *cursor);
            return Ok(Page { next, ..Page::of(found, limit) });
        }
        let cursor = Cursor { order: row.get(0)?, number: row.get(1)? };
        found.push((cursor, archived(connection, cursor.number)?));
    }
    Ok(Page::of(found, limit))
}
