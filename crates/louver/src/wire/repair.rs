//! A history under repair: changes are made to a copy and told in terms of the original.

use super::{Fix, History, Message, Part, PartKind, Role, Splice, Wire};
use std::borrow::Cow;

/// What our own message says where one has to stand.
const BRIDGE: &str = "[Conversation continues]";

/// What a fix makes of one message.
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
    /// A message of our own, the user's, comes before it.
    Precede,
}

/// A message between its neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'m> {
    pub(super) index: usize,
    pub(super) previous: Option<&'m Message>,
    pub(super) message: &'m Message,
    pub(super) next: Option<&'m Message>,
}

/// Every message between its neighbours.
pub(super) fn spots<'m>(messages: &[&'m Message]) -> impl Iterator<Item = Spot<'m>> {
    (0..messages.len()).map(|index| Spot {
        index,
        previous: index.checked_sub(1).map(|before| messages[before]),
        message: messages[index],
        next: messages.get(index + 1).copied(),
    })
}

/// A history that fixes change, with the reasons for every change.
#[derive(Debug)]
pub(super) struct Repair<'a> {
    wire: &'static Wire,
    /// What is around the messages.
    around: History<'a>,
    entries: Vec<Entry<'a>>,
    removed: Vec<Fix>,
    /// Why changes are made just now.
    pub(super) reason: &'static str,
    /// How many changes were made.
    pub(super) changes: usize,
}

#[derive(Debug)]
struct Entry<'a> {
    /// Its index in the original; none for a message of our own.
    origin: Option<usize>,
    message: Cow<'a, Message>,
    /// Why it is not as it was.
    reasons: Vec<&'static str>,
}

impl<'a> Repair<'a> {
    /// A copy of a history.
    pub(super) fn of(wire: &'static Wire, history: &History<'a>) -> Self {
        let entry = |(index, message): (usize, &&'a Message)| Entry {
            origin: Some(index),
            message: Cow::Borrowed(*message),
            reasons: Vec::new(),
        };
        let entries = history.messages.iter().enumerate().map(entry).collect();
        Self { wire, around: history.clone(), entries, removed: Vec::new(), reason: "", changes: 0 }
    }

    /// The history as it is now.
    pub(super) fn history(&self) -> History<'_> {
        let messages = self.entries.iter().map(|entry| entry.message.as_ref()).collect();
        History { messages, ..self.around }
    }

    /// Decides on every message as it stands now, then makes all changes.
    pub(super) fn pass(&mut self, decide: impl FnMut(Spot<'_>) -> Change) {
        let changes: Vec<Change> = spots(&self.history().messages).map(decide).collect();
        let entries = std::mem::take(&mut self.entries);
        for (entry, change) in entries.into_iter().zip(changes) {
            self.change(entry, change);
        }
    }

    /// Adds a message of our own, the user's, at the end.
    pub(super) fn append(&mut self, text: &str) {
        if let Ok(message) = Message::read(self.wire, &self.wire.write(Role::User, text)) {
            self.entries.push(Entry { origin: None, message: Cow::Owned(message), reasons: vec![self.reason] });
            self.changes += 1;
        }
    }

    /// The same, where it does not matter what it says.
    pub(super) fn append_bridge(&mut self) {
        self.append(BRIDGE);
    }

    fn change(&mut self, mut entry: Entry<'a>, change: Change) {
        let raw = match change {
            Change::Keep => return self.entries.push(entry),
            Change::Precede => {
                self.append(BRIDGE);
                return self.entries.push(entry);
            }
            Change::Remove => None,
            Change::DropParts(parts) => without_parts(&entry.message, &parts),
            Change::Replace(raw) => Some(raw),
        };
        self.changes += 1;
        entry.reasons.push(self.reason);
        match raw.map(|raw| Message::read(self.wire, &raw)) {
            Some(Ok(message)) => self.entries.push(Entry { message: Cow::Owned(message), ..entry }),
            _ => self.removed.extend(entry.origin.map(|index| Fix::Remove { index, reason: entry.reasons.join("; ") })),
        }
    }

    /// What was changed, in the order and with the indices of the original.
    pub(super) fn fixes(self) -> Vec<Fix> {
        let mut fixes = self.removed;
        let mut following = self.around.messages.len();
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

/// Whether nothing but thinking would be left without these parts, which are in order.
pub(super) fn leaves_only_thinking(message: &Message, parts: &[usize]) -> bool {
    parts_without(message, parts).all(|part| part.kind == PartKind::Thinking)
}

fn parts_without<'m>(message: &'m Message, gone: &[usize]) -> impl Iterator<Item = &'m Part> {
    let parts = message.shape().parts.iter().enumerate();
    parts.filter(|(at, part)| !part.nested && gone.binary_search(at).is_err()).map(|(_, part)| part)
}

/// The message without these parts; nothing where no part would be left.
fn without_parts(message: &Message, parts: &[usize]) -> Option<String> {
    parts_without(message, parts).next()?;
    let mut splice = Splice::default();
    for at in parts {
        splice.remove(message.shape().parts[*at].span);
    }
    Some(splice.apply(message.raw()))
}
