//! The engine's search over an archive: the terms of a query are looked up in a database, and the engine judges.

use crate::content::SearchScope;
use crate::error::Error;
use crate::everything::{CommonTerms, Everything};
use crate::on_chain::OnChain;
use crate::postings::{Log, LogMessage, PassageList, Reading, query_terms, repetitions, token};
use louver::search::{Found, QUERY_POSTINGS};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

/// What is searched: a log, and of which messages.
pub(crate) struct Scope {
    pub(crate) log: Arc<Log>,
    /// For each message of the log its position; nothing where everything is searched.
    positions: Option<Vec<i64>>,
    /// The messages of the log that are searched; nothing for all.
    within: Option<HashSet<usize>>,
    /// The terms that are known to be too common to matter, where everything is searched.
    common: Option<Arc<CommonTerms>>,
}

/// Where a message of a log stands.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    Position(i64),
    /// Wherever the message with this id was heard last.
    Message(i64),
}

impl Scope {
    /// A chain, given how many terms the passages of its messages have.
    pub(crate) fn of_chain(chain: &[OnChain], lengths: &HashMap<i64, Vec<u32>>, scope: &SearchScope) -> Self {
        let message = |id: i64| LogMessage { id, lengths: lengths.get(&id).cloned().unwrap_or_default() };
        let messages: Vec<LogMessage> = chain.iter().map(|found| message(found.message)).collect();
        let within = match scope {
            SearchScope::Chain { within: Some(address), .. } => {
                let indices = chain.iter().enumerate().filter(|(_, found)| address.contains(found.index as usize));
                Some(indices.map(|(number, _)| number).collect())
            }
            SearchScope::Counted { within, .. } => {
                Some((0..chain.len()).filter(|number| within.contains(*number)).collect())
            }
            _ => None,
        };
        let positions = Some(chain.iter().map(|found| found.position).collect());
        Self { log: Arc::new(Log::new(&messages)), positions, within, common: None }
    }

    /// All messages of a reader.
    pub(crate) fn of_everything<M>(everything: &Everything<M>) -> Self {
        let common = Some(Arc::clone(&everything.common));
        Self { log: Arc::clone(&everything.log), positions: None, within: None, common }
    }

    /// Whether it is a chain.
    pub(crate) fn is_chain(&self) -> bool {
        self.positions.is_some()
    }

    /// Where a message of the log stands.
    pub(crate) fn place(&self, message: usize) -> Place {
        match &self.positions {
            Some(positions) => Place::Position(positions[message]),
            None => Place::Message(self.log.ids()[message]),
        }
    }

    fn is_common(&self, term: &str) -> bool {
        self.common.as_ref().is_some_and(|common| common.contains(term))
    }
}

/// How many terms each passage of a message has, as it is kept: two bytes each, the low one first.
pub(crate) fn lengths(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).collect()
}

/// A database's lists of passages.
pub(crate) trait Passages {
    /// Calls `each` with the passages that have a token, ascending.
    fn scan(
        &self,
        token: &str,
        among: RangeInclusive<i64>,
        each: &mut dyn FnMut(i64) -> ControlFlow<()>,
    ) -> Result<(), Error>;

    /// Whether all lists that were asked for were at hand; where not, they are before it is searched again.
    fn is_complete(&self) -> bool {
        true
    }
}

/// Looks the terms of a query up and lets the engine judge.
pub(crate) struct Searcher<'s, P> {
    pub(crate) passages: &'s P,
    pub(crate) reader: i64,
    pub(crate) scope: &'s Scope,
}

impl<P: Passages> Searcher<'_, P> {
    pub(crate) fn find(&self, query: &str, limit: usize) -> Result<Found, Error> {
        let terms = query_terms(query);
        let (mut lists, is_whole) = self.short_lists(&terms)?;
        let mut found = self.judge(&lists, query, limit);
        if found.hits.is_empty() && !is_whole && limit > 0 && self.passages.is_complete() {
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
            if self.scope.is_common(term) {
                is_whole = false;
                continue;
            }
            let limit = reading.limit();
            // What is read on for now need not be read the next time.
            let most = if self.scope.common.is_some() { QUERY_POSTINGS } else { limit };
            let (mut list, mut length) = (PassageList::new(), 0);
            self.scan(&token(self.reader, term), |passage| {
                let places = self.scope.log.count(passage);
                if places > 0 {
                    length += places;
                    list.push((passage, 1));
                }
                if length > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
            if length > limit {
                is_whole = false;
                if let Some(common) = self.scope.common.as_ref().filter(|_| length > QUERY_POSTINGS) {
                    common.insert(term);
                }
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

    fn scan(&self, token: &str, mut each: impl FnMut(i64) -> ControlFlow<()>) -> Result<(), Error> {
        self.passages.scan(token, self.scope.log.passages(), &mut each)
    }
}
