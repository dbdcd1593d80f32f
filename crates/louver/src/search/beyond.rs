//! The search for whoever still sees a part of the conversation.

use super::among::{Among, words};
use super::excerpts::{Candidate, Worth, choose};
use super::found::{Excerpt, Found, Hit};
use super::names::is_number;
use super::novelty::{Novelty, Use};
use super::passages::passages;
use super::ranking::FEW_TERMS;
use super::read::ReadPassages;
use super::sight::Sight;
use super::terms::terms;
use crate::wire::Message;
use rustc_hash::FxHashMap;
use std::collections::HashSet;

/// How many passages that hold a name are looked at, the newest first: what stands in more is worth little anyway.
const USES: usize = 32;

impl Among<'_> {
    /// The best of some messages for a query of whoever sees others already: of each the lines with names that do not stand
    /// there, and as much around them as there is room for.
    ///
    /// They are chosen together, so that what one excerpt says does not count for another. `message` gives the messages of
    /// the index. A query of a few words, and one where nothing is known to be seen, finds the passages that
    /// [`search`](Self::search) finds. Deterministic; beside the search O(the messages of a bounded number of passages).
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
    ) -> Found<Excerpt> {
        self.search_beyond_by(&Novelty::default(), sight, query, limit, message, &mut ReadPassages::default())
    }

    /// The same by another idea of what is worth bringing back, to measure what one is worth; `read` keeps what was read
    /// of the messages, for whoever searches the same ones again.
    #[must_use]
    pub fn search_beyond_by<'m>(
        &self,
        novelty: &Novelty,
        sight: &Sight,
        query: &str,
        limit: usize,
        message: impl Fn(usize) -> Option<&'m Message>,
        read: &mut ReadPassages,
    ) -> Found<Excerpt> {
        let words = words(query);
        let wanted = self.wanted(&words);
        if sight.is_empty() || wanted.len() <= FEW_TERMS {
            let Found { hits, terms } = self.search(query, limit);
            return Found { hits: hits.into_iter().filter_map(|hit| whole(hit, &message)).collect(), terms };
        }
        let best = self.ranked(&novelty.ranking, &wanted, novelty.candidates.max(limit));
        let candidates = candidates(&best, novelty, sight, read, &message);
        let worth = self.worth(&candidates, &words, novelty, read);
        let best: Vec<Hit> = best.into_iter().map(|(hit, _)| hit).collect();
        Found {
            hits: choose(candidates, worth, (limit, novelty.line_cost), &best, message),
            terms: wanted.iter().map(|term| term.term.to_owned()).collect(),
        }
    }

    /// What each name is worth, by its number.
    fn worth(
        &self,
        candidates: &[Candidate],
        words: &HashSet<String>,
        novelty: &Novelty,
        read: &ReadPassages,
    ) -> Worth {
        let of_name = |name: &str| {
            let (mut pieces, mut asked) = (0_u32, 0_u32);
            terms(name, |term, _| {
                pieces += 1;
                asked += u32::from(words.contains(term));
            });
            let asked_share = f64::from(asked) / f64::from(pieces.max(1));
            novelty.of_name(&self.last_use(name), asked_share, is_number(name))
        };
        let mut worth = Worth::default();
        for number in candidates.iter().flat_map(Candidate::unseen) {
            worth.entry(*number).or_insert_with(|| of_name(read.name(*number)));
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

/// A passage as it stands.
fn whole<'m>(hit: Hit, message: impl Fn(usize) -> Option<&'m Message>) -> Option<Excerpt> {
    let text = passages(message(hit.message)?).into_iter().nth(hit.passage)?;
    Some(Excerpt { message: hit.message, text })
}

/// The messages among which is chosen, those first that fit the words best.
fn candidates<'m>(
    best: &[(Hit, f64)],
    novelty: &Novelty,
    sight: &Sight,
    read: &mut ReadPassages,
    message: impl Fn(usize) -> Option<&'m Message>,
) -> Vec<Candidate> {
    let highest = best.first().map_or(1.0, |(_, score)| *score);
    let mut passages: FxHashMap<usize, Vec<(usize, f64)>> = FxHashMap::default();
    let mut order = Vec::new();
    for (hit, score) in best {
        let of_message = passages.entry(hit.message).or_insert_with(|| {
            order.push(hit.message);
            Vec::new()
        });
        of_message.push((hit.passage, score / highest));
    }
    let mut candidate = |index: usize| {
        let (mut candidate, message) = (Candidate::new(index), message(index)?);
        let mut passages = passages.remove(&index)?;
        passages.sort_unstable_by_key(|(passage, _)| *passage);
        for (passage, score_share) in passages {
            let read = read.passage(Hit { message: index, passage }, message)?;
            candidate.add(passage, read, sight, |seen_share| novelty.of_passage(score_share, seen_share));
        }
        Some(candidate)
    };
    order.into_iter().filter_map(&mut candidate).collect()
}

#[cfg(test)]
#[path = "beyond_tests.rs"]
mod tests;
