//! The search itself, among some messages of an index.

use super::found::{Found, Hit};
use super::index::{Posting, SearchIndex, number};
use super::ranking::{Ranking, Scores};
use super::terms::{is_identifier, terms};
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
    pub(super) index: &'i SearchIndex,
    /// For each passage its place among those that are searched, or [`NOWHERE`].
    places: Vec<u32>,
    /// Those that are.
    searched: Vec<u32>,
    /// How many terms they have together.
    terms: u64,
}

/// The place of a passage that is not searched.
const NOWHERE: u32 = u32::MAX;

/// A term of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'q, 'i> {
    pub(super) term: &'q str,
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
        let places = Vec::with_capacity(self.passages());
        let mut among = Among { index: self, places, searched: Vec::new(), terms: 0 };
        for (message, lengths) in self.lengths().enumerate() {
            let is_searched = is_left_out(message);
            for length in lengths {
                let place = if is_searched { number(among.searched.len()) } else { NOWHERE };
                if is_searched {
                    among.searched.push(number(among.places.len()));
                    among.terms += u64::from(*length);
                }
                among.places.push(place);
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
        self.search_by(&Ranking::default(), query, limit)
    }

    /// The same by another ranking: to measure what a ranking is worth.
    #[must_use]
    pub fn search_by(&self, ranking: &Ranking, query: &str, limit: usize) -> Found {
        let words = words(query);
        let wanted = self.wanted(&words);
        let hits = self.ranked(ranking, &wanted, limit).into_iter().map(|(hit, _)| hit).collect();
        Found { hits, terms: wanted.iter().map(|wanted| wanted.term.to_owned()).collect() }
    }

    /// The terms of a query that are looked up.
    pub(super) fn wanted<'q>(&self, words: &'q HashSet<String>) -> Vec<Wanted<'q, 'i>> {
        let known = self.known(words);
        let rarest = self.rarest(&known);
        if rarest.is_empty() { self.newest(&known) } else { rarest }
    }

    /// The best passages for these terms with their scores, best first.
    pub(super) fn ranked(&self, ranking: &Ranking, wanted: &[Wanted<'_, 'i>], limit: usize) -> Vec<(Hit, f64)> {
        let mut scores = Scores::new(*ranking, self.searched.len(), self.terms).of_terms(wanted.len());
        for (number, term) in wanted.iter().enumerate() {
            let weight = scores.weight(number, is_identifier(term.term), term.passages);
            for (place, posting) in term.postings.iter().filter_map(|posting| Some((self.place(posting)?, posting))) {
                scores.add(place, weight, posting.times, self.index.length(posting.passage));
            }
        }
        let passage = |place: u32| self.searched[place as usize];
        let best = scores.best(limit, |place| self.index.length(passage(place)));
        let hit = |(place, score): (u32, f64)| Some((self.index.hit(passage(place))?, score));
        best.into_iter().filter_map(hit).collect()
    }

    /// The newest message that is searched.
    pub(super) fn newest_message(&self) -> Option<usize> {
        self.index.hit(*self.searched.last()?).map(|hit| hit.message)
    }

    /// The place of a passage among those that are searched, if it is.
    pub(super) fn place(&self, posting: &Posting) -> Option<u32> {
        self.places.get(posting.passage as usize).copied().filter(|place| *place != NOWHERE)
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
            let passages = term.postings.iter().filter(|posting| self.place(posting).is_some()).count();
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
        let passages = self.places.len() as u64;
        let start = passages.saturating_sub(passages * QUERY_POSTINGS as u64 / postings.max(1));
        let newest = |term: &Wanted<'q, 'i>| {
            let older = term.postings.partition_point(|posting| u64::from(posting.passage) < start);
            Wanted { postings: &term.postings[older..], ..*term }
        };
        common.iter().map(newest).collect()
    }
}

/// The terms of a query, each once.
pub(super) fn words(query: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    terms(query, |term, _| {
        if !words.contains(term) {
            words.insert(term.to_owned());
        }
    });
    words
}
