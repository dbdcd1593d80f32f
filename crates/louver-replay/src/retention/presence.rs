//! What stands in a view.

use super::names_and_lines::NamesAndLines;
use std::collections::HashMap;

/// How often each identifier and line stands in a view, kept up to date as messages enter and leave it.
#[derive(Debug, Default)]
pub struct Presence {
    identifiers: Vec<u32>,
    lines: Vec<u32>,
    /// The lines of messages that do not stand there as they were recorded, and of our own.
    changed_lines: Vec<u32>,
    /// The runs of lines of those messages, in which another message's passage may stand.
    changed_runs: HashMap<u64, u32>,
}

impl Presence {
    /// A message enters the view. O(its identifiers and lines).
    pub fn add(&mut self, message: &NamesAndLines) {
        raise(&mut self.identifiers, &message.identifiers);
        raise(&mut self.lines, &message.lines);
    }

    /// A message that had entered leaves it.
    pub fn remove(&mut self, message: &NamesAndLines) {
        lower(&mut self.identifiers, &message.identifiers);
        lower(&mut self.lines, &message.lines);
    }

    /// A message enters that was edited, or that nobody recorded.
    pub fn add_changed(&mut self, message: &NamesAndLines) {
        self.add(message);
        raise(&mut self.changed_lines, &message.lines);
        message.runs().for_each(|run| *self.changed_runs.entry(run).or_default() += 1);
    }

    /// Such a message leaves.
    pub fn remove_changed(&mut self, message: &NamesAndLines) {
        self.remove(message);
        lower(&mut self.changed_lines, &message.lines);
        for run in message.runs() {
            if let Some(count) = self.changed_runs.get_mut(&run) {
                *count -= 1;
            }
        }
        self.changed_runs.retain(|_, count| *count > 0);
    }

    /// Whether an identifier stands in the view. O(1).
    pub fn mentions(&self, identifier: u32) -> bool {
        at(&self.identifiers, identifier) > 0
    }

    /// Whether a line stands in the view. O(1).
    pub fn has_line(&self, line: u32) -> bool {
        at(&self.lines, line) > 0
    }

    /// Whether it stands in a message that is there as it was recorded. O(1).
    pub fn has_line_intact(&self, line: u32) -> bool {
        at(&self.lines, line) > at(&self.changed_lines, line)
    }

    /// Whether a passage stands together in a message that was edited or is our own. O(1).
    pub fn quotes(&self, passage: u64) -> bool {
        self.changed_runs.contains_key(&passage)
    }
}

fn at(counts: &[u32], number: u32) -> u32 {
    counts.get(number as usize).copied().unwrap_or(0)
}

/// The numbers ascend.
fn raise(counts: &mut Vec<u32>, numbers: &[u32]) {
    let needed = numbers.last().map_or(0, |last| *last as usize + 1);
    if counts.len() < needed {
        counts.resize(needed.next_power_of_two(), 0);
    }
    numbers.iter().for_each(|number| counts[*number as usize] += 1);
}

fn lower(counts: &mut [u32], numbers: &[u32]) {
    numbers.iter().for_each(|number| counts[*number as usize] -= 1);
}
