//! The engine's search over an archive.

use super::account::find_reader;
use super::on_chain::{Point, Tagged, archived, chain_to, newest_point, tagged};
use crate::content::{ArchiveHit, SearchAnswer, SearchRequest, SearchScope};
use crate::error::Error;
use crate::page::MAX_PAGE_ROWS;
use crate::postings::{Log, LogMessage, PassageList, Reading, query_terms, repetitions, token};
use louver::Message;
use louver::search::{Found, Hit, passages};
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

/// What is searched: a log, and of which messages.
struct Scope {
    log: Log,
    /// For each message of the log its position; where it is not known, the message's id.
    places: Vec<Place>,
    /// The messages of the log that are searched; nothing for all.
    within: Option<HashSet<usize>>,
}

#[derive(Clone, Copy)]
enum Place {
    Position(i64),
    Message(i64),
}

pub(super) fn search(connection: &Connection, request: &SearchRequest) -> Result<SearchAnswer, Error> {
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
        SearchScope::Everything => everything(connection, reader)?,
    };
    let found =
        Searcher { connection, reader, scope: &scope }.find(&request.query, request.limit.min(MAX_PAGE_ROWS))?;
    let hits = found.hits.iter().map(|hit| shown(connection, &scope, &found, *hit));
    Ok(SearchAnswer::Hits(hits.collect::<Result<_, _>>()?))
}

fn chain_scope(connection: &Connection, point: Point, scope: &SearchScope) -> Result<Scope, Error> {
    let chain = chain_to(connection, point)?;
    let lengths = lengths_of(connection, chain.iter().map(|found| found.message))?;
    let message = |id: i64| LogMessage { id, lengths: lengths.get(&id).cloned().unwrap_or_default() };
    let log = Log::new(chain.iter().map(|found| message(found.message)).collect());
    let places = chain.iter().map(|found| Place::Position(found.position)).collect();
    let within = match scope {
        SearchScope::Chain { within: Some(address), .. } => {
            let wanted: HashSet<usize> = address.indices().collect();
            let indices = chain.iter().enumerate().filter(|(_, found)| wanted.contains(&(found.index as usize)));
            Some(indices.map(|(number, _)| number).collect())
        }
        SearchScope::Counted { within, .. } => Some(within.indices().collect()),
        _ => None,
    };
    Ok(Scope { log, places, within })
}

