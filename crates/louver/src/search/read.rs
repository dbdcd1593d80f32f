//! What was read of passages.

use super::found::Hit;
use super::index::number;
use super::names::{key, names};
use super::passages::passages;
use crate::wire::Message;
use rustc_hash::FxHashMap;

/// The names of passages, of each message read once: whoever searches the same messages again keeps it.
#[derive(Clone, Debug, Default)]
pub struct ReadPassages {
    /// Every name once, in small letters.
    names: Vec<Box<str>>,
    numbers: FxHashMap<u64, u32>,
    /// For each message its passages.
    of: FxHashMap<usize, Vec<ReadPassage>>,
}

/// A passage, and the names in each of its lines.
#[derive(Clone, Debug)]
pub(super) struct ReadPassage {
    /// How many characters each line has, and where its names end.
    lines: Box<[(u32, u32)]>,
    /// The names line by line, those of a line each once and in the order of their letters.
    names: Box<[Name]>,
}

/// A name of a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) number: u32,
    /// What it is known by.
    pub(super) key: u64,
}

impl ReadPassage {
    /// For each line its characters and its names.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &[Name])> {
        let mut start = 0;
        self.lines.iter().map(move |(chars, end)| {
            let names = &self.names[start..*end as usize];
            start = *end as usize;
            (*chars as usize, names)
        })
    }
}

impl ReadPassages {
    /// A name by its number.
    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    /// A passage of a message.
    pub(super) fn passage(&mut self, hit: Hit, message: &Message) -> Option<&ReadPassage> {
        if !self.of.contains_key(&hit.message) {
            let all = passages(message).iter().map(|text| self.read(text)).collect();
            self.of.insert(hit.message, all);
        }
        self.of.get(&hit.message)?.get(hit.passage)
    }

    fn read(&mut self, text: &str) -> ReadPassage {
        let (mut lines, mut all, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for line in text.lines() {
            names(line, |name| {
                let key = key(name);
                let known = *self.numbers.entry(key).or_insert_with(|| {
                    self.names.push(name.into());
                    u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
                });
                found.push(Name { number: known, key });
            });
            found.sort_unstable_by(|one: &Name, other| self.name(one.number).cmp(self.name(other.number)));
            found.dedup_by_key(|name| name.number);
            all.append(&mut found);
            lines.push((number(line.chars().count()), number(all.len())));
        }
        ReadPassage { lines: lines.into(), names: all.into() }
    }
}
