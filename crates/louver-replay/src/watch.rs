//! How a view changes from request to request.

use crate::contents::Contents;
use crate::retention::{Presence, Share};
use crate::snapshot::{Item, Snapshot};

/// What a policy's view holds now, kept up to date request by request.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) last: Snapshot,
    pub(crate) presence: Presence,
    /// Stubbed bytes that what is kept still says, over all stubbed bytes.
    pub(crate) redundancy: Share,
    /// Whether each message of the log is in the view as it was recorded.
    intact: Vec<bool>,
}

/// What a request did to the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Something of it was edited or evicted.
    pub(crate) is_cut: bool,
    /// It is a byte prefix of the new one.
    pub(crate) is_prefix: bool,
}

impl Watch {
    /// Takes in the next request. O(messages in the view), and O(their identifiers and lines) for those that changed.
    pub(crate) fn advance(&mut self, next: Snapshot, log: &[u32], contents: &Contents) -> Change {
        let mut change = Change { is_cut: false, is_prefix: self.last.is_prefix_of(&next) };
        let mut stubbed: Vec<(u32, u32)> = Vec::new();
        let last = std::mem::take(&mut self.last);
        self.exchange_ours(&last, &next, contents);
        let mut old = ours_apart(&last).peekable();
        for (index, content) in ours_apart(&next) {
            while let Some((at, gone)) = old.next_if(|(at, _)| *at < index) {
                change.is_cut = true;
                self.leave(gone, log[at], contents);
            }
            match old.next_if(|(at, _)| *at == index) {
                Some((_, before)) if before == content => continue,
                Some((_, before)) => {
                    change.is_cut = true;
                    self.leave(before, log[index], contents);
                    stubbed.push((before, content));
                }
                None if content != log[index] => stubbed.push((log[index], content)),
                None => {}
            }
            self.enter(content, log[index], contents);
        }
        for (at, gone) in old {
            change.is_cut = true;
            self.leave(gone, log[at], contents);
        }
        self.weigh_stubs(&stubbed, contents);
        self.note_intact(&next, log);
        self.last = next;
        change
    }

    /// Whether a message of the log is in the view as it was recorded.
    pub(crate) fn is_intact(&self, index: usize) -> bool {
        self.intact.get(index).is_some_and(|is_intact| *is_intact)
    }

    fn enter(&mut self, content: u32, recorded: u32, contents: &Contents) {
        let said = contents.names_and_lines(content);
        if content == recorded { self.presence.add(said) } else { self.presence.add_changed(said) }
    }

    fn leave(&mut self, content: u32, recorded: u32, contents: &Contents) {
        let said = contents.names_and_lines(content);
        if content == recorded { self.presence.remove(said) } else { self.presence.remove_changed(said) }
    }

    /// Whether a message of the log is not in the view as it was recorded.
    pub(crate) fn is_left_out(&self, index: usize) -> bool {
        self.intact.get(index).is_some_and(|is_intact| !is_intact)
    }

    /// Messages of our own are few: the old ones leave, the new ones enter.
    fn exchange_ours(&mut self, last: &Snapshot, next: &Snapshot, contents: &Contents) {
        let ours = |snapshot: &Snapshot| -> Vec<u32> {
            let is_ours = |item: &&Item| item.log_index.is_none();
            snapshot.items.iter().filter(is_ours).map(|item| item.content).collect()
        };
        let (before, after) = (ours(last), ours(next));
        if before != after {
            before.iter().for_each(|content| self.presence.remove_changed(contents.names_and_lines(*content)));
            after.iter().for_each(|content| self.presence.add_changed(contents.names_and_lines(*content)));
        }
    }

    fn weigh_stubs(&mut self, stubbed: &[(u32, u32)], contents: &Contents) {
        for (before, after) in stubbed {
            let kept = &contents.names_and_lines(*after).lines;
            for line in contents.names_and_lines(*before).lines.iter().filter(|line| kept.binary_search(line).is_err())
            {
                let bytes = contents.numbering.line_bytes(*line) as f64;
                self.redundancy.add(bytes, self.presence.has_line(*line));
            }
        }
    }

    /// Messages up to the newest in the view; later ones are not recorded yet.
    fn note_intact(&mut self, next: &Snapshot, log: &[u32]) {
        let newest = next.items.iter().rev().find_map(|item| item.log_index).map_or(0, |index| index + 1);
        self.intact.clear();
        self.intact.resize(newest, false);
        for (index, content) in ours_apart(next) {
            self.intact[index] = content == log[index];
        }
    }
}

/// The messages that come from the log, ascending.
fn ours_apart(snapshot: &Snapshot) -> impl Iterator<Item = (usize, u32)> {
    snapshot.items.iter().filter_map(|item| item.log_index.map(|index| (index, item.content)))
}
