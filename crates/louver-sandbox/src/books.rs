//! The books of the prompt cache: which prefixes are warm, and what a request reads and writes.

use std::collections::HashMap;
use std::time::Duration;

use crate::fingerprint::Fingerprint;
use crate::models::CacheRules;
use crate::prompt::{Block, Caching, Prompt};

/// How many blocks, itself included, a mark looks back over for a warm prefix.
const LOOKBACK_BLOCKS: usize = 20;

/// The short life of an entry. What lives longer is reported, and billed, apart.
pub(crate) const FIVE_MINUTES: Duration = Duration::from_secs(300);

/// Explicit marks that an automatic cache honours in one request.
const MAX_AUTOMATIC_MARKS: usize = 4;

#[derive(Clone, Copy)]
struct Entry {
    ttl: Duration,
    expires: Duration,
}

/// A prefix to be kept.
#[derive(Clone, Copy)]
struct Write {
    prefix: Fingerprint,
    ttl: Duration,
}

/// What one request reads from the cache and writes to it, in tokens.
#[derive(Default)]
pub(crate) struct Settlement {
    pub(crate) read: u64,
    /// Written with a short life.
    pub(crate) written_short: u64,
    /// Written with a life of more than five minutes.
    pub(crate) written_long: u64,
    keeps: Vec<Write>,
}

/// Warm prefixes of all keys and models, each with its time to live.
pub(crate) struct Books {
    entries: HashMap<Fingerprint, Entry>,
    capacity: usize,
}

