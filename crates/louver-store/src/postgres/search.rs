//! The engine's search over an archive in PostgreSQL.

use super::booking::find_reader;
use super::on_chain::{archived, chain_to, newest_point, tagged};
use super::put::term_hash;
use super::session::Session;
use crate::archive_search::{Passages, Place, Scope, Searcher, lengths};
use crate::content::{ArchiveHit, SearchAnswer, SearchRequest, SearchScope};
use crate::error::{Error, Kind};
use crate::everything::Everything;
use crate::on_chain::{Point, Tagged};
use crate::page::MAX_PAGE_ROWS;
use crate::postings::{LogMessage, query_terms, repetitions, token};
use futures_util::future::try_join3;
use louver::search::{Found, QUERY_POSTINGS};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use tokio_postgres::Row;

/// What is remembered of everything, and when it was seen.
pub(super) type Remembered = crate::everything::Remembered<Moment>;

/// A moment of the database.
#[derive(Debug)]
pub(super) struct Moment {
    /// Changes with every removal of messages, and is another on another server.
    removals: String,
    /// Which transactions were over.
    snapshot: String,
}

/// A chain of at most so many messages is searched message by message; a longer one by the lists of the terms.
const FEW_MESSAGES: usize = 1_000;

pub(super) async fn search(
    session: &mut Session,
    request: &SearchRequest,
    remembered: &Remembered,
) -> Result<SearchAnswer, Error> {
    let name = request.reader.as_str();
    let known = remembered.get(name);
    let Some(reader) = find_reader(session, name).await? else {
        return Ok(SearchAnswer::UnknownScope);
    };
    let scope = match &request.scope {
        SearchScope::Chain { tag, .. } | SearchScope::Counted { tag, .. } => {
            match tagged(session, reader, tag).await? {
                Tagged::Unknown => return Ok(SearchAnswer::UnknownScope),
                Tagged::Ambiguous => return Ok(SearchAnswer::AmbiguousTag),
                Tagged::Point(point) => chain_scope(session, point, &request.scope).await?,
            }
        }
        SearchScope::Conversation(id) => match newest_point(session, reader, id).await? {
            Some(point) => chain_scope(session, point, &request.scope).await?,
            None => return Ok(SearchAnswer::UnknownScope),
        },
        SearchScope::Everything => {
            let everything = Arc::new(everything(session, reader, known).await?);
            remembered.put(name, Arc::clone(&everything));
            Scope::of_everything(&everything)
        }
    };
    let found = find(session, reader, &scope, request).await?;
    let places: Vec<Place> = found.hits.iter().map(|hit| scope.place(hit.message)).collect();
    let positions = positions(session, &places).await?;
    let messages = archived_each(session, &positions).await?;
    let hits =
        messages.into_iter().zip(&found.hits).map(|(message, hit)| ArchiveHit::new(message, &found, hit.passage));
    Ok(SearchAnswer::Hits(hits.collect()))
}

/// Searches with the lists at hand, and again with those that were missing, until none is.
async fn find(session: &mut Session, reader: i64, scope: &Scope, request: &SearchRequest) -> Result<Found, Error> {
    let limit = request.limit.min(MAX_PAGE_ROWS);
    let mut lists = Lists::default();
    if scope.is_chain() && scope.log.len() <= FEW_MESSAGES {
        let terms = query_terms(&request.query);
        let repeated = terms.iter().flat_map(|term| repetitions(reader, term)).map(|(token, _)| token);
        let tokens = terms.iter().map(|term| token(reader, term)).chain(repeated);
        lists.read_messages(session, tokens, scope.log.ids()).await?;
    }
    loop {
        let found = Searcher { passages: &lists, reader, scope }.find(&request.query, limit)?;
        let missing = lists.missing();
        if missing.is_empty() {
            return Ok(found);
        }
        lists.read(session, &missing, scope.log.passages()).await?;
    }
}

