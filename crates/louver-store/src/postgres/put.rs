//! Keeping messages that are not there yet.

use super::session::Session;
use super::values::{chain_hash, hash_array, small};
use crate::bounds::count;
use crate::chain::ChainHash;
use crate::content::{NewContent, NewMessage, content_hash};
use crate::error::{Error, Kind};
use crate::postings::PassageTokens;
use futures_util::future::try_join_all;
use louver::search::passages;
use louver::{Format, Message};
use std::collections::{HashMap, HashSet};

/// A message has so many numbers for its passages.
const MAX_PASSAGES: usize = 65_536;

/// Keeps messages that are not there yet, inside a transaction, and says how many.
pub(super) async fn put(
    session: &mut Session,
    content: &NewContent,
    reader: i64,
    conversation: i64,
) -> Result<usize, Error> {
    let thread = thread_number(session, conversation, reader).await?;
    let known = known_positions(session, thread, content).await?;
    let new: Vec<&NewMessage> = content.messages.iter().filter(|message| !known.contains_key(&message.chain)).collect();
    let texts = message_ids(session, reader, content, &new).await?;
    let sql = "SELECT nextval('louver.position_numbers') FROM generate_series(1, $1::bigint)";
    let mut numbers = session.numbers(sql, &[&(new.len() as i64)]).await?.into_iter();
    let mut previous = content.previous.and_then(|chain| known.get(&chain)).map_or(0, |known| known.id);
    let (mut rows, mut linked) = (Vec::new(), Vec::new());
    for (index, message) in (content.index..).zip(&content.messages) {
        previous = match known.get(&message.chain) {
            Some(position) => {
                // Tells a position what stands before it, if nobody knew.
                if position.previous == 0 && position.index > 0 && previous > 0 {
                    linked.push((position.id, previous));
                }
                position.id
            }
            None => {
                let (id, text) = numbers.next().zip(texts.get(&*message.raw).copied()).ok_or_else(miscounted)?;
                rows.push((id, i64::from(index), message.chain, previous, text));
                id
            }
        };
    }
    insert_positions(session, thread, &rows).await?;
    for (id, previous) in linked {
        session.execute("UPDATE louver.positions SET previous = $1 WHERE id = $2", &[&previous, &id]).await?;
    }
    Ok(rows.len())
}

fn miscounted() -> Error {
    Error::new(Kind::Other, "the store gave other numbers than were asked for")
}

async fn thread_number(session: &mut Session, conversation: i64, reader: i64) -> Result<i64, Error> {
    let sql = "SELECT number FROM louver.threads WHERE conversation = $1 AND reader = $2";
    if let Some(row) = session.query_opt(sql, &[&conversation, &reader]).await? {
        return Ok(row.try_get(0)?);
    }
    let sql = "INSERT INTO louver.threads (conversation, reader) VALUES ($1, $2)
        ON CONFLICT (conversation, reader) DO UPDATE SET reader = excluded.reader RETURNING number";
    Ok(session.query_one(sql, &[&conversation, &reader]).await?.try_get(0)?)
}

/// A position that is there.
struct Position {
    id: i64,
    index: u32,
    previous: i64,
}

async fn known_positions(
    session: &mut Session,
    thread: i64,
    content: &NewContent,
) -> Result<HashMap<ChainHash, Position>, Error> {
    let sql = "SELECT chain, id, message_index, previous FROM louver.positions WHERE chain = ANY ($1) AND thread = $2";
    let hashes = hash_array(content.messages.iter().map(|message| &message.chain).chain(&content.previous));
    let rows = session.query(sql, &[&hashes, &thread]).await?;
    let position = |row: &tokio_postgres::Row| {
        let position = Position { id: row.try_get(1)?, index: small(row, 2)?, previous: row.try_get(3)? };
        Ok((chain_hash(row, 0)?, position))
    };
    rows.iter().map(position).collect()
}

type NewPosition = (i64, i64, ChainHash, i64, i64);

async fn insert_positions(session: &mut Session, thread: i64, rows: &[NewPosition]) -> Result<(), Error> {
    let sql = "INSERT INTO louver.positions (id, thread, message_index, chain, previous, message)
        VALUES ($1, $2, $3, $4, $5, $6)";
    let statement = session.statement(sql).await?;
    let client = &session.client;
    let inserts = rows.iter().map(async |(id, index, chain, previous, message)| {
        client.execute(&statement, &[id, &thread, index, &&chain.0[..], previous, message]).await
    });
    try_join_all(inserts).await?;
    Ok(())
}