impl Books {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), capacity }
    }

    /// What a request would read and write now. Nothing changes until it is committed.
    pub(crate) fn settle(&self, prompt: &Prompt, rules: &CacheRules, now: Duration) -> Settlement {
        match prompt.caching {
            Caching::Marked => self.settle_marked(&prompt.blocks, rules, now),
            Caching::Automatic { ttl, marks_only } => {
                let ttl = ttl.unwrap_or(Duration::from_secs(rules.ttl_seconds));
                self.settle_automatic(&prompt.blocks, rules, ttl, marks_only, now)
            }
        }
    }

    /// Makes what a request wrote readable, and prolongs what it read.
    pub(crate) fn commit(&mut self, settlement: &Settlement, now: Duration) {
        for write in &settlement.keeps {
            let entry = self.entries.entry(write.prefix).or_insert(Entry { ttl: write.ttl, expires: now });
            entry.ttl = entry.ttl.max(write.ttl);
            entry.expires = now + entry.ttl;
        }
        if self.entries.len() > self.capacity {
            self.shrink(now);
        }
    }

    fn is_warm(&self, prefix: Fingerprint, now: Duration) -> bool {
        self.entries.get(&prefix).is_some_and(|entry| entry.expires > now)
    }

    fn settle_marked(&self, blocks: &[Block], rules: &CacheRules, now: Duration) -> Settlement {
        let marks: Vec<usize> = (0..blocks.len()).filter(|&index| blocks[index].mark.is_some()).collect();
        let hit = marks.iter().rev().filter_map(|&mark| self.look_back(blocks, mark, now)).max();
        let mut settlement =
            Settlement { read: hit.map_or(0, |index| blocks[index].prefix_tokens), ..Settlement::default() };
        let mut settled = settlement.read;
        for &index in &marks {
            let block = &blocks[index];
            let ttl = block.mark.unwrap_or(FIVE_MINUTES);
            if block.prefix_tokens < rules.min_tokens {
                continue;
            }
            settlement.keeps.push(Write { prefix: block.prefix, ttl });
            let fresh = block.prefix_tokens.saturating_sub(settled);
            settled = settled.max(block.prefix_tokens);
            if ttl > FIVE_MINUTES { settlement.written_long += fresh } else { settlement.written_short += fresh }
        }
        if let Some(index) = hit {
            let prefix = blocks[index].prefix;
            settlement.keeps.push(Write { prefix, ttl: self.entries[&prefix].ttl });
        }
        settlement
    }

    fn look_back(&self, blocks: &[Block], mark: usize, now: Duration) -> Option<usize> {
        let oldest = (mark + 1).saturating_sub(LOOKBACK_BLOCKS);
        (oldest..=mark).rev().find(|&index| self.is_warm(blocks[index].prefix, now))
    }

    fn settle_automatic(
        &self,
        blocks: &[Block],
        rules: &CacheRules,
        ttl: Duration,
        marks_only: bool,
        now: Duration,
    ) -> Settlement {
        let total = blocks.last().map_or(0, |block| block.prefix_tokens);
        if total < rules.min_tokens {
            return Settlement::default();
        }
        let warm =
            blocks.iter().rev().find(|block| self.is_warm(block.prefix, now)).map_or(0, |block| block.prefix_tokens);
        let rounded = warm / rules.step * rules.step;
        let read = if rounded < rules.min_tokens { 0 } else { rounded };
        let kept: Vec<&Block> = blocks.iter().filter(|block| !marks_only || block.mark.is_some()).collect();
        let kept = if marks_only { &kept[kept.len().saturating_sub(MAX_AUTOMATIC_MARKS)..] } else { &kept[..] };
        let end = kept.last().map_or(0, |block| block.prefix_tokens);
        let written = if rules.reports_writes { end.saturating_sub(read) } else { 0 };
        let keeps = kept.iter().map(|block| Write { prefix: block.prefix, ttl }).collect();
        Settlement { read, written_short: 0, written_long: written, keeps }
    }

    /// Forgets what is cold, then, if that is not enough, the half that would be cold first.
    fn shrink(&mut self, now: Duration) {
        self.entries.retain(|_, entry| entry.expires > now);
        if self.entries.len() <= self.capacity {
            return;
        }
        let mut ends: Vec<Duration> = self.entries.values().map(|entry| entry.expires).collect();
        ends.sort_unstable();
        let median = ends[ends.len() / 2];
        self.entries.retain(|_, entry| entry.expires > median);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::models;
    use crate::prompt::BlockList;

    fn prompt(sizes: &[u64], marks: &[usize], caching: Caching) -> Prompt {
        let mut list = BlockList::new(Fingerprint::EMPTY);
        for (index, size) in sizes.iter().enumerate() {
            list.push("block", &json!(index), *size, marks.contains(&index).then_some(FIVE_MINUTES));
        }
        Prompt {
            messages: sizes.len(),
            blocks: list.finish(),
            caching,
            tools: Vec::new(),
            last_said: String::new(),
            ends_with_results: false,
            is_fresh: false,
        }
    }

    fn rules() -> &'static CacheRules {
        &models::find("claude-sonnet-4-5").cache
    }

    #[test]
    fn a_mark_finds_a_warm_prefix_twenty_blocks_back_but_no_further() {
        for (extra, read) in [(19, 2000), (20, 0)] {
            let mut books = Books::new(100);
            let first = prompt(&[2000], &[0], Caching::Marked);
            books.commit(&books.settle(&first, rules(), Duration::ZERO), Duration::ZERO);
            let mut sizes = vec![2000];
            sizes.extend(vec![1; extra]);
            let later = prompt(&sizes, &[extra], Caching::Marked);
            assert_eq!(books.settle(&later, rules(), Duration::ZERO).read, read, "{extra} blocks later");
        }
    }

    #[test]
    fn the_books_never_hold_more_than_their_capacity() {
        let mut books = Books::new(8);
        let automatic = Caching::Automatic { ttl: None, marks_only: false };
        for length in 1..50 {
            let sizes = vec![2000; length];
            let settlement = books.settle(&prompt(&sizes, &[], automatic), rules(), Duration::ZERO);
            books.commit(&settlement, Duration::ZERO);
            assert!(books.entries.len() <= 8);
        }
    }
}
