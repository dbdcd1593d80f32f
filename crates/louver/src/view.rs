//! What is sent.

use super::Entry;
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::wire::Message;
use std::collections::VecDeque;
use std::sync::Arc;

/// A message of our own in the view.
#[derive(Clone, Debug)]
pub(super) struct Synthetic {
    /// The log index it stands before.
    pub(super) before: usize,
    pub(super) kind: SyntheticKind,
    pub(super) message: Arc<Message>,
    pub(super) amount: Millitokens,
}

impl Synthetic {
    /// Whether it stands for what has left, and so moves with the seam.
    pub(super) fn is_account(&self) -> bool {
        matches!(self.kind, SyntheticKind::Ledger | SyntheticKind::Summary)
    }
}

/// What a message of our own is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SyntheticKind {
    /// Stands before a summary so that the summary stands legally.
    Opening,
    /// What was written down, without a model, of the messages that left.
    Ledger,
    /// What a model wrote about the messages that left.
    Summary,
    /// Stands where messages left, because their neighbours may not stand together.
    Marker,
}

/// Where a message of the view comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The log, byte for byte.
    Kept(usize),
    /// The log, changed inside.
    Edited(usize),
    /// Louver itself.
    Synthetic(SyntheticKind),
}

impl Origin {
    /// The log index, unless Louver wrote it.
    #[must_use]
    pub fn index(self) -> Option<usize> {
        match self {
            Self::Kept(index) | Self::Edited(index) => Some(index),
            Self::Synthetic(_) => None,
        }
    }

    /// Whether Louver wrote it to stand for what was summarised.
    #[must_use]
    pub fn is_summary(self) -> bool {
        self == Self::Synthetic(SyntheticKind::Summary)
    }
}

/// One message of the view.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// Where it comes from.
    pub origin: Origin,
    /// What goes out.
    pub message: &'a Message,
}

/// Where explicit cache marks belong besides the one behind system and tools: each as the number of messages of the
/// view that stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakpoints {
    /// The last stable point: no later cut changes what stands before it. 0 until there was a cut.
    pub head: usize,
    /// The end of what is sent, for the next request to read.
    pub end: usize,
}

/// What is sent: a borrowed sequence over the log.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    entries: &'a [Entry],
    units: &'a VecDeque<Unit>,
    synthetics: &'a [Synthetic],
}

impl<'a> View<'a> {
    pub(super) fn new(entries: &'a [Entry], units: &'a VecDeque<Unit>, synthetics: &'a [Synthetic]) -> Self {
        Self { entries, units, synthetics }
    }

    /// The messages in order.
    pub fn iter(&self) -> impl Iterator<Item = Sent<'a>> + use<'a> {
        let (entries, synthetics) = (self.entries, self.synthetics);
        let indices = self.units.iter().flat_map(|unit| unit.range.clone()).chain([entries.len()]);
        let mut written = 0;
        indices.flat_map(move |index| {
            let ours = &synthetics[written..];
            let ours = &ours[..ours.partition_point(|synthetic| synthetic.before <= index)];
            written += ours.len();
            ours.iter()
                .map(|synthetic| Sent { origin: Origin::Synthetic(synthetic.kind), message: &synthetic.message })
                .chain(entries.get(index).map(|entry| sent(index, entry)))
        })
    }
}

fn sent(index: usize, entry: &Entry) -> Sent<'_> {
    let origin = if entry.edited.is_some() { Origin::Edited(index) } else { Origin::Kept(index) };
    Sent { origin, message: entry.current() }
}
