//! Finds the bytes of a text in texts that are kept anyway.

use super::pieces::{Earlier, Holder, Piece};
use crate::json::text::{backslash_in, meaning_of};
use crate::plan::Source;
use crate::view::Entry;
use crate::wire::Message;
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// A shorter run of bytes is written, not looked for: saying where it stands takes a few bytes, too, and looking takes time.
const SHORTEST_RUN: usize = 24;
/// A line break as it is written in a JSON string.
const LINE_BREAK: &[u8] = b"\\n";
/// An odd number whose bits have no pattern, as FxHash has it.
const MIX: u64 = 0xf135_7aea_2e62_a9c5;
/// Quotes of a text are found in a table with so many slots for each.
const SLOTS_OF_A_QUOTE: usize = 4;
/// Bytes of messages that are looked through for each byte of a text at most: messages may be of any size.
const LOOKED_THROUGH: usize = 64;

/// What of a text was taken from which messages.
pub(super) struct Quotes<'q> {
    /// Where in the raw text the string begins that the sources are about, behind its quotation mark.
    pub(super) text_start: usize,
    pub(super) sources: &'q [Source],
    /// The log.
    pub(super) entries: &'q [Entry],
}

/// Where in a raw text its quotes stand.
pub(super) type Places = Box<[Range<u32>]>;

/// The quotes of an earlier text, found by how they begin and end. Of two that share a slot the first is known.
struct QuotePlaces<'e> {
    text: &'e [u8],
    slots: Vec<u32>,
}

impl<'e> QuotePlaces<'e> {
    const NONE: u32 = u32::MAX;

    fn of(text: &'e str, places: &[Range<u32>]) -> Self {
        let text = text.as_bytes();
        let mut slots = vec![Self::NONE; (places.len() * SLOTS_OF_A_QUOTE).next_power_of_two()];
        for place in places {
            let quote = text.get(place.start as usize..place.end as usize);
            if let Some(slot) = quote.and_then(|quote| slot_of(quote, slots.len()))
                && slots[slot] == Self::NONE
            {
                slots[slot] = place.start;
            }
        }
        Self { text, slots }
    }

    /// Where a quote stands.
    fn get(&self, quote: &[u8]) -> Option<usize> {
        let place = self.slots[slot_of(quote, self.slots.len())?];
        let place = (place != Self::NONE).then_some(place as usize)?;
        self.text[place..].starts_with(quote).then_some(place)
    }
}

/// Nothing where a quote is too short to be looked for.
fn slot_of(quote: &[u8], slots: usize) -> Option<usize> {
    let (first, last) = (quote.first_chunk::<8>()?, quote.last_chunk::<8>()?);
    let mixed = u64::from_le_bytes(*first).rotate_left(23) ^ u64::from_le_bytes(*last) ^ quote.len() as u64;
    Some((mixed.wrapping_mul(MIX) >> 32) as usize & (slots - 1))
}

/// How many bytes two texts begin with alike, up to the end of a line: what is left of one would not be found again. So
/// many are left to look at.
fn same_lines(one: &[u8], other: &[u8], left: &mut usize) -> usize {
    // Most lines are not followed by the same one, and differ at once.
    if one.first_chunk::<8>() != other.first_chunk() {
        return 0;
    }
    let mut same = 0;
    while same < one.len().min(*left) {
        let end = line_end(one, one.len().min(same + LINE_BREAK.len()));
        if other.get(same..end) != Some(&one[same..end]) {
            break;
        }
        *left = left.saturating_sub(end - same);
        same = end;
    }
    same
}

/// Where the line of a JSON string ends that goes on here.
fn line_end(text: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(found) = backslash_in(&text[at..]) {
        at += found;
        if text[at..].starts_with(LINE_BREAK) {
            return at;
        }
        at = text.len().min(at + LINE_BREAK.len());
    }
    text.len()
}

