//! Full-text search over messages.
//!
//! SQLite's FTS5 keeps the postings; the order is BM25, computed here. FTS5 has a function for it, but that one reads a
//! row of a table for every match and every posting of every term first, which came to 1.2 µs a match: 110 ms for a word
//! in every message of 100,000. Reading the postings themselves takes a tenth of it.

use crate::hit::Hit;
use crate::rank::{Lengths, Scores};
use crate::terms::terms;
use louver::passage::Cutter;
use louver::plain_text::plain_texts;
use louver::wire::Message;
use rusqlite::{Connection, params};
use std::collections::{HashMap, HashSet};

/// How many terms of a query are looked up, the rarest first.
const QUERY_TERMS: usize = 32;
/// How many postings a query may read. Terms beyond are so common that they would change the order little.
const POSTINGS: u32 = 6_000;
/// How many terms of a query are looked up, and how many postings are read, where all are too common.
const COMMON_TERMS: usize = 8;
const COMMON_POSTINGS: u64 = 4_000;

/// Terms come ready made, with spaces between: everything that stands in one is a letter to SQLite.
const SCHEMA: &str = r#"
    PRAGMA journal_mode = OFF;
    CREATE TABLE passage (id INTEGER PRIMARY KEY, message INTEGER NOT NULL, text TEXT NOT NULL);
    CREATE VIRTUAL TABLE term USING fts5(
        terms, content = '', columnsize = 0, tokenize = "ascii tokenchars '/\:@#=.-+~_$'"
    );
    CREATE VIRTUAL TABLE posting USING fts5vocab(term, instance);
    INSERT INTO term(term, rank) VALUES ('hashsize', 33554432);
"#;

/// The index could not be made or read.
#[derive(Debug, thiserror::Error)]
#[error("the search index failed")]
pub struct SearchError(#[source] rusqlite::Error);

/// How common a term is.
#[derive(Clone, Copy, Debug, Default)]
struct Frequency {
    passages: u32,
    postings: u32,
}

/// Messages, searchable by the words in them. Lives in memory.
///
/// A query is any text. Its words are looked for whole and by their pieces, in any case; quotes and operators mean
/// nothing. See the [crate](crate) for an example.
#[derive(Debug)]
pub struct SearchIndex {
    connection: Connection,
    frequencies: HashMap<Box<str>, Frequency>,
    lengths: Lengths,
}

/// A term of a query.
type Wanted<'q> = (&'q str, Frequency);