/// The ids of messages by their text; those that are not kept yet are.
async fn message_ids<'m>(
    session: &mut Session,
    reader: i64,
    content: &NewContent,
    messages: &[&'m NewMessage],
) -> Result<HashMap<&'m str, i64>, Error> {
    let (name, format) = (content.conversation.reader.as_str(), content.conversation.format);
    let hashes: HashMap<[u8; 32], &str> =
        messages.iter().map(|message| (content_hash(name, format, &message.raw), &*message.raw)).collect();
    let wanted: Vec<&[u8]> = hashes.keys().map(|hash| &hash[..]).collect();
    let rows = session.query("SELECT hash, id FROM louver.messages WHERE hash = ANY ($1)", &[&wanted]).await?;
    let mut ids = HashMap::new();
    for row in &rows {
        let text = <[u8; 32]>::try_from(row.try_get::<_, &[u8]>(0)?).ok().and_then(|hash| hashes.get(&hash));
        ids.extend(text.map(|text| (*text, row.try_get(1))));
    }
    let mut ids: HashMap<&str, i64> =
        ids.into_iter().map(|(text, id)| Ok((text, id?))).collect::<Result<_, tokio_postgres::Error>>()?;
    let numbers =
        numbers(session, messages.iter().map(|message| &*message.raw).filter(|text| !ids.contains_key(text))).await?;
    // In one order for everybody, so that nobody waits for somebody who waits.
    let mut new: Vec<(&[u8; 32], &&str)> = hashes.iter().filter(|(_, text)| numbers.contains_key(**text)).collect();
    new.sort();
    let rows = new.into_iter().map(|(hash, text)| NewText::of(numbers[text], reader, format, text, hash)).collect();
    insert_texts(session, reader, format, rows).await?;
    ids.extend(numbers);
    Ok(ids)
}

/// Numbers for new texts, in the order in which they were said: a search over everything ranks what follows a hit.
async fn numbers<'m>(
    session: &mut Session,
    texts: impl Iterator<Item = &'m str>,
) -> Result<HashMap<&'m str, i64>, Error> {
    let mut once = HashSet::new();
    let said: Vec<&str> = texts.filter(|text| once.insert(*text)).collect();
    if said.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = "SELECT nextval('louver.message_numbers') * 65536 FROM generate_series(1, $1::bigint)";
    let rows = session.query(sql, &[&count(said.len() as u64)]).await?;
    let mut numbers = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<i64>, _>>()?;
    numbers.sort_unstable();
    Ok(said.into_iter().zip(numbers).collect())
}

/// A message as its rows have it.
struct NewText<'m> {
    id: i64,
    hash: &'m [u8; 32],
    raw: &'m str,
    /// How many terms each passage has.
    lengths: Vec<u8>,
    /// The terms of each passage.
    passages: Vec<Vec<i64>>,
}

impl<'m> NewText<'m> {
    fn of(id: i64, reader: i64, format: Format, raw: &'m str, hash: &'m [u8; 32]) -> Self {
        // What the engine cannot read is kept, but found by its place alone.
        let texts = Message::parse(format, raw).map(|message| passages(&message)).unwrap_or_default();
        let (mut lengths, mut passages) = (Vec::new(), Vec::new());
        for text in texts.iter().take(MAX_PASSAGES) {
            let PassageTokens { tokens, length } = PassageTokens::of(reader, text);
            lengths.extend(u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
            passages.push(tokens.split_ascii_whitespace().map(term_hash).collect());
        }
        Self { id, hash, raw, lengths, passages }
    }
}

/// All that goes into a table is sent before anything is waited for: a way to the server and back takes longer than a row.
async fn insert_texts(
    session: &mut Session,
    reader: i64,
    format: Format,
    texts: Vec<NewText<'_>>,
) -> Result<(), Error> {
    let sql = "INSERT INTO louver.messages (id, reader, hash, format, bytes, lengths) VALUES ($1, $2, $3, $4, $5, $6)";
    let messages = session.statement(sql).await?;
    let raws = session.statement("INSERT INTO louver.texts (message, raw) VALUES ($1, $2)").await?;
    let passages = session.statement("INSERT INTO louver.passages (id, message, terms) VALUES ($1, $2, $3)").await?;
    let client = &session.client;
    try_join_all(texts.iter().map(async |text| {
        let bytes = count(text.raw.len() as u64);
        client.execute(&messages, &[&text.id, &reader, &&text.hash[..], &format.name(), &bytes, &text.lengths]).await
    }))
    .await?;
    try_join_all(texts.iter().map(async |text| client.execute(&raws, &[&text.id, &text.raw.as_bytes()]).await)).await?;
    let numbered = texts.iter().flat_map(|text| (text.id..).zip(&text.passages).map(|numbered| (text.id, numbered)));
    try_join_all(
        numbered.map(async |(message, (number, terms))| client.execute(&passages, &[&number, &message, terms]).await),
    )
    .await?;
    Ok(())
}

/// What is kept of a token: a number, so that no word of a message stays in an index that forgets slowly.
pub(super) fn term_hash(token: &str) -> i64 {
    let hash = blake3::hash(token.as_bytes());
    let mut first = [0; 8];
    first.copy_from_slice(&hash.as_bytes()[..8]);
    i64::from_le_bytes(first)
}