/// Looks for quotes in an earlier text, and where they were taken from.
pub(super) struct Search<'s> {
    text: &'s [u8],
    quotes: &'s Quotes<'s>,
    earlier: Option<QuotePlaces<'s>>,
    found: Found,
    /// Every message that is quoted.
    known: FxHashMap<usize, Known>,
    /// The one that was quoted last: most quotes stand beside others of the same message.
    last: Option<(usize, Known)>,
    /// Bytes that may still be looked through.
    left: usize,
}

/// What is found of a text.
#[derive(Default)]
pub(super) struct Found {
    /// In order.
    pub(super) pieces: Vec<Piece>,
    /// The messages that they quote.
    pub(super) quoted: Vec<Arc<Message>>,
    pub(super) places: Vec<Range<u32>>,
}

impl Found {
    /// Up to where something was found.
    fn end(&self) -> usize {
        self.pieces.last().map_or(0, |piece| piece.end())
    }
}

/// What is known of a message that is quoted.
#[derive(Clone, Copy)]
struct Known {
    /// Its number among those that are.
    number: usize,
    /// Where the last quote of it ends.
    behind: usize,
}

impl<'s> Search<'s> {
    pub(super) fn new(text: &'s str, earlier: Option<Earlier<'s>>, quotes: &'s Quotes<'s>) -> Self {
        Self {
            text: text.as_bytes(),
            quotes,
            earlier: earlier.map(|earlier| QuotePlaces::of(earlier.text, earlier.places)),
            found: Found::default(),
            known: FxHashMap::default(),
            last: None,
            left: text.len().saturating_mul(LOOKED_THROUGH),
        }
    }

    /// Looks for every quote that did not turn up behind another.
    pub(super) fn run(mut self) -> Found {
        let quotes = self.quotes;
        let mut place = Reading { raw: self.text, at: quotes.text_start, read: 0 };
        self.found.places.reserve_exact(quotes.sources.len());
        for source in quotes.sources {
            let taken = place.forward_to(source.range.start)..place.forward_to(source.range.end);
            let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            self.found.places.push(number(taken.start)..number(taken.end));
            if taken.end <= self.found.end() || self.find_again(taken.clone()) {
                continue;
            }
            if let Some(Entry { message, .. }) = quotes.entries.get(source.message) {
                self.find(source.message, message, taken);
            }
        }
        self.found
    }

    /// Looks for a quote in the earlier text; what is the same on either side of it, up to the end of a line, is part of
    /// the piece.
    fn find_again(&mut self, quote: Range<usize>) -> bool {
        let (text, done) = (self.text, self.found.end());
        let Some(earlier) = self.earlier.as_ref().filter(|_| quote.start >= done) else {
            return false;
        };
        let Some(place) = earlier.get(&text[quote.clone()]) else {
            return false;
        };
        let before = text[done..quote.start].iter().rev().zip(earlier.text[..place].iter().rev());
        let before = before.take_while(|(one, other)| one == other).count();
        let behind = same_lines(&text[quote.end..], &earlier.text[place + quote.len()..], &mut self.left);
        let len = before + quote.len() + behind;
        let holder = Holder::Earlier(place - before);
        self.found.pieces.push(Piece { start: quote.start - before, len, holder });
        true
    }

    /// Looks for a quote in its message, or for the plain runs of it: escapes may be written in another way there.
    fn find(&mut self, index: usize, message: &Arc<Message>, quote: Range<usize>) {
        if self.find_run(index, message, quote.clone()) {
            return;
        }
        let text = self.text;
        let mut start = quote.start;
        while start < quote.end {
            let run = text[start..quote.end].iter().take_while(|byte| is_plain(**byte)).count();
            if run < quote.len() {
                self.find_run(index, message, start..start + run);
            }
            start += run + 1;
        }
    }

