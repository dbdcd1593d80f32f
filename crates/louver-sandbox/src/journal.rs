use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::Violation;

/// One request that the sandbox judged.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The path it was sent to, without its query.
    pub path: String,
    /// The HTTP status it was answered with; where it was refused within a stream, the one that says so otherwise.
    pub status: u16,
    /// Elements of its history: `messages`, `input` items or `contents`.
    pub messages: usize,
    /// Tokens of the whole prompt, those from the cache included.
    pub input_tokens: u64,
    /// Tokens of the prompt that were read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens of the prompt that were written to the cache.
    pub cache_write_tokens: u64,
    /// The rules that it broke.
    pub violations: Vec<Violation>,
}

/// The last requests, oldest first, bounded.
#[derive(Debug)]
pub(crate) struct Journal {
    entries: VecDeque<JournalEntry>,
    capacity: usize,
    max_violations: usize,
}

impl Journal {
    pub(crate) fn new(capacity: usize, max_violations: usize) -> Self {
        Self { entries: VecDeque::new(), capacity: capacity.max(1), max_violations }
    }

    pub(crate) fn push(&mut self, mut entry: JournalEntry) {
        entry.violations.truncate(self.max_violations);
        if self.entries.len() >= self.capacity {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }

    pub(crate) fn entries(&self) -> Vec<JournalEntry> {
        self.entries.iter().cloned().collect()
    }
}
