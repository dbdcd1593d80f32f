//! The search for whoever still sees a part of the conversation.

use super::among::{Among, words};
use super::found::{Found, Hit};
use super::names::{is_number, names};
use super::novelty::{Novelty, Use};
use super::passages::passages;
use super::ranking::FEW_TERMS;
use super::sight::Sight;
use super::terms::terms;
use crate::wire::Message;
use std::collections::{BTreeMap, HashMap, HashSet};

/// How many passages that hold a name are looked at, the newest first: who used it long before matters little.
const USES: usize = 256;

/// A passage that may be brought back.
struct Candidate {
    hit: Hit,
    /// What speaks for it beside the names in it.
    weight: f64,
    /// The names in it that are not seen.
    unseen: Vec<usize>,
}

/// The names of the candidates and what each is worth.
struct Unseen<'s> {
    sight: &'s Sight,
    numbers: HashMap<String, usize>,
}

impl Among<'_> {
    /// The best passages for a query of whoever sees some messages already: those with names that do not stand there.
    ///
    /// They are chosen together, so that what one passage says does not count for another. `message` gives the messages of
    /// the index. A query of a few words, and one where nothing is known to be seen, finds what [`search`](Self::search)
    /// finds. Deterministic; beside the search O(the messages of a bounded number of passages).
    ///
    /// ```
    /// use louver::search::{SearchIndex, Sight};
    /// use louver::wire::{Format, Message};
    ///
    /// let said = ["The parser reads lib/lexer.rs line by line.", "The parser reads lib/tokens.rs with max_depth.",
    ///     "So the parser reads lib/lexer.rs first of all, then what does the parser do?"];
    /// let say = |text: &str| Message::parse(Format::OpenAiChat, &format!(r#"{{"role":"user","content":"{text}"}}"#)).unwrap();
    /// let messages = said.map(say);
    /// let index: SearchIndex = messages.iter().collect();
    /// let sight: Sight = messages[2..].iter().collect();
    /// let among = index.among(|message| message < 2);
    /// assert_eq!(among.search(said[2], 1).hits[0].message, 0);
    /// let found = among.search_beyond(&sight, said[2], 1, |message| messages.get(message));
    /// assert_eq!(found.hits[0].message, 1, "the other has nothing that is not seen");
    /// ```
    #[must_use]
    pub fn search_beyond<'m>(
        &self,
        sight: &Sight,
        query: &str,
        limit: usize,
        message: impl Fn(usize) -> Option<&'m Message>,
    ) -> Found {
        self.search_beyond_by(&Novelty::default(), sight, query, limit, message)
    }

    /// The same by another idea of what is worth bringing back: to measure what one is worth.
    #[must_use]
    pub fn search_beyond_by<'m>(
        &self,
        novelty: &Novelty,
        sight: &Sight,
        query: &str,
        limit: usize,
        message: impl Fn(usize) -> Option<&'m Message>,
    ) -> Found {
        let words = words(query);
        let wanted = self.wanted(&words);
        if sight.is_empty() || wanted.len() <= FEW_TERMS {
            return self.search(query, limit);
        }
        let best = self.ranked(&novelty.ranking, &wanted, novelty.candidates.max(limit));
        let mut unseen = Unseen { sight, numbers: HashMap::new() };
        let candidates = candidates(&best, novelty, &mut unseen, message);
        let worth = self.worth(unseen.numbers, &words, novelty);
        Found {
            hits: choose(candidates, worth, limit),
            terms: wanted.iter().map(|term| term.term.to_owned()).collect(),
        }
    }

    /// What each name is worth, by its number.
    fn worth(&self, numbers: HashMap<String, usize>, words: &HashSet<String>, novelty: &Novelty) -> Vec<f64> {
        let mut worth = vec![0.0; numbers.len()];
        for (name, number) in numbers {
            let (mut pieces, mut asked) = (0_u32, 0_u32);
            terms(&name, |term, _| {
                pieces += 1;
                asked += u32::from(words.contains(term));
            });
            let asked_share = f64::from(asked) / f64::from(pieces.max(1));
            worth[number] = novelty.of_name(&self.last_use(&name), asked_share, is_number(&name));
        }
        worth
    }

    /// Who used a name last, and in how many messages it stands.
    fn last_use(&self, name: &str) -> Use {
        let end = self.newest_message().map_or(0, |newest| newest + 1);
        let mut found = Use { messages: 0, is_own: false, age: 0 };
        let mut last = usize::MAX;
        let postings = self.index.postings(name).unwrap_or_default().iter().rev().take(USES);
        for posting in postings.filter(|posting| self.place(posting).is_some()) {
            let Some(hit) = self.index.hit(posting.passage).filter(|hit| hit.message != last) else {
                continue;
            };
            last = hit.message;
            let is_own = self.index.is_own(last);
            if found.messages == 0 || is_own && !found.is_own {
                (found.age, found.is_own) = (end - last, is_own);
            }
            found.messages += 1;
        }
        found
    }
}

/// The passages among which is chosen, with the names in them that are not seen.
fn candidates<'m>(
    best: &[(Hit, f64)],
    novelty: &Novelty,
    unseen: &mut Unseen<'_>,
    message: impl Fn(usize) -> Option<&'m Message>,
) -> Vec<Candidate> {
    let highest = best.first().map_or(1.0, |(_, score)| *score);
    let mut texts: HashMap<usize, Vec<String>> = HashMap::new();
    let mut candidate = |(hit, score): &(Hit, f64)| {
        let cut = || message(hit.message).map(passages).unwrap_or_default();
        let text = texts.entry(hit.message).or_insert_with(cut).get(hit.passage)?;
        let (names, seen_share) = unseen.names(text);
        Some(Candidate { hit: *hit, weight: novelty.of_passage(score / highest, seen_share), unseen: names })
    };
    best.iter().filter_map(&mut candidate).collect()
}

impl Unseen<'_> {
    /// The numbers of the names of a text that are not seen, each once, and the share of its names that are.
    fn names(&mut self, text: &str) -> (Vec<usize>, f64) {
        let mut all: BTreeMap<String, bool> = BTreeMap::new();
        names(text, |name| {
            if !all.contains_key(name) {
                all.insert(name.to_owned(), self.sight.has(name));
            }
        });
        let count = all.len().max(1);
        let unseen: Vec<usize> =
            all.into_iter().filter(|(_, is_seen)| !is_seen).map(|(name, _)| self.number(name)).collect();
        let seen_share = 1.0 - unseen.len() as f64 / count as f64;
        (unseen, seen_share)
    }

    fn number(&mut self, name: String) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(name).or_insert(next)
    }
}

/// The best candidates together: each next one by what the ones before do not say. Of equal ones the first.
fn choose(mut candidates: Vec<Candidate>, mut worth: Vec<f64>, limit: usize) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(limit.min(candidates.len()));
    while hits.len() < limit {
        let gain = |one: &Candidate| one.weight * one.unseen.iter().map(|name| worth[*name]).sum::<f64>();
        let mut best: Option<(usize, f64)> = None;
        for (at, gain) in candidates.iter().map(gain).enumerate() {
            if best.is_none_or(|(_, most)| gain > most) {
                best = Some((at, gain));
            }
        }
        let Some((at, _)) = best else { break };
        let chosen = candidates.remove(at);
        chosen.unseen.iter().for_each(|name| worth[*name] = 0.0);
        hits.push(chosen.hit);
    }
    hits
}

#[cfg(test)]
#[path = "beyond_tests.rs"]
mod tests;