    /// Looks for a run of bytes as a whole; what is the same behind it, up to the end of a line, is part of the piece.
    fn find_run(&mut self, index: usize, message: &Arc<Message>, run: Range<usize>) -> bool {
        let run = run.start.max(self.found.end())..run.end;
        if run.len() < SHORTEST_RUN {
            return run.is_empty();
        }
        let Known { number, behind } = self.known(index);
        let raw = message.raw().as_bytes();
        let is_line = self.text[..run.start].ends_with(LINE_BREAK);
        let next_line = is_line.then(|| self.look_along(raw, behind, &self.text[run.clone()])).flatten();
        let Some(start) = next_line.or_else(|| self.look_through(raw, behind, &self.text[run.clone()])) else {
            return false;
        };
        let len = run.len() + same_lines(&self.text[run.end..], &raw[start + run.len()..], &mut self.left);
        if number == self.found.quoted.len() {
            self.found.quoted.push(Arc::clone(message));
        }
        self.last = Some((index, Known { number, behind: start + len }));
        self.found.pieces.push(Piece { start: run.start, len, holder: Holder::Message(number, start) });
        true
    }

    /// What is known of a message, which may be nothing but the number that it gets.
    fn known(&mut self, index: usize) -> Known {
        match self.last {
            Some((last, known)) if last == index => known,
            _ => {
                self.known.extend(self.last.take());
                self.known.get(&index).copied().unwrap_or(Known { number: self.found.quoted.len(), behind: 0 })
            }
        }
    }

    /// Where a run stands at the start of a line, indented or not: lines are quoted in their order.
    fn look_along(&mut self, raw: &[u8], behind: usize, run: &[u8]) -> Option<usize> {
        let mut at = behind;
        while let Some(found) = backslash_in(&raw[at..]).filter(|found| *found < self.left) {
            let escape = &raw[at + found..];
            at = raw.len().min(at + found + LINE_BREAK.len());
            self.left -= found;
            if escape.starts_with(LINE_BREAK) {
                let start = at + indented(&raw[at..]);
                if raw[start..].starts_with(run) {
                    return Some(start);
                }
            }
        }
        None
    }

    /// Where a run stands: behind the last that was found, or else before.
    fn look_through(&mut self, raw: &[u8], behind: usize, run: &[u8]) -> Option<usize> {
        for part in [behind..raw.len(), 0..raw.len().min(behind + run.len() - 1)] {
            let part = part.start..part.end.min(part.start.saturating_add(self.left));
            let found = memmem::find(&raw[part.clone()], run);
            self.left -= found.unwrap_or(part.len());
            if let Some(at) = found {
                return Some(part.start + at);
            }
        }
        None
    }
}

/// Whether it stands for itself in every JSON string.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'\\'
}

/// How many bytes of white space a line begins with.
fn indented(line: &[u8]) -> usize {
    let spaces = line.iter().take_while(|byte| **byte == b' ').count();
    let tabs = line[spaces..].as_chunks::<2>().0.iter().take_while(|escape| *escape == b"\\t").count();
    spaces + 2 * tabs
}

/// A place in a JSON string, as it is written and as it reads.
struct Reading<'r> {
    raw: &'r [u8],
    at: usize,
    read: usize,
}

impl Reading<'_> {
    /// Where so many bytes of the text have been read.
    fn forward_to(&mut self, read: usize) -> usize {
        while self.read < read {
            let rest = self.raw.get(self.at..).unwrap_or_default();
            if rest.starts_with(LINE_BREAK) {
                (self.at, self.read) = (self.at + LINE_BREAK.len(), self.read + 1);
                continue;
            }
            let plain = backslash_in(rest).unwrap_or(rest.len()).min(read - self.read);
            let (length, meaning) = match meaning_of(rest) {
                _ if plain > 0 => (plain, plain),
                Some((meaning, length)) => (length, meaning.len_utf8()),
                None => break,
            };
            self.at += length;
            self.read += meaning;
        }
        self.at
    }
}
