//! What was read of passages.

use super::found::Hit;
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
    /// For each message the names of its passages.
    of: FxHashMap<usize, Vec<Box<[Name]>>>,
}

/// A name of a passage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) number: u32,
    /// What it is known by.
    pub(super) key: u64,
}

impl ReadPassages {
    /// A name by its number.
    pub(super) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    /// The names of a passage, each once, in the order of their letters.
    pub(super) fn names_of(&mut self, hit: Hit, message: &Message) -> Option<&[Name]> {
        if !self.of.contains_key(&hit.message) {
            let all = passages(message).iter().map(|text| self.read(text)).collect();
            self.of.insert(hit.message, all);
        }
        self.of.get(&hit.message)?.get(hit.passage).map(|names| &**names)
    }

    fn read(&mut self, text: &str) -> Box<[Name]> {
        let mut found = Vec::new();
        names(text, |name| {
            let key = key(name);
            let number = *self.numbers.entry(key).or_insert_with(|| {
                self.names.push(name.into());
                u32::try_from(self.names.len() - 1).unwrap_or(u32::MAX)
            });
            found.push(Name { number, key });
        });
        found.sort_unstable_by(|one, other| self.name(one.number).cmp(self.name(other.number)));
        found.dedup_by_key(|name| name.number);
        found.into()
    }
}