impl SearchIndex {
    /// Reads messages, each with its index in the log. O(their bytes).
    ///
    /// # Errors
    ///
    /// SQLite failed, which in memory means that there is none left.
    pub fn of<'m>(messages: impl IntoIterator<Item = (usize, &'m Message)>) -> Result<Self, SearchError> {
        Self::read(messages).map_err(SearchError)
    }

    /// The best passages for a query, the best first; of equal ones the newest. A bounded number of postings is read,
    /// however many messages there are.
    ///
    /// # Errors
    ///
    /// SQLite failed.
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<Hit>, SearchError> {
        let mut words = HashSet::new();
        terms(query, |term, _| {
            if !words.contains(term) {
                words.insert(term.to_owned());
            }
        });
        self.find(&self.rarest(&words), limit).map_err(SearchError)
    }

    /// How many passages it holds.
    #[must_use]
    pub fn passages(&self) -> usize {
        self.lengths.len()
    }

    fn read<'m>(messages: impl IntoIterator<Item = (usize, &'m Message)>) -> rusqlite::Result<Self> {
        let mut connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        let (mut frequencies, mut lengths) = (HashMap::new(), Lengths::default());
        let transaction = connection.transaction()?;
        {
            let mut keep = transaction.prepare("INSERT INTO passage(id, message, text) VALUES (?, ?, ?)")?;
            let mut index = transaction.prepare("INSERT INTO term(rowid, terms) VALUES (?, ?)")?;
            for (number, message) in messages {
                for text in passages(message) {
                    let id = lengths.len();
                    let counted = count(&text, &mut frequencies);
                    lengths.push(counted.length);
                    keep.execute(params![id, number, text])?;
                    index.execute(params![id, counted.terms])?;
                }
            }
        }
        transaction.execute("INSERT INTO term(term) VALUES ('optimize')", [])?;
        transaction.commit()?;
        Ok(Self { connection, frequencies, lengths })
    }

    /// The terms of a query that occur at all, the rarest first.
    fn rarest<'q>(&self, words: &'q HashSet<String>) -> Vec<Wanted<'q>> {
        let known = words.iter().filter_map(|word| Some((word.as_str(), *self.frequencies.get(word.as_str())?)));
        let mut known: Vec<Wanted<'_>> = known.collect();
        known.sort_unstable_by_key(|(word, frequency)| (frequency.postings, *word));
        known.truncate(QUERY_TERMS);
        known
    }

    fn find(&self, wanted: &[Wanted<'_>], limit: usize) -> rusqlite::Result<Vec<Hit>> {
        let mut left = POSTINGS;
        let is_affordable = |(_, frequency): &&Wanted<'_>| {
            let rest = left.checked_sub(frequency.postings);
            left = rest.unwrap_or(left);
            rest.is_some()
        };
        let affordable = wanted.iter().take_while(is_affordable).count();
        let (used, best) = match affordable {
            0 => {
                let used = &wanted[..wanted.len().min(COMMON_TERMS)];
                (used, self.score_newest(used)?.best(limit))
            }
            _ => (&wanted[..affordable], self.score_all(&wanted[..affordable])?.best(limit)),
        };
        self.hits(&best, &used.iter().map(|(word, _)| *word).collect())
    }

    /// Scores every passage that holds one of the terms.
    fn score_all(&self, wanted: &[Wanted<'_>]) -> rusqlite::Result<Scores<'_>> {
        let mut scores = Scores::new(&self.lengths);
        let mut postings = self.connection.prepare("SELECT doc FROM posting WHERE term = ?")?;
        for (word, frequency) in wanted {
            let rarity = scores.rarity(frequency.passages);
            let mut rows = postings.query([word])?;
            let mut run: Option<(usize, u32)> = None;
            while let Some(row) = rows.next()? {
                let passage: usize = row.get(0)?;
                run = match run {
                    Some((last, times)) if last == passage => Some((last, times + 1)),
                    Some((last, times)) => {
                        scores.add(last, rarity, times);
                        Some((passage, 1))
                    }
                    None => Some((passage, 1)),
                };
            }
            if let Some((last, times)) = run {
                scores.add(last, rarity, times);
            }
        }
        Ok(scores)
    }

    /// Where every term is in a great many passages, one is about as good as another: only the newest are scored, and not
    /// by how often a term stands in them.
    fn score_newest(&self, wanted: &[Wanted<'_>]) -> rusqlite::Result<Scores<'_>> {
        let mut scores = Scores::new(&self.lengths);
        let all: u64 = wanted.iter().map(|(_, frequency)| u64::from(frequency.passages)).sum();
        let passages = self.lengths.len() as u64;
        let newest = passages * COMMON_POSTINGS / all.max(1);
        let start = passages.saturating_sub(newest);
        let mut matches = self.connection.prepare("SELECT rowid FROM term WHERE term MATCH ? AND rowid >= ?")?;
        for (word, frequency) in wanted {
            let rarity = scores.rarity(frequency.passages);
            let mut rows = matches.query(params![quoted(word), start])?;
            while let Some(row) = rows.next()? {
                scores.add(row.get(0)?, rarity, 1);
            }
        }
        Ok(scores)
    }

    fn hits(&self, passages: &[usize], used: &HashSet<&str>) -> rusqlite::Result<Vec<Hit>> {
        let mut passage = self.connection.prepare("SELECT message, text FROM passage WHERE id = ?")?;
        let hit = |id: &usize| passage.query_row([id], |row| Ok(Hit::new(row.get(0)?, row.get(1)?, used)));
        passages.iter().map(hit).collect()
    }
}

/// What is said in a message, in passages.
fn passages(message: &Message) -> impl Iterator<Item = Box<str>> {
    let mut cutter = Cutter::default();
    plain_texts(message, |_, _, text| {
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| cutter.add_line(line));
    });
    cutter.finish().into_iter().map(|passage| passage.text)
}

/// A passage as SQLite gets it.
#[derive(Debug, Default)]
struct Counted {
    terms: String,
    length: u32,
}

/// Finds a passage's terms and counts them.
fn count(text: &str, frequencies: &mut HashMap<Box<str>, Frequency>) -> Counted {
    let mut counted = Counted::default();
    terms(text, |term, _| {
        counted.length += 1;
        counted.terms.push_str(term);
        counted.terms.push(' ');
    });
    let mut seen: HashSet<&str> = HashSet::new();
    for term in counted.terms.split_ascii_whitespace() {
        let frequency = match frequencies.get_mut(term) {
            Some(known) => known,
            None => frequencies.entry(term.into()).or_default(),
        };
        frequency.postings = frequency.postings.saturating_add(1);
        frequency.passages += u32::from(seen.insert(term));
    }
    counted
}

/// A term as FTS5 takes it without looking for operators in it.
fn quoted(term: &str) -> String {
    format!("\"{}\"", term.replace('"', "\"\""))
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
