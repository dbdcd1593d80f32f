//! What of some messages is brought back: the lines that say most of what is not seen.

use super::found::{Excerpt, Hit};
use super::passages::{PASSAGE_CHARS, passages};
use super::read::ReadPassage;
use super::sight::Sight;
use crate::wire::Message;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;

/// Stands between lines that did not stand together.
const GAP: &str = "…";

/// A message of which something may be brought back.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) message: usize,
    /// The lines of its passages that fit the query.
    lines: Vec<Line>,
    /// The names in them that are not seen, by their numbers.
    unseen: Vec<u32>,
}

#[derive(Debug)]
struct Line {
    /// Its passage, and its number there.
    place: (usize, usize),
    chars: usize,
    /// What speaks for it beside its names.
    weight: f64,
    /// Which of the names are its own.
    unseen: Range<usize>,
    is_taken: bool,
}

/// Lines of a message that may be brought back together, the worthiest for its length first.
#[derive(Debug)]
struct Offer {
    /// What they were worth when so many had been told.
    value: f64,
    told: usize,
    lines: Vec<usize>,
}

/// What each name is worth that was not told yet, by its number.
pub(super) type Worth = FxHashMap<u32, f64>;

impl Candidate {
    pub(super) fn new(message: usize) -> Self {
        Self { message, lines: Vec::new(), unseen: Vec::new() }
    }

    /// Adds a passage of the message; `weight` says what speaks for one with such a share of its names seen.
    pub(super) fn add(&mut self, passage: usize, read: &ReadPassage, sight: &Sight, weight: impl Fn(f64) -> f64) {
        let (mut known, mut seen) = (FxHashSet::default(), 0);
        let first = self.lines.len();
        for (number, (chars, names)) in read.lines().enumerate() {
            let start = self.unseen.len();
            for name in names {
                let is_seen = sight.has(name.key);
                seen += usize::from(known.insert(name.number) && is_seen);
                self.unseen.extend((!is_seen).then_some(name.number));
            }
            let unseen = start..self.unseen.len();
            self.lines.push(Line { place: (passage, number), chars, weight: 0.0, unseen, is_taken: false });
        }
        let weight = weight(seen as f64 / known.len().max(1) as f64);
        self.lines[first..].iter_mut().for_each(|line| line.weight = weight);
    }

    /// The names that are not seen.
    pub(super) fn unseen(&self) -> &[u32] {
        &self.unseen
    }

    fn names(&self, line: usize) -> &[u32] {
        &self.unseen[self.lines[line].unseen.clone()]
    }

    /// What a line is worth that tells what nobody told.
    fn gain(&self, line: usize, worth: &Worth) -> f64 {
        self.lines[line].weight * self.names(line).iter().filter_map(|name| worth.get(name)).sum::<f64>()
    }

    /// The lines that are worth most for their length, as many as one hit has room for.
    fn offer(&self, worth: &Worth, line_cost: usize) -> Offer {
        let density = |line: usize| self.gain(line, worth) / (self.lines[line].chars + line_cost) as f64;
        let free = (0..self.lines.len()).filter(|line| !self.lines[*line].is_taken);
        let mut order: Vec<(f64, usize)> =
            free.map(|line| (density(line), line)).filter(|(density, _)| *density > 0.0).collect();
        order.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let (mut room, mut value, mut lines) = (ROOM, 0.0, Vec::new());
        let mut told: FxHashSet<u32> = FxHashSet::default();
        for (_, line) in order {
            let names = self.names(line).iter().filter(|name| !told.contains(*name));
            let gain = self.lines[line].weight * names.filter_map(|name| worth.get(name)).sum::<f64>();
            if gain > 0.0 && takes(self.lines[line].chars) <= room {
                room -= takes(self.lines[line].chars);
                value += gain;
                told.extend(self.names(line));
                lines.push(line);
            }
        }
        Offer { value, lines, told: 0 }
    }

