//! A request as a policy made it.

use crate::cache::Piece;
use crate::contents::Contents;
use louver::window::{Origin, Window};
use std::collections::HashMap;

/// One message of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The message of the log that it stands for; `None` for our own.
    pub(crate) log_index: Option<usize>,
    /// Its bytes, as a number.
    pub(crate) content: u32,
}

/// The messages of one request in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) items: Vec<Item>,
    pub(crate) pieces: Vec<Piece>,
    /// Everything recorded so far, unchanged.
    pub(crate) is_whole: bool,
}

/// Edited messages that were numbered already, by log index. Numbering reads a message's bytes, so it is done once
/// per edit and not once per request.
pub(crate) type EditedNumbers = HashMap<usize, u32>;

impl Snapshot {
    /// The present view of a window. O(its messages).
    pub(crate) fn take(window: &Window, log: &[u32], edited: &mut EditedNumbers, contents: &mut Contents) -> Self {
        let items: Vec<Item> = window
            .view()
            .iter()
            .map(|sent| match sent.origin {
                Origin::Kept(index) => Item { log_index: Some(index), content: log[index] },
                Origin::Edited(index) => {
                    let content = *edited.entry(index).or_insert_with(|| contents.number(sent.message));
                    Item { log_index: Some(index), content }
                }
                Origin::Synthetic(_) => Item { log_index: None, content: contents.number(sent.message) },
            })
            .collect();
        let is_kept =
            |(position, item): (usize, &Item)| item.log_index == Some(position) && item.content == log[position];
        let is_whole = items.len() == window.len() && items.iter().enumerate().all(is_kept);
        let pieces = items.iter().map(|item| contents.piece(item.content)).collect();
        Self { items, pieces, is_whole }
    }

    /// Which message of the log stands at a position.
    pub(crate) fn log_index(&self, position: usize) -> Option<usize> {
        self.items.get(position).and_then(|item| item.log_index)
    }

    /// Whether another request starts with all of this one, byte for byte.
    pub(crate) fn is_prefix_of(&self, other: &Self) -> bool {
        other.pieces.len() >= self.pieces.len() && other.pieces[..self.pieces.len()] == self.pieces[..]
    }
}
