//! A history on its way to being legal: changes are made to a copy and told in terms of the original.

use super::{Fix, Format, Message, PartKind, Splice};
use std::borrow::Cow;

/// What a pass makes of one message.
#[derive(Debug)]
pub(super) enum Change {
    /// It stays as it is.
    Keep,
    /// It goes.
    Remove,
    /// These parts go, in order, and with the last of them the message.
    DropParts(Vec<usize>),
    /// Other raw text takes its place.
    Replace(String),
    /// A message of our own comes before it.
    Precede(String),
}

impl Change {
    /// Drops parts, if there are any to drop.
    pub(super) fn drop_parts(parts: Vec<usize>) -> Self {
        if parts.is_empty() { Self::Keep } else { Self::DropParts(parts) }
    }

    /// The same, but thinking does not stay behind alone: it led to what goes.
    pub(super) fn drop_parts_and_lone_thinking(message: &Message, mut parts: Vec<usize>) -> Self {
        if parts.is_empty() {
            return Self::Keep;
        }
        parts.sort_unstable();
        let mut left = message
            .shape()
            .parts
            .iter()
            .enumerate()
            .filter(|(at, part)| !part.nested && parts.binary_search(at).is_err());
        if left.all(|(_, part)| part.kind == PartKind::Thinking) { Self::Remove } else { Self::DropParts(parts) }
    }
}

/// A message between its neighbours, as they stand when a pass begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'m> {
    pub(super) previous: Option<&'m Message>,
    pub(super) message: &'m Message,
    pub(super) next: Option<&'m Message>,
}

/// A history that passes change, with the reasons for every change.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    format: Format,
    total: usize,
    entries: Vec<Entry<'a>>,
    removed: Vec<Fix>,
}

#[derive(Debug)]
struct Entry<'a> {
    /// Its index in the original; none for a message of our own.
    origin: Option<usize>,
    message: Cow<'a, Message>,
    /// Why it is not as it was.
    reasons: Vec<&'static str>,
}

impl<'a> Draft<'a> {
    /// A copy of these messages.
    pub(super) fn of(format: Format, messages: &[&'a Message]) -> Self {
        let entry = |(index, message): (usize, &&'a Message)| Entry {
            origin: Some(index),
            message: Cow::Borrowed(*message),
            reasons: Vec::new(),
        };
        let entries = messages.iter().enumerate().map(entry).collect();
        Self { format, total: messages.len(), entries, removed: Vec::new() }
    }

    /// The messages as they are now.
    pub(super) fn messages(&self) -> Vec<&Message> {
        self.entries.iter().map(|entry| entry.message.as_ref()).collect()
    }

    /// Decides on every message as it stands now, then makes all changes; says whether there were any.
    pub(super) fn pass(&mut self, reason: &'static str, mut decide: impl FnMut(Spot<'_>) -> Change) -> bool {
        let messages = self.messages();
        let spot = |at: usize| Spot {
            previous: at.checked_sub(1).map(|before| messages[before]),
            message: messages[at],
            next: messages.get(at + 1).copied(),
        };
        let changes: Vec<Change> = (0..messages.len()).map(|at| decide(spot(at))).collect();
        let is_changed = changes.iter().any(|change| !matches!(change, Change::Keep));
        if is_changed {
            for (entry, change) in std::mem::take(&mut self.entries).into_iter().zip(changes) {
                self.change(entry, change, reason);
            }
        }
        is_changed
    }

    /// Adds a message of our own at the end.
    pub(super) fn append(&mut self, raw: &str, reason: &'static str) {
        if let Ok(message) = Message::parse(self.format, raw) {
            self.entries.push(Entry { origin: None, message: Cow::Owned(message), reasons: vec![reason] });
        }
    }

    fn change(&mut self, mut entry: Entry<'a>, change: Change, reason: &'static str) {
        let raw = match change {
            Change::Keep => return self.entries.push(entry),
            Change::Precede(raw) => {
                self.append(&raw, reason);
                return self.entries.push(entry);
            }
            Change::Remove => None,
            Change::DropParts(parts) => without_parts(&entry.message, &parts),
            Change::Replace(raw) => Some(raw),
        };
        entry.reasons.push(reason);
        match raw.map(|raw| Message::parse(self.format, &raw)) {
            Some(Ok(message)) => self.entries.push(Entry { message: Cow::Owned(message), ..entry }),
            _ => self.removed.extend(entry.origin.map(|index| Fix::Remove { index, reason: entry.reasons.join("; ") })),
        }
    }

    /// What was changed, in the order and with the indices of the original.
    pub(super) fn fixes(self) -> Vec<Fix> {
        let mut fixes = self.removed;
        let mut following = self.total;
        for entry in self.entries.into_iter().rev() {
            let (raw, reason) = (entry.message.raw(), entry.reasons.join("; "));
            match entry.origin {
                None => fixes.push(Fix::Insert { index: following, raw: raw.to_owned(), reason }),
                Some(index) => {
                    following = index;
                    if !reason.is_empty() {
                        fixes.push(Fix::Replace { index, raw: raw.to_owned(), reason });
                    }
                }
            }
        }
        // What is inserted before a message is told before what happens to it.
        fixes.sort_by_key(|fix| (fix.index(), !matches!(fix, Fix::Insert { .. })));
        fixes
    }
}

/// The message without these parts; nothing where no part would be left.
fn without_parts(message: &Message, parts: &[usize]) -> Option<String> {
    let shape = message.shape();
    let is_left = |(at, part): (usize, &super::Part)| !part.nested && parts.binary_search(&at).is_err();
    if !shape.parts.iter().enumerate().any(is_left) {
        return None;
    }
    let mut splice = Splice::default();
    for at in parts {
        splice.remove(shape.parts[*at].span);
    }
    Some(splice.apply(message.raw()))
}
