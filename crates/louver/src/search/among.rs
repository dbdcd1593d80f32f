//! The search itself, among some messages of an index.

use super::found::Found;
use super::index::{Posting, SearchIndex};
use super::ranking::Scores;
use super::terms::terms;
use std::collections::HashSet;

/// How many terms of a query are looked up, the rarest first.
const QUERY_TERMS: usize = 32;
/// How many postings a query may read. Terms beyond are so common that they would change the order little.
pub const QUERY_POSTINGS: usize = 20_000;

/// Some messages of an index, to be searched: made by [`SearchIndex::among`].
///
/// All other messages have no influence on what is found, nor on its order: it is as if there were none.
#[derive(Clone, Debug)]
pub struct Among<'i> {
    index: &'i SearchIndex,
    /// Whether each passage is searched.
    is_searched: Vec<bool>,
    /// How many are, and how many terms they have together.
    passages: usize,
    terms: u64,
}

/// A term of a query.
#[derive(Clone, Copy, Debug)]
struct Wanted<'q, 'i> {
    term: &'q str,
    postings: &'i [Posting],
    /// How many of the passages that are searched hold it.
    passages: usize,
}

impl SearchIndex {
    /// The messages that were left out, to be searched. O(passages).
    ///
    /// ```
    /// use louver::search::SearchIndex;
    /// use louver::wire::{Format, Message};
    ///
    /// let raw = r#"{"role":"user","content":"needle"}"#;
    /// let message = Message::parse(Format::OpenAiChat, raw).unwrap();
    /// let index: SearchIndex = [&message; 3].into_iter().collect();
    /// let hits = index.among(|message| message < 2).search("needle", 5).hits;
    /// assert_eq!(hits.iter().map(|hit| hit.message).collect::<Vec<_>>(), [1, 0]);
    /// ```
    #[must_use]
    pub fn among(&self, is_left_out: impl Fn(usize) -> bool) -> Among<'_> {
        let mut among = Among { index: self, is_searched: Vec::with_capacity(self.passages()), passages: 0, terms: 0 };
        for (message, lengths) in self.lengths().enumerate() {
            let is_searched = is_left_out(message);
            among.is_searched.resize(among.is_searched.len() + lengths.len(), is_searched);
            if is_searched {
                among.passages += lengths.len();
                among.terms += lengths.iter().map(|length| u64::from(*length)).sum::<u64>();
            }
        }
        among
    }
}

impl<'i> Among<'i> {
    /// The best passages for a query.
    ///
    /// A query is any text. Its words are looked for whole and by their pieces, in any case; quotes and operators mean
    /// nothing. O(query), and a bounded number of postings is read, however many messages there are: terms that are too
    /// common do not count beside rarer ones, and where all are, only the newest passages are compared.
    #[must_use]
    pub fn search(&self, query: &str, limit: usize) -> Found {
        let words = words(query);
        let known = self.known(&words);
        let rarest = self.rarest(&known);
        let wanted = if rarest.is_empty() { self.newest(&known) } else { rarest };
        let mut scores = Scores::new(self.is_searched.len(), self.passages, self.terms);
        for term in &wanted {
            let rarity = scores.rarity(term.passages);
            for posting in term.postings.iter().filter(|posting| self.holds(posting)) {
                scores.add(posting.passage, rarity, posting.times, self.index.length(posting.passage));
            }
        }
        let hits = scores.best(limit).into_iter().filter_map(|passage| self.index.hit(passage)).collect();
        Found { hits, terms: wanted.iter().map(|wanted| wanted.term.to_owned()).collect() }
    }

    fn holds(&self, posting: &Posting) -> bool {
        self.is_searched.get(posting.passage as usize).is_some_and(|is_searched| *is_searched)
    }

    /// The terms of a query that the index knows, the rarest in it first.
    fn known<'q>(&self, words: &'q HashSet<String>) -> Vec<Wanted<'q, 'i>> {
        let wanted = |term: &'q String| {
            let postings = self.index.postings(term)?;
            Some(Wanted { term, postings, passages: postings.len() })
        };
        let mut known: Vec<Wanted<'q, 'i>> = words.iter().filter_map(wanted).collect();
        known.sort_unstable_by_key(|wanted| (wanted.passages, wanted.term));
        known
    }

    /// Of the terms that may be read, those that are rarest in what is searched.
    fn rarest<'q>(&self, known: &[Wanted<'q, 'i>]) -> Vec<Wanted<'q, 'i>> {
        let mut left = QUERY_POSTINGS;
        let mut counted = Vec::new();
        for term in known {
            let Some(rest) = left.checked_sub(term.postings.len()) else { break };
            left = rest;
            let passages = term.postings.iter().filter(|posting| self.holds(posting)).count();
            if passages > 0 {
                counted.push(Wanted { passages, ..*term });
            }
        }
        counted.sort_unstable_by_key(|wanted| (wanted.passages, wanted.term));
        counted.truncate(QUERY_TERMS);
        counted
    }

    /// Where every term is in a great many passages, one is about as good as another: the newest passages only, as many
    /// as may be read if the terms are spread evenly.
    fn newest<'q>(&self, known: &[Wanted<'q, 'i>]) -> Vec<Wanted<'q, 'i>> {
        let common = &known[..known.len().min(QUERY_TERMS)];
        let postings: u64 = common.iter().map(|term| term.postings.len() as u64).sum();
        let passages = self.is_searched.len() as u64;
        let start = passages.saturating_sub(passages * QUERY_POSTINGS as u64 / postings.max(1));
        let newest = |term: &Wanted<'q, 'i>| {
            let older = term.postings.partition_point(|posting| u64::from(posting.passage) < start);
            Wanted { postings: &term.postings[older..], ..*term }
        };
        common.iter().map(newest).collect()
    }
}

/// The terms of a query, each once.
fn words(query: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    terms(query, |term, _| {
        if !words.contains(term) {
            words.insert(term.to_owned());
        }
    });
    words
}