async fn chain_scope(session: &mut Session, point: Point, scope: &SearchScope) -> Result<Scope, Error> {
    let chain = chain_to(session, point).await?;
    let mut ids: Vec<i64> = chain.iter().map(|found| found.message).collect();
    ids.sort_unstable();
    ids.dedup();
    let rows = session.query("SELECT id, lengths FROM louver.messages WHERE id = ANY ($1)", &[&ids]).await?;
    let lengths: HashMap<i64, Vec<u32>> =
        rows.iter().map(|row| Ok((row.try_get(0)?, lengths(row.try_get(1)?)))).collect::<Result<_, Error>>()?;
    Ok(Scope::of_chain(&chain, &lengths, scope))
}

/// All messages of a reader: those that are known, if none was removed, and those of later transactions.
async fn everything(
    session: &mut Session,
    reader: i64,
    known: Option<Arc<Everything<Moment>>>,
) -> Result<Everything<Moment>, Error> {
    // A message that is seen was written by a transaction before the next one, whatever a backup says of it.
    let later =
        "SELECT r.tableoid || ' ' || r.version || ' ' || pg_postmaster_start_time(), pg_current_snapshot()::text,
            m.id, m.lengths
        FROM louver.removals r LEFT JOIN louver.messages m ON m.reader = $1
            AND m.written >= pg_snapshot_xmin($2::text::pg_snapshot)
            AND m.written < pg_snapshot_xmax(pg_current_snapshot())
            AND NOT pg_visible_in_snapshot(m.written, $2::text::pg_snapshot)";
    if let Some(known) = known.filter(|known| known.reader == reader) {
        let (moment, added) = seen(&session.query(later, &[&reader, &known.moment.snapshot]).await?)?;
        if moment.removals == known.moment.removals {
            return Ok(known.with(&added, moment));
        }
    }
    let all = "SELECT r.tableoid || ' ' || r.version || ' ' || pg_postmaster_start_time(), pg_current_snapshot()::text,
            m.id, m.lengths
        FROM louver.removals r LEFT JOIN louver.messages m ON m.reader = $1 ORDER BY m.id";
    let (moment, messages) = seen(&session.query(all, &[&reader]).await?)?;
    Ok(Everything::new(reader, &messages, moment))
}

/// The moment of a query, and the messages that it found.
fn seen(rows: &[Row]) -> Result<(Moment, Vec<LogMessage>), Error> {
    let first = rows.first().ok_or_else(|| Error::new(Kind::Corrupt, "the store does not count what is removed"))?;
    let moment = Moment { removals: first.try_get(0)?, snapshot: first.try_get(1)? };
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(id) = row.try_get(2)? {
            messages.push(LogMessage { id, lengths: lengths(row.try_get(3)?) });
        }
    }
    Ok((moment, messages))
}

/// Where messages that were found are shown.
async fn positions(session: &mut Session, places: &[Place]) -> Result<Vec<i64>, Error> {
    let unplaced = |place: &Place| match place {
        Place::Position(_) => None,
        Place::Message(id) => Some(*id),
    };
    let messages: Vec<i64> = places.iter().filter_map(unplaced).collect();
    let mut last: HashMap<i64, i64> = HashMap::new();
    if !messages.is_empty() {
        let sql = "SELECT message, max(id) FROM louver.positions WHERE message = ANY ($1) GROUP BY message";
        for row in session.query(sql, &[&messages]).await? {
            last.insert(row.try_get(0)?, row.try_get(1)?);
        }
    }
    let gone = || Error::new(Kind::Busy, "a message that was found has left the archive meanwhile");
    let position = |place: &Place| match place {
        Place::Position(position) => Ok(*position),
        Place::Message(id) => last.get(id).copied().ok_or_else(gone),
    };
    places.iter().map(position).collect()
}

/// A message for each hit: several may stand in one.
async fn archived_each(
    session: &mut Session,
    positions: &[i64],
) -> Result<Vec<crate::content::ArchivedMessage>, Error> {
    let mut once = positions.to_vec();
    once.sort_unstable();
    once.dedup();
    let messages: HashMap<i64, _> = once.iter().copied().zip(archived(session, &once).await?).collect();
    Ok(positions.iter().filter_map(|position| messages.get(position).cloned()).collect())
}

