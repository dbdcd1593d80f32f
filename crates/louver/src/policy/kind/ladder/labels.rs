//! Which file or command a message is about.

use super::names::key;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Messages that are remembered, the newest.
const LABELLED: usize = 1_024;
/// Labels for which room is made at once.
const ROOM: usize = 64;
/// Calls whose results are waited for.
const WAITING: usize = 64;
/// What a file is called that is read by people.
const PROSE: [&str; 4] = [".md", ".txt", ".rst", ".adoc"];

/// What a message is about.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// A path, or the first line of a command.
    pub(super) text: Arc<str>,
    /// The message that says so.
    pub(super) named_in: usize,
    pub(super) is_file: bool,
    pub(super) is_written: bool,
    is_whole: bool,
}

/// Which file or command the newest messages are about.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// By message: half of the memory that a table would take.
    of: VecDeque<(u32, Label)>,
    /// The messages in the order in which they were labelled.
    order: VecDeque<u32>,
    waiting: VecDeque<(Arc<str>, Label)>,
    /// The newest call that brought a file as a whole.
    whole: FxHashMap<u64, usize>,
}

impl Labels {
    pub(super) fn note_file(&mut self, index: usize, id: &Arc<str>, path: &str, is_written: bool, is_whole: bool) {
        let label = Label { text: path.into(), named_in: index, is_file: true, is_written, is_whole };
        if is_written && is_whole {
            self.whole.insert(key(path), index);
        }
        self.wait(id, label.clone());
        self.put(index, label);
    }

    pub(super) fn note_command(&mut self, index: usize, id: &Arc<str>, text: &Arc<str>) {
        let text = Arc::clone(text);
        let label = Label { text, named_in: index, is_file: false, is_written: false, is_whole: false };
        self.wait(id, label.clone());
        self.put(index, label);
    }

    fn wait(&mut self, id: &Arc<str>, label: Label) {
        self.waiting.push_back((Arc::clone(id), label));
        if self.waiting.len() > WAITING {
            self.waiting.pop_front();
        }
    }

    /// A result is about what its call is about.
    pub(super) fn note_result(&mut self, index: usize, id: &str) {
        let Some(at) = self.waiting.iter().rposition(|(waiting, _)| **waiting == *id) else {
            return;
        };
        if let Some((_, label)) = self.waiting.remove(at) {
            if label.is_file && label.is_whole && !label.is_written {
                self.whole.insert(key(&label.text), label.named_in);
            }
            self.put(index, label);
        }
    }

    /// A message of several calls or results is about the first.
    fn put(&mut self, index: usize, label: Label) {
        let index = number(index);
        if self.find(index).is_ok() {
            return;
        }
        if self.order.len() >= LABELLED
            && let Some(oldest) = self.order.pop_front()
            && let Ok(at) = self.find(oldest)
        {
            self.of.remove(at);
        }
        if self.of.len() == self.of.capacity() {
            // A copy is made at every cut, without room for more; twice as much would hardly ever be filled.
            self.of.reserve_exact(ROOM);
        }
        self.order.push_back(index);
        let at = self.find(index).unwrap_or_else(|at| at);
        self.of.insert(at, (index, label));
        if self.whole.len() > 2 * LABELLED {
            let oldest = self.order.front().copied().unwrap_or_default();
            self.whole.retain(|_, call| *call >= oldest as usize);
        }
    }

    pub(super) fn get(&self, message: u32) -> Option<&Label> {
        self.find(message).ok().map(|at| &self.of[at].1)
    }

    /// Where the label of a message stands, or would. Where tools are called all the time every message has one, and
    /// it stands as far behind the first as the message.
    fn find(&self, message: u32) -> Result<usize, usize> {
        let first = self.of.front().map_or(0, |(first, _)| *first);
        let farthest = message.saturating_sub(first) as usize;
        match self.of.get(farthest) {
            Some((there, _)) if *there == message => Ok(farthest),
            _ => self.of.binary_search_by_key(&message, |(message, _)| *message),
        }
    }

    /// Whether a later call brought the whole file that this one is about: what this one says of it may not hold any more.
    pub(super) fn is_superseded(&self, message: u32) -> bool {
        let label = self.get(message).filter(|label| label.is_file);
        label.is_some_and(|label| self.whole.get(&key(&label.text)).is_some_and(|whole| *whole > label.named_in))
    }

    /// Whether a message may say in words what is wanted: a document, an issue, a page, but no source file.
    pub(super) fn is_prose(&self, index: usize) -> bool {
        let label = self.get(number(index)).filter(|label| label.is_file);
        label.is_none_or(|label| PROSE.iter().any(|ending| label.text.ends_with(ending)))
    }

    /// Whether a message holds a document, rather than what a program printed.
    pub(super) fn is_document(&self, index: usize) -> bool {
        let label = self.get(number(index));
        label.is_some_and(|label| PROSE.iter().any(|ending| label.text.ends_with(ending)))
    }

    /// Files that were written, the newest first, and the message that named each.
    pub(super) fn written(&self) -> impl Iterator<Item = (&str, usize)> {
        let labels = self.order.iter().rev().filter_map(|message| self.get(*message));
        labels.filter(|label| label.is_written).map(|label| (&*label.text, label.named_in))
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(labels: &mut Labels, at: usize, path: &str, is_whole: bool) {
        let id: Arc<str> = format!("c{at}").into();
        labels.note_file(at, &id, path, false, is_whole);
        labels.note_result(at + 1, &id);
    }

    #[test]
    fn only_a_later_call_for_the_whole_file_supersedes() {
        let mut labels = Labels::default();
        read(&mut labels, 2, "a.rs", true);
        assert!(!labels.is_superseded(2) && !labels.is_superseded(3), "a result does not supersede its own call");
        read(&mut labels, 4, "b.rs", true);
        read(&mut labels, 6, "a.rs", false);
        assert!(!labels.is_superseded(3), "nor does a part of the file");
        read(&mut labels, 8, "a.rs", true);
        let superseded: Vec<u32> = (0..10).filter(|message| labels.is_superseded(*message)).collect();
        assert_eq!(superseded, [2, 3, 6, 7]);
    }
}
