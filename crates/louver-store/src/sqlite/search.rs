//! The engine's search over an archive in SQLite.

use super::account::find_reader;
use super::on_chain::{archived, chain_to, newest_point, tagged};
use crate::archive_search::{Passages, Place, Scope, Searcher, lengths};
use crate::content::{ArchiveHit, SearchAnswer, SearchRequest, SearchScope};
use crate::error::Error;
use crate::everything::Everything;
use crate::on_chain::{Point, Tagged};
use crate::page::MAX_PAGE_ROWS;
use crate::postings::LogMessage;
use louver::search::{Found, Hit};
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};
use std::collections::HashMap;
use std::ops::{ControlFlow, RangeInclusive};
use std::rc::Rc;
use std::sync::Arc;

/// What is remembered of everything has no mark of its moment: messages have ascending numbers.
pub(super) type Remembered = crate::everything::Remembered<()>;

/// Searches in a transaction that began after what is known was remembered.
pub(super) fn search(
    connection: &Connection,
    request: &SearchRequest,
    known: Option<Arc<Everything<()>>>,
    remembered: &Remembered,
) -> Result<SearchAnswer, Error> {
    let Some(reader) = find_reader(connection, request.reader.as_str())? else {
        return Ok(SearchAnswer::UnknownScope);
    };
    let scope = match &request.scope {
        SearchScope::Chain { tag, .. } | SearchScope::Counted { tag, .. } => {
            match tagged(connection, request.reader.as_str(), tag)? {
                Tagged::Unknown => return Ok(SearchAnswer::UnknownScope),
                Tagged::Ambiguous => return Ok(SearchAnswer::AmbiguousTag),
                Tagged::Point(point) => chain_scope(connection, point, &request.scope)?,
            }
        }
        SearchScope::Conversation(id) => match newest_point(connection, reader, id)? {
            Some(point) => chain_scope(connection, point, &request.scope)?,
            None => return Ok(SearchAnswer::UnknownScope),
        },
        SearchScope::Everything => {
            let everything = everything(connection, reader, known)?;
            remembered.put(request.reader.as_str(), Arc::clone(&everything));
            Scope::of_everything(&everything)
        }
    };
    let found = Searcher { passages: connection, reader, scope: &scope }
        .find(&request.query, request.limit.min(MAX_PAGE_ROWS))?;
    let hits = found.hits.iter().map(|hit| shown(connection, &scope, &found, *hit));
    Ok(SearchAnswer::Hits(hits.collect::<Result<_, _>>()?))
}

fn chain_scope(connection: &Connection, point: Point, scope: &SearchScope) -> Result<Scope, Error> {
    let chain = chain_to(connection, point)?;
    let lengths = lengths_of(connection, chain.iter().map(|found| found.message))?;
    Ok(Scope::of_chain(&chain, &lengths, scope))
}

fn lengths_of(connection: &Connection, ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, Vec<u32>>, Error> {
    let ids: Rc<Vec<Value>> = Rc::new(ids.map(Value::from).collect());
    let mut statement = connection.prepare_cached("SELECT id, lengths FROM messages WHERE id IN rarray(?1)")?;
    let rows = statement.query_map([ids], |row| Ok((row.get(0)?, lengths(row.get_ref(1)?.as_blob()?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// All messages of a reader: those that are known, if none of them was removed, and those after them.
fn everything(
    connection: &Connection,
    reader: i64,
    known: Option<Arc<Everything<()>>>,
) -> Result<Arc<Everything<()>>, Error> {
    if let Some(known) = known.filter(|known| known.reader == reader) {
        let last = known.log.last_id().unwrap_or_default();
        // A number is given once and in the order in which messages are kept: there are no others up to this one.
        let sql = "SELECT count(*) FROM messages WHERE reader = ?1 AND id <= ?2";
        let left: i64 = connection.prepare_cached(sql)?.query_row([reader, last], |row| row.get(0))?;
        if usize::try_from(left) == Ok(known.log.len()) {
            let added = messages_after(connection, reader, last)?;
            return Ok(if added.is_empty() { known } else { Arc::new(known.with(&added, ())) });
        }
    }
    Ok(Arc::new(Everything::new(reader, &messages_after(connection, reader, 0)?, ())))
}

fn messages_after(connection: &Connection, reader: i64, last: i64) -> Result<Vec<LogMessage>, Error> {
    let sql = "SELECT id, lengths FROM messages WHERE reader = ?1 AND id > ?2 ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let message = |row: &Row<'_>| Ok(LogMessage { id: row.get(0)?, lengths: lengths(row.get_ref(1)?.as_blob()?) });
    let rows = statement.query_map([reader, last], message)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Passages for Connection {
    fn scan(
        &self,
        token: &str,
        among: RangeInclusive<i64>,
        each: &mut dyn FnMut(i64) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let sql = "SELECT rowid FROM passages WHERE passages MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid";
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(params![format!("\"{token}\""), among.start(), among.end()])?;
        while let Some(row) = rows.next()? {
            if each(row.get(0)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn shown(connection: &Connection, scope: &Scope, found: &Found, hit: Hit) -> Result<ArchiveHit, Error> {
    let position = match scope.place(hit.message) {
        Place::Position(position) => position,
        Place::Message(id) => {
            let sql = "SELECT max(id) FROM positions WHERE message = ?1";
            connection.prepare_cached(sql)?.query_row([id], |row| row.get(0))?
        }
    };
    Ok(ArchiveHit::new(archived(connection, position)?, found, hit.passage))
}
