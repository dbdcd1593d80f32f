//! A text as pieces of texts that are kept anyway.
//!
//! A page is almost wholly quotes of messages that the log keeps, and most of its lines stood in the page before it. So it
//! is kept as the places where its bytes stand, and our own words between. What pieces do not give back to the byte is
//! kept as it is.

use super::quotes::{Found, Places, Quotes, Search};
use super::recorded::RecordedText;
use super::varint::{number, put, put_signed, signed};
use crate::wire::Message;
use std::ops::Range;
use std::slice::Iter;
use std::sync::Arc;

/// Texts that are read for the sake of a later one at most: each has pieces of the one before it.
const MOST_EARLIER: u8 = 12;

/// A text as pieces.
pub(super) struct Pieces {
    /// Length and holder of each as numbers, our own words as they are.
    list: Box<[u8]>,
    len: usize,
    /// The text before it, of which it repeats some.
    earlier: Option<RecordedText>,
    /// The messages that it quotes.
    quoted: Box<[Arc<Message>]>,
    depth: u8,
}

/// So many bytes of a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where in the text.
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) holder: Holder,
}

impl Piece {
    pub(super) fn end(self) -> usize {
        self.start + self.len
    }
}

/// What else holds the bytes of a piece, and from where on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holder {
    /// The text before it.
    Earlier(usize),
    /// A message, by its number among those that are quoted.
    Message(usize, usize),
}

/// A text that a later one may repeat.
#[derive(Clone, Copy)]
pub(super) struct Earlier<'e> {
    /// As it is recorded.
    pub(super) recorded: &'e RecordedText,
    /// As it reads.
    pub(super) text: &'e str,
    /// Where its quotes stand.
    pub(super) places: &'e [Range<u32>],
}

impl Pieces {
    /// Where the quotes of a text stand, and the text as pieces; none where they would take as much as the text itself.
    pub(super) fn of(text: &str, earlier: Option<Earlier<'_>>, quotes: &Quotes<'_>) -> (Option<Self>, Places) {
        let earlier = earlier.filter(|earlier| earlier.recorded.depth() < MOST_EARLIER);
        let Found { pieces, quoted, places } = Search::new(text, earlier, quotes).run();
        let is_repeated = pieces.iter().any(|piece| matches!(piece.holder, Holder::Earlier(_)));
        let earlier = earlier.filter(|_| is_repeated);
        let list = listed(text.as_bytes(), &pieces);
        let pieces = Self {
            list,
            len: text.len(),
            earlier: earlier.map(|earlier| earlier.recorded.clone()),
            quoted: quoted.into(),
            depth: earlier.map_or(0, |earlier| earlier.recorded.depth()) + 1,
        };
        let is_right =
            pieces.held_bytes() < text.len() && pieces.give(text, earlier.map_or("", |earlier| earlier.text));
        (is_right.then_some(pieces), places.into())
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// What they take themselves.
    pub(super) fn held_bytes(&self) -> usize {
        self.list.len() + self.quoted.len() * size_of::<Arc<Message>>() + size_of::<Self>()
    }

    pub(super) fn depth(&self) -> u8 {
        self.depth
    }

    /// The bytes of the text.
    pub(super) fn read(&self) -> Vec<u8> {
        let earlier = self.earlier.as_ref().map(RecordedText::read);
        let mut text = Vec::with_capacity(self.len);
        self.each(earlier.as_deref().unwrap_or_default(), |bytes| text.extend_from_slice(bytes));
        text
    }

    /// Whether they are a text, to the byte, where this is the earlier one.
    fn give(&self, text: &str, earlier: &str) -> bool {
        let mut rest = Some(text.as_bytes());
        self.each(earlier, |bytes| rest = rest.and_then(|rest| rest.strip_prefix(bytes)));
        rest == Some(&[])
    }

    fn each(&self, earlier: &str, mut each: impl FnMut(&[u8])) {
        let mut list = List::of(&self.list);
        while let Some((len, holder)) = list.next() {
            let bytes = match holder {
                None => list.words(len),
                Some(Holder::Earlier(start)) => earlier.as_bytes().get(start..start.saturating_add(len)),
                Some(Holder::Message(number, start)) => {
                    let message = self.quoted.get(number).map(|message| message.raw().as_bytes());
                    message.and_then(|raw| raw.get(start..start.saturating_add(len)))
                }
            };
            each(bytes.unwrap_or_default());
        }
    }
}

/// The two lowest bits of a piece's length say who holds it.
const HOLDER_BITS: u32 = 2;
const WORDS: usize = 0;
const EARLIER: usize = 1;
const SAME_MESSAGE: usize = 2;
const OTHER_MESSAGE: usize = 3;

/// Where the last pieces stood: the next one is not far.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    /// Where the last piece of the earlier text ended.
    earlier: usize,
    message: usize,
    /// Where the last piece of that message ended.
    end: usize,
}

