//! Texts that are made of our own words and of places in the history.

use super::chain::Chain;
use louver::json::{Cursor, JsonError, Kind, text};
use louver::wire::{Message, Part, PartKind};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A piece of a text: our own words, or a place in the history. As JSON a string or five numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// Words of our own.
    Ours(String),
    /// What stands at a place of the history.
    Quote(Quote),
}

/// A run of characters in the history. Messages and parts are numbered without thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[usize; 5]", into = "[usize; 5]")]
pub struct Quote {
    /// The message.
    pub message: usize,
    /// The part of it.
    pub part: usize,
    /// The string inside the part's JSON, counted from 1 on; 0 for the part's own text.
    pub string: usize,
    /// The first character.
    pub start: usize,
    /// How many characters.
    pub chars: usize,
}

impl From<[usize; 5]> for Quote {
    fn from([message, part, string, start, chars]: [usize; 5]) -> Self {
        Self { message, part, string, start, chars }
    }
}

impl From<Quote> for [usize; 5] {
    fn from(quote: Quote) -> Self {
        [quote.message, quote.part, quote.string, quote.start, quote.chars]
    }
}

/// The counted messages of a history, to quote from. Texts are decoded once.
#[derive(Debug)]
pub(super) struct History<'m> {
    messages: Vec<&'m Message>,
    texts: RefCell<HashMap<(usize, usize), Rc<Texts>>>,
}

/// A part's own text and the strings inside its JSON.
#[derive(Debug)]
struct Texts(Vec<String>);

impl<'m> History<'m> {
    /// The counted messages of a log.
    pub(super) fn of(log: &[&'m Message], chain: &Chain) -> Self {
        let messages = chain.counted().iter().filter_map(|index| log.get(*index).copied()).collect();
        Self { messages, texts: RefCell::default() }
    }

    /// A message by its number.
    fn message(&self, number: usize) -> Option<&'m Message> {
        self.messages.get(number).copied()
    }

    /// A text of one message by its places there, line by line; what stands nowhere is left out.
    pub(super) fn quotes(&self, message: usize, text: &str) -> Vec<Piece> {
        let pieces = self.pieces(message, text).into_iter();
        pieces.filter(|piece| matches!(piece, Piece::Quote(_)) || is_blank(piece)).collect()
    }

    /// The text that pieces make; nothing where one of them names a place that is not there.
    pub(super) fn text(&self, pieces: &[Piece]) -> Option<String> {
        let mut whole = String::new();
        for piece in pieces {
            match piece {
                Piece::Ours(words) => whole.push_str(words),
                Piece::Quote(quote) => self.quoted(*quote, &mut whole)?,
            }
        }
        Some(whole)
    }

    fn quoted(&self, quote: Quote, out: &mut String) -> Option<()> {
        let texts = self.texts(quote.message, quote.part)?;
        let text = texts.0.get(quote.string)?;
        let end = quote.start.checked_add(quote.chars)?;
        if text.is_ascii() {
            out.push_str(text.get(quote.start..end)?);
            return Some(());
        }
        let mut places = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        let start = places.nth(quote.start)?;
        let end = if quote.chars == 0 { start } else { places.nth(quote.chars - 1)? };
        out.push_str(&text[start..end]);
        Some(())
    }

    fn texts(&self, message: usize, part: usize) -> Option<Rc<Texts>> {
        let known = self.texts.borrow().get(&(message, part)).cloned();
        if known.is_some() {
            return known;
        }
        let source = self.message(message)?;
        let texts = Rc::new(Texts::of(source, counted_parts(source).nth(part)?));
        self.texts.borrow_mut().insert((message, part), Rc::clone(&texts));
        Some(texts)
    }

    /// Says a text by places in one message, as far as it stands there: whole, or line by line. What does not stand there
    /// is ours.
    pub(super) fn pieces(&self, message: usize, text: &str) -> Vec<Piece> {
        if let Some(quote) = self.find(message, text) {
            return vec![Piece::Quote(quote)];
        }
        let mut pieces = Vec::new();
        for line in text.split_inclusive('\n') {
            let words = line.trim();
            match self.find(message, words).filter(|_| !words.is_empty()) {
                Some(quote) => {
                    let start = line.find(words).unwrap_or_default();
                    push_ours(&mut pieces, &line[..start]);
                    pieces.push(Piece::Quote(quote));
                    push_ours(&mut pieces, &line[start + words.len()..]);
                }
                None => push_ours(&mut pieces, line),
            }
        }
        pieces
    }

    /// Where a text stands in a message, the last place first.
    fn find(&self, message: usize, text: &str) -> Option<Quote> {
        let parts = counted_parts(self.message(message)?).count();
        let finder = memmem::Finder::new(text);
        (0..parts).rev().find_map(|part| {
            let texts = self.texts(message, part)?;
            let found = texts.0.iter().enumerate().find_map(|(string, whole)| {
                let at = finder.find(whole.as_bytes())?;
                Some((string, whole[..at].chars().count()))
            });
            let (string, start) = found?;
            Some(Quote { message, part, string, start, chars: text.chars().count() })
        })
    }
}

fn is_blank(piece: &Piece) -> bool {
    matches!(piece, Piece::Ours(words) if words.trim().is_empty())
}

/// Adds words of our own to those before.
pub(super) fn push_ours(pieces: &mut Vec<Piece>, words: &str) {
    if words.is_empty() {
        return;
    }
    match pieces.last_mut() {
        Some(Piece::Ours(before)) => before.push_str(words),
        _ => pieces.push(Piece::Ours(words.to_owned())),
    }
}

/// The parts of a message, without thinking.
pub(super) fn counted_parts(message: &Message) -> impl Iterator<Item = &Part> {
    message.shape().parts.iter().filter(|part| part.kind != PartKind::Thinking)
}

/// What a part says: its own text, or the one string inside its JSON, as results stand in some formats.
pub(super) fn own_text(message: &Message, part: &Part) -> String {
    let mut texts = Texts::of(message, part).0;
    let is_wrapped = part.kind == PartKind::ToolResult && texts.len() == 2;
    texts.swap_remove(usize::from(is_wrapped))
}

impl Texts {
    fn of(message: &Message, part: &Part) -> Self {
        let mut texts = vec![message.text_of(part).into_owned()];
        let value = part.text.of(message.raw());
        let bare = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(text::decode);
        let is_call = matches!(part.kind, PartKind::ToolCall | PartKind::ServerToolCall);
        if is_call || bare.is_none() {
            // What is no JSON has its own text alone.
            let _ = strings(&mut Cursor::new(bare.as_deref().unwrap_or(value)), &mut texts);
        }
        Self(texts)
    }
}

fn strings(cursor: &mut Cursor<'_>, found: &mut Vec<String>) -> Result<(), JsonError> {
    match cursor.kind()? {
        Kind::String => found.push(cursor.text()?.into_owned()),
        Kind::Object => cursor.object(|_, cursor| strings(cursor, found))?,
        Kind::Array => cursor.array(|_, cursor| strings(cursor, found))?,
        Kind::Null | Kind::Bool | Kind::Number => drop(cursor.skip()?),
    }
    Ok(())
}
