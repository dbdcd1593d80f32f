//! Full-text search over what was left out.
//!
//! An inverted index of its own: it is built once per conversation and shared by all policies, each of which asks it
//! with its own idea of what was left out. A database in memory per policy would index the same text seven times.

use louver::passage::Passage;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// How many hits a search returns.
const HITS: usize = 5;
/// How many terms of the query's text are used, the rarest first.
const QUERY_TERMS: usize = 32;
/// The usual constants of BM25: how soon a repeated term stops counting, and how much long passages are held back.
const SATURATION: f64 = 1.2;
const LENGTH_WEIGHT: f64 = 0.75;

/// One passage of the index.
#[derive(Debug)]
struct Entry {
    message: usize,
    /// Each term once, with how often it occurs.
    terms: Vec<(u32, u32)>,
    length: u32,
    identifiers: Vec<u32>,
}

/// The passages of all messages of a conversation, by the words in them.
#[derive(Debug, Default)]
pub struct SearchIndex {
    terms: HashMap<u64, u32>,
    /// For each term the passages that hold it, with how often.
    postings: Vec<Vec<(u32, u32)>>,
    entries: Vec<Entry>,
    /// The first entry of each message.
    starts: Vec<usize>,
}

/// What a query's scores are relative to.
struct Corpus {
    passages: f64,
    mean_length: f64,
}

impl SearchIndex {
    /// Adds the next message.
    pub fn add_message(&mut self, passages: &[Passage]) {
        let message = self.starts.len();
        self.starts.push(self.entries.len());
        for passage in passages {
            let number = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
            let mut terms: Vec<u32> = words(&passage.text).map(|word| self.term(word)).collect();
            let length = u32::try_from(terms.len()).unwrap_or(u32::MAX);
            terms.sort_unstable();
            let counted = terms.chunk_by(|a, b| a == b);
            let terms: Vec<_> = counted.map(|run| (run[0], u32::try_from(run.len()).unwrap_or(u32::MAX))).collect();
            for (term, count) in &terms {
                self.postings[*term as usize].push((number, *count));
            }
            self.entries.push(Entry { message, terms, length, identifiers: passage.marks.clone() });
        }
    }

    /// The terms of a message of the conversation, each once.
    #[must_use]
    pub fn terms_of_message(&self, message: usize) -> Vec<u32> {
        let start = self.starts.get(message).copied().unwrap_or(self.entries.len());
        let end = self.starts.get(message + 1).copied().unwrap_or(self.entries.len());
        let mut terms: Vec<u32> =
            self.entries[start..end].iter().flat_map(|entry| entry.terms.iter().map(|(term, _)| *term)).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// The known terms of any text, each once.
    #[must_use]
    pub fn terms_of_text(&self, text: &str) -> Vec<u32> {
        let mut terms: Vec<u32> = words(text).filter_map(|word| self.terms.get(&key(word)).copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// The identifiers in the best hits among the passages of messages that were left out, ascending.
    #[must_use]
    pub fn retrieve(&self, query: &[u32], is_left_out: impl Fn(usize) -> bool) -> Vec<u32> {
        let hits = self.search(query, is_left_out);
        let mut found: Vec<u32> =
            hits.into_iter().flat_map(|hit| self.entries[hit].identifiers.iter().copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The best hits, best first; of equals the newest.
    fn search(&self, query: &[u32], is_left_out: impl Fn(usize) -> bool) -> Vec<usize> {
        let left_out: Vec<bool> = (0..self.starts.len()).map(is_left_out).collect();
        let is_candidate = |number: u32| left_out[self.entries[number as usize].message];
        let corpus = self.corpus(&left_out);
        let mut rarest: Vec<(usize, u32)> = query
            .iter()
            .map(|term| {
                (self.postings[*term as usize].iter().filter(|(number, _)| is_candidate(*number)).count(), *term)
            })
            .filter(|(count, _)| *count > 0)
            .collect();
        rarest.sort_unstable();
        rarest.truncate(QUERY_TERMS);
        let mut scores: HashMap<u32, f64> = HashMap::new();
        for (count, term) in rarest {
            let rarity = (1.0 + (corpus.passages - count as f64 + 0.5) / (count as f64 + 0.5)).ln();
            for (number, times) in self.postings[term as usize].iter().filter(|(number, _)| is_candidate(*number)) {
                let length = f64::from(self.entries[*number as usize].length) / corpus.mean_length;
                let held_back = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
                let times = f64::from(*times);
                *scores.entry(*number).or_default() += rarity * times * (SATURATION + 1.0) / (times + held_back);
            }
        }
        let mut ranked: Vec<(u32, f64)> = scores.into_iter().collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        ranked.into_iter().take(HITS).map(|(number, _)| number as usize).collect()
    }

    fn corpus(&self, left_out: &[bool]) -> Corpus {
        let entries = self.entries.iter().filter(|entry| left_out[entry.message]);
        let (count, length) = entries.fold((0_u32, 0_u64), |(n, sum), entry| (n + 1, sum + u64::from(entry.length)));
        let passages = f64::from(count);
        Corpus { passages, mean_length: (length as f64 / passages.max(1.0)).max(1.0) }
    }

    fn term(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.postings.len()).unwrap_or(u32::MAX);
        let term = *self.terms.entry(key(word)).or_insert(next);
        if term == next {
            self.postings.push(Vec::new());
        }
        term
    }
}

/// Runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1)
}

/// Case does not matter.
fn key(word: &str) -> u64 {
    if word.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
        xxh3_64(word.to_lowercase().as_bytes())
    } else {
        xxh3_64(word.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> SearchIndex {
        let mut index = SearchIndex::default();
        for (number, text) in texts.iter().enumerate() {
            let marks = vec![u32::try_from(number).unwrap()];
            index.add_message(&[Passage { text: (*text).into(), marks }]);
        }
        index
    }

    #[test]
    fn the_rarest_words_decide_and_case_does_not() {
        let index = index(&["the cat sat", "the dog ran", "the bird sang", "a Dog and the cat"]);
        let query = index.terms_of_text("where is the DOG");
        assert_eq!(index.search(&query, |_| true)[..2], [1, 3]);
    }

    #[test]
    fn only_what_was_left_out_is_found() {
        let index = index(&["alpha beta", "alpha gamma", "alpha delta"]);
        let query = index.terms_of_message(1);
        assert_eq!(index.retrieve(&query, |message| message == 2), [2]);
        assert!(index.retrieve(&query, |_| false).is_empty());
    }

    #[test]
    fn five_hits_are_enough() {
        let texts: Vec<String> = (0..9).map(|number| format!("needle {number}{number}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let index = index(&texts);
        let query = index.terms_of_text("needle");
        assert_eq!(index.search(&query, |_| true), [8, 7, 6, 5, 4]);
    }
}