/// Pieces in order as numbers, everything between them as words.
fn listed(text: &[u8], pieces: &[Piece]) -> Box<[u8]> {
    let (mut list, mut last, mut done) = (Vec::with_capacity(text.len() / 4), Last::default(), 0);
    for piece in pieces {
        put_words(&mut list, text.get(done..piece.start).unwrap_or_default());
        put_piece(&mut list, *piece, &mut last);
        done = piece.end();
    }
    put_words(&mut list, text.get(done..).unwrap_or_default());
    list.into()
}

fn put_words(list: &mut Vec<u8>, words: &[u8]) {
    if !words.is_empty() {
        put(list, words.len() << HOLDER_BITS | WORDS);
        list.extend_from_slice(words);
    }
}

fn put_piece(list: &mut Vec<u8>, piece: Piece, last: &mut Last) {
    let head = piece.len << HOLDER_BITS;
    match piece.holder {
        Holder::Earlier(start) => {
            put(list, head | EARLIER);
            put_signed(list, start.wrapping_sub(last.earlier));
            last.earlier = start + piece.len;
        }
        Holder::Message(message, start) => {
            if message == last.message {
                put(list, head | SAME_MESSAGE);
            } else {
                put(list, head | OTHER_MESSAGE);
                put_signed(list, message.wrapping_sub(last.message));
                (last.message, last.end) = (message, 0);
            }
            put_signed(list, start.wrapping_sub(last.end));
            last.end = start + piece.len;
        }
    }
}

/// Reads what [`listed`] wrote.
struct List<'l> {
    bytes: Iter<'l, u8>,
    last: Last,
}

impl<'l> List<'l> {
    fn of(list: &'l [u8]) -> Self {
        Self { bytes: list.iter(), last: Last::default() }
    }

    /// How many bytes follow in the text, and who holds them; nobody but the list itself where they are our own words.
    fn next(&mut self) -> Option<(usize, Option<Holder>)> {
        let head = number(&mut self.bytes)?;
        let (len, kind) = (head >> HOLDER_BITS, head & ((1 << HOLDER_BITS) - 1));
        let holder = match kind {
            WORDS => return Some((len, None)),
            EARLIER => {
                let start = self.last.earlier.wrapping_add(signed(&mut self.bytes)?);
                self.last.earlier = start.wrapping_add(len);
                Holder::Earlier(start)
            }
            _ => {
                if kind == OTHER_MESSAGE {
                    let message = self.last.message.wrapping_add(signed(&mut self.bytes)?);
                    (self.last.message, self.last.end) = (message, 0);
                }
                let start = self.last.end.wrapping_add(signed(&mut self.bytes)?);
                self.last.end = start.wrapping_add(len);
                Holder::Message(self.last.message, start)
            }
        };
        Some((len, Some(holder)))
    }

    fn words(&mut self, len: usize) -> Option<&'l [u8]> {
        let (words, rest) = self.bytes.as_slice().split_at_checked(len)?;
        self.bytes = rest.iter();
        Some(words)
    }
}