/// The lists of tokens that were read, and those that are missing.
#[derive(Default)]
struct Lists {
    read: HashMap<i64, List>,
    missing: RefCell<BTreeMap<i64, Missing>>,
}

#[derive(Default)]
struct List {
    passages: Vec<i64>,
    /// Whether there may be more of them.
    is_cut: bool,
}

/// How much of a list is missing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Start,
    Rest,
}

impl Lists {
    /// What was asked for and not at hand.
    fn missing(&self) -> BTreeMap<i64, Missing> {
        self.missing.take()
    }

    /// Reads lists, at first no more than the engine reads of one: whoever has to read the rest, too, says so.
    async fn read(
        &mut self,
        session: &mut Session,
        missing: &BTreeMap<i64, Missing>,
        among: RangeInclusive<i64>,
    ) -> Result<(), Error> {
        let sql = "SELECT asked.term, found.id FROM unnest($1::bigint[], $2::bigint[]) AS asked (term, most)
            CROSS JOIN LATERAL (SELECT id FROM louver.passages
                WHERE terms @> ARRAY[asked.term] AND id + 0 BETWEEN $3 AND $4 LIMIT asked.most) AS found
            ORDER BY found.id";
        let terms: Vec<i64> = missing.keys().copied().collect();
        let start = |missing: &Missing| (*missing == Missing::Start).then_some(QUERY_POSTINGS as i64 + 1);
        let most: Vec<Option<i64>> = missing.values().map(start).collect();
        let statement = session.statement(sql).await?;
        let client = &session.client;
        // Of few rows the server would rather read all, and unpack the terms of each for every one that is asked for. All is
        // sent before anything is waited for.
        let ((), rows, ()) = try_join3(
            client.batch_execute("BEGIN; SET LOCAL enable_seqscan = off"),
            client.query(&statement, &[&terms, &most, among.start(), among.end()]),
            client.batch_execute("COMMIT"),
        )
        .await?;
        self.keep(&terms, &rows)?;
        for (term, most) in terms.iter().zip(most) {
            if let Some(list) = self.read.get_mut(term) {
                list.is_cut = most.is_some_and(|most| list.passages.len() as i64 >= most);
            }
        }
        Ok(())
    }

    /// Reads the lists of tokens in the passages of some messages.
    async fn read_messages(
        &mut self,
        session: &mut Session,
        tokens: impl Iterator<Item = String>,
        messages: &[i64],
    ) -> Result<(), Error> {
        let sql = "SELECT term, id FROM louver.passages, unnest(terms) AS term
            WHERE message = ANY ($1) AND term = ANY ($2) ORDER BY id";
        let terms: Vec<i64> = tokens.map(|token| term_hash(&token)).collect();
        let rows = session.query(sql, &[&messages, &terms]).await?;
        self.keep(&terms, &rows)
    }

    fn keep(&mut self, terms: &[i64], rows: &[Row]) -> Result<(), Error> {
        self.read.extend(terms.iter().map(|term| (*term, List::default())));
        for row in rows {
            if let Some(list) = self.read.get_mut(&row.try_get(0)?) {
                list.passages.push(row.try_get(1)?);
            }
        }
        Ok(())
    }
}

impl Passages for Lists {
    fn scan(
        &self,
        token: &str,
        _among: RangeInclusive<i64>,
        each: &mut dyn FnMut(i64) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let term = term_hash(token);
        let missing = match self.read.get(&term) {
            None => Missing::Start,
            Some(list) if list.passages.iter().try_for_each(|passage| each(*passage)).is_continue() && list.is_cut => {
                Missing::Rest
            }
            Some(_) => return Ok(()),
        };
        self.missing.borrow_mut().insert(term, missing);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.missing.borrow().is_empty()
    }
}