    /// The same with as much around these lines as there is room for, nearer lines first; all of them are told with that.
    fn take(&mut self, mut taken: Vec<usize>, worth: &mut Worth) -> Vec<usize> {
        let used: usize = taken.iter().map(|line| takes(self.lines[*line].chars)).sum();
        let mut room = ROOM.saturating_sub(used);
        taken.iter().for_each(|line| self.lines[*line].is_taken = true);
        let mut at = 0;
        while let Some(line) = taken.get(at).copied() {
            for beside in [line.checked_sub(1), Some(line + 1)].into_iter().flatten() {
                let passage = self.lines[line].place.0;
                let fits = |beside: &Line| {
                    !beside.is_taken && beside.place.0.abs_diff(passage) <= 1 && takes(beside.chars) <= room
                };
                if self.lines.get(beside).is_some_and(fits) {
                    room -= takes(self.lines[beside].chars);
                    self.lines[beside].is_taken = true;
                    taken.push(beside);
                }
            }
            at += 1;
        }
        taken.sort_unstable();
        taken.iter().flat_map(|line| self.names(*line)).for_each(|name| _ = worth.remove(name));
        taken
    }

    /// These lines as they stand in the message, in order.
    fn excerpt(&self, taken: &[usize], message: &Message) -> Excerpt {
        let (all, mut text, mut last) = (passages(message), String::new(), None);
        for place in taken.iter().map(|line| self.lines[*line].place) {
            let line = all.get(place.0).and_then(|passage| passage.lines().nth(place.1)).unwrap_or_default();
            if last.is_some_and(|last| !follows(place, last, &all)) {
                text.push_str(GAP);
                text.push('\n');
            }
            text.push_str(line);
            text.push('\n');
            last = Some(place);
        }
        Excerpt { message: self.message, text }
    }
}

/// What a line takes of the room: itself, a line break, and perhaps a gap before it on a line of its own.
const fn takes(chars: usize) -> usize {
    chars + 3
}

/// The first line has no gap before it.
const ROOM: usize = takes(PASSAGE_CHARS);

/// Whether a line stands right behind another.
fn follows(place: (usize, usize), last: (usize, usize), passages: &[String]) -> bool {
    match place.0 - last.0 {
        0 => place.1 == last.1 + 1,
        1 => place.1 == 0 && passages[last.0].lines().count() == last.1 + 1,
        _ => false,
    }
}

/// The offer that is worth most, if any is worth something; of equal ones the first.
fn highest(offers: &[Offer]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (at, offer) in offers.iter().enumerate() {
        if offer.value > best.map_or(0.0, |best| offers[best].value) {
            best = Some(at);
        }
    }
    best
}

/// The best excerpts together: each next one by what the ones before do not say. Of equal ones the first. Where nothing is
/// left that is not seen, the passages follow that fit the words best.
pub(super) fn choose<'m>(
    mut candidates: Vec<Candidate>,
    mut worth: Worth,
    (limit, line_cost): (usize, usize),
    best: &[Hit],
    message: impl Fn(usize) -> Option<&'m Message>,
) -> Vec<Excerpt> {
    let mut hits = Vec::with_capacity(limit.min(candidates.len()));
    let mut offers: Vec<Offer> = candidates.iter().map(|candidate| candidate.offer(&worth, line_cost)).collect();
    let mut told = 0;
    while let Some(at) = highest(&offers).filter(|_| hits.len() < limit) {
        // What was told since makes an offer smaller: only the one that seems best is looked at again.
        if offers[at].told < told {
            offers[at] = Offer { told, ..candidates[at].offer(&worth, line_cost) };
            continue;
        }
        let lines = candidates[at].take(std::mem::take(&mut offers[at].lines), &mut worth);
        hits.extend(message(candidates[at].message).map(|message| candidates[at].excerpt(&lines, message)));
        told += 1;
    }
    for hit in best {
        if hits.len() >= limit {
            break;
        }
        let of = candidates.iter_mut().find(|candidate| candidate.message == hit.message);
        let Some((candidate, message)) = of.zip(message(hit.message)) else { continue };
        let of_passage = |line: &usize| candidate.lines[*line].place.0 == hit.passage;
        let lines: Vec<usize> = (0..candidate.lines.len()).filter(of_passage).collect();
        if lines.iter().all(|line| !candidate.lines[*line].is_taken) {
            lines.iter().for_each(|line| candidate.lines[*line].is_taken = true);
            hits.push(candidate.excerpt(&lines, message));
        }
    }
    hits
}
