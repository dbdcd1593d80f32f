//! Points of a chain, and the messages before them.

use louver::address::Address;
use std::collections::HashMap;

/// A point of a chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) position: i64,
    pub(crate) thread: i64,
    pub(crate) index: u32,
}

/// What a tag names.
pub(crate) enum Tagged {
    Unknown,
    Ambiguous,
    Point(Point),
}

/// A message on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OnChain {
    pub(crate) position: i64,
    pub(crate) index: u32,
    pub(crate) message: i64,
}

/// Walks from a point of a chain to its start, over the positions of its thread in descending order of their indices:
/// whatever stands before a message has a lower index, so it comes later.
pub(crate) struct Walk {
    wanted: i64,
    chain: Vec<OnChain>,
}

impl Walk {
    pub(crate) fn from(point: Point) -> Self {
        Self { wanted: point.position, chain: Vec::new() }
    }

    /// Takes a position and the one before it, if it is on the chain.
    pub(crate) fn see(&mut self, found: OnChain, previous: i64) {
        if found.position == self.wanted {
            self.chain.push(found);
            self.wanted = previous;
        }
    }

    /// Whether nothing before is known.
    pub(crate) fn is_at_end(&self) -> bool {
        self.wanted == 0
    }

    /// The messages from the start of the chain to the point, as far back as they are known.
    pub(crate) fn into_chain(mut self) -> Vec<OnChain> {
        self.chain.reverse();
        self.chain
    }
}

/// The messages of a chain that an address names, up to the first that is not kept, and its index.
pub(crate) fn addressed(chain: &[OnChain], point: Point, address: &Address) -> (Vec<OnChain>, Option<usize>) {
    let known = chain.first().map_or(0, |first| first.index as usize)..=point.index as usize;
    let by_index: HashMap<usize, OnChain> = chain.iter().map(|found| (found.index as usize, *found)).collect();
    let mut wanted = Vec::new();
    for index in address.indices() {
        match by_index.get(&index) {
            Some(found) => wanted.push(*found),
            // Every message between names the one before it, so there was nothing but thinking.
            None if known.contains(&index) => {}
            None => return (wanted, Some(index)),
        }
    }
    (wanted, None)
}