fn lengths_of(connection: &Connection, ids: impl Iterator<Item = i64>) -> Result<HashMap<i64, Vec<u32>>, Error> {
    let ids: Rc<Vec<Value>> = Rc::new(ids.map(Value::from).collect());
    let mut statement = connection.prepare_cached("SELECT id, lengths FROM messages WHERE id IN rarray(?1)")?;
    let rows = statement.query_map([ids], |row| Ok((row.get(0)?, lengths(row.get_ref(1)?.as_blob()?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn everything(connection: &Connection, reader: i64) -> Result<Scope, Error> {
    let mut statement = connection.prepare_cached("SELECT id, lengths FROM messages WHERE reader = ?1 ORDER BY id")?;
    let rows = statement
        .query_map([reader], |row| Ok(LogMessage { id: row.get(0)?, lengths: lengths(row.get_ref(1)?.as_blob()?) }))?;
    let messages: Vec<LogMessage> = rows.collect::<Result<_, _>>()?;
    let places = messages.iter().map(|message| Place::Message(message.id)).collect();
    Ok(Scope { log: Log::new(messages), places, within: None })
}

fn lengths(blob: &[u8]) -> Vec<u32> {
    blob.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).collect()
}

/// Looks the terms of a query up and lets the engine judge.
struct Searcher<'s> {
    connection: &'s Connection,
    reader: i64,
    scope: &'s Scope,
}

impl Searcher<'_> {
    fn find(&self, query: &str, limit: usize) -> Result<Found, Error> {
        let terms = query_terms(query);
        let (mut lists, is_whole) = self.short_lists(&terms)?;
        let mut found = self.judge(&lists, query, limit);
        if found.hits.is_empty() && !is_whole && limit > 0 {
            lists = self.whole_lists(&terms)?;
            found = self.judge(&lists, query, limit);
        }
        // How often a term stands somewhere does not change which terms decide, only the order.
        let deciding: Vec<String> = found.terms().map(str::to_owned).collect();
        for term in &deciding {
            if let Some(list) = lists.get_mut(term) {
                self.count_repetitions(term, list)?;
            }
        }
        Ok(self.judge(&lists, query, limit))
    }

    fn judge(&self, lists: &BTreeMap<String, PassageList>, query: &str, limit: usize) -> Found {
        let within = |message: usize| self.scope.within.as_ref().is_none_or(|within| within.contains(&message));
        self.scope.log.index(lists).among(within).search(query, limit)
    }

    /// The lists of all terms that are rare enough to matter, and whether these are all.
    fn short_lists(&self, terms: &[String]) -> Result<(BTreeMap<String, PassageList>, bool), Error> {
        let (mut lists, mut reading, mut is_whole) = (BTreeMap::new(), Reading::default(), true);
        for term in terms {
            let limit = reading.limit();
            let (mut list, mut length) = (PassageList::new(), 0);
            self.scan(&token(self.reader, term), |passage| {
                let places = self.scope.log.count(passage);
                if places > 0 {
                    length += places;
                    list.push((passage, 1));
                }
                if length > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if length > limit {
                is_whole = false;
                continue;
            }
            if length > 0 {
                reading.add(length);
                lists.insert(term.clone(), list);
            }
        }
        Ok((lists, is_whole))
    }

    fn whole_lists(&self, terms: &[String]) -> Result<BTreeMap<String, PassageList>, Error> {
        let mut lists = BTreeMap::new();
        for term in terms {
            let mut list = PassageList::new();
            self.scan(&token(self.reader, term), |passage| {
                list.push((passage, 1));
                ControlFlow::Continue(())
            })?;
            lists.insert(term.clone(), list);
        }
        Ok(lists)
    }

    fn count_repetitions(&self, term: &str, list: &mut PassageList) -> Result<(), Error> {
        for (token, times) in repetitions(self.reader, term) {
            let mut next = 0;
            self.scan(&token, |passage| {
                // Both are ascending.
                next += list[next..].partition_point(|(known, _)| *known < passage);
                match list.get_mut(next) {
                    Some((known, sum)) if *known == passage => *sum += times,
                    Some(_) => {}
                    None => return ControlFlow::Break(()),
                }
                ControlFlow::Continue(())
            })?;
        }
        Ok(())
    }

    /// Calls `each` with the passages that have a token, ascending.
    fn scan(&self, token: &str, mut each: impl FnMut(i64) -> ControlFlow<()>) -> Result<(), Error> {
        let sql = "SELECT rowid FROM passages WHERE passages MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid";
        let mut statement = self.connection.prepare_cached(sql)?;
        let passages = self.scope.log.passages();
        let mut rows = statement.query(params![format!("\"{token}\""), passages.start(), passages.end()])?;
        while let Some(row) = rows.next()? {
            if each(row.get(0)?).is_break() {
                break;
            }
        }
        Ok(())
    }
}

fn shown(connection: &Connection, scope: &Scope, found: &Found, hit: Hit) -> Result<ArchiveHit, Error> {
    let position = match scope.places[hit.message] {
        Place::Position(position) => position,
        Place::Message(id) => {
            let sql = "SELECT max(id) FROM positions WHERE message = ?1";
            connection.prepare_cached(sql)?.query_row([id], |row| row.get(0))?
        }
    };
    let message = archived(connection, position)?;
    let texts =
        Message::parse(message.place.format, &message.raw).map(|message| passages(&message)).unwrap_or_default();
    let text = texts.into_iter().nth(hit.passage).unwrap_or_default();
    Ok(ArchiveHit { marks: found.marks(&text), place: message.place, passage: hit.passage, text })
}
