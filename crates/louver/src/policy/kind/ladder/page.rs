//! The ledger as a page of text within its bound.

use super::ledger::Ledger;
use super::names::{key, names};
use super::ranked::{Rank, Ranked};
use super::texts::Place;
use crate::address::Address;
use crate::edit::clip;
use crate::plan::{Source, Written};
use crate::policy::PolicyInput;
use crate::tokens::Millitokens;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// What the ledger starts with.
const TITLE: &str = "[Conversation Ledger]";
/// Characters of a line that are kept.
pub(super) const LINE_CHARS: usize = 400;
/// Lines and names that are weighed against each other at most; a page has room for fewer.
pub(super) const MOST_LINES: usize = 1_024;
pub(super) const MOST_NAMES: usize = 1_024;
/// Characters of a user's request that are kept.
const REQUEST_CHARS: usize = 1_200;
/// Runs of messages that the opening names.
const RUNS_NAMED: usize = 8;
/// Entries in a row that find no room before a section is closed: the room that is left is too small for most.
const MISSES: usize = 48;
/// A page of fewer characters says nothing.
const SMALLEST_PAGE_CHARS: u64 = 160;
/// A first reading of a bound in tokens as characters; what is written is counted.
const CHARS_PER_TOKEN: u64 = 4;

/// A name that does not stand in its line as written, but for escapes.
pub(super) const NOWHERE: u16 = u16::MAX;

/// A name, and the line in which it last stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) message: u32,
    pub(super) place: Place,
    pub(super) key: u64,
    /// Where in the line as written, or [`NOWHERE`].
    pub(super) at: u16,
    pub(super) len: u16,
}

/// What could be written down, the worthiest first.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    ledger: &'a Ledger,
    input: &'a PolicyInput<'a>,
    lines: Ranked<Rank>,
    names: Ranked<(Rank, u64)>,
    /// Arguments that were decoded to find lines in them.
    decoded: RefCell<FxHashMap<(usize, usize), Rc<str>>>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        input: &'a PolicyInput<'a>,
        lines: Ranked<Rank>,
        names: Ranked<(Rank, u64)>,
    ) -> Self {
        Self { ledger, input, lines, names, decoded: RefCell::default() }
    }

    /// A page of at most so many tokens, and what it costs; empty where there is no room for one.
    pub(super) fn page_within(&self, most_tokens: u64, lines_percent: u8) -> (Written, Millitokens) {
        let mut max_chars = most_tokens.saturating_mul(CHARS_PER_TOKEN);
        while max_chars >= SMALLEST_PAGE_CHARS {
            let page = self.page(usize::try_from(max_chars).unwrap_or(usize::MAX), usize::from(lines_percent));
            let amount = self.input.count_text(&page.text);
            let tokens = self.input.tokens(amount);
            if tokens <= most_tokens {
                return (page, amount);
            }
            max_chars = (max_chars * most_tokens / tokens).min(max_chars * 19 / 20);
        }
        (Written::default(), Millitokens::ZERO)
    }

    fn page(&self, max_chars: usize, lines_percent: usize) -> Written {
        let ledger = self.ledger;
        let mut page = Page::new(max_chars);
        page.line(TITLE);
        if let Some(heading) = self.input.ledger_heading() {
            page.written.text.push(' ');
            page.written.text.push_str(heading);
        }
        page.line(&self.opening());
        page.section(
            "Requests:",
            max_chars / 5,
            ledger.requests.iter().rev().map(|(at, part)| self.request(*at, *part)),
        );
        let entry = |(text, message)| Entry::quoting(text, message);
        page.section("Files written:", max_chars / 16, ledger.written.newest().map(entry));
        let commands = ledger.commands.iter().rev();
        let commands = commands.map(|c| Entry { after: c.outcome, ..Entry::quoting(&*c.text, c.message) });
        page.section("Commands:", max_chars / 8, commands);
        let lines = self.lines.iter().map(|rank| {
            let (message, place) = rank.line();
            Entry::quoting(self.line(message as usize, place), message as usize)
        });
        page.section("Lines:", max_chars / 100 * lines_percent, lines);
        let only_read = ledger.read.newest_besides(&ledger.written);
        page.section("Files read:", max_chars / 16, only_read.map(entry));
        let names = self.names.iter().map(|(_, key)| key);
        page.names("Names:", names, |key| ledger.name(key), |name, text| self.spell(name, text));
        page.written
    }

    fn opening(&self) -> String {
        let folded = &self.ledger.folded;
        let count: usize = folded.iter().map(ExactSizeIterator::len).sum();
        let shown = Address::of_ranges(folded.iter().rev().take(RUNS_NAMED).cloned());
        let tag = shown.as_ref().map(Address::tag).unwrap_or_default();
        format!("{count} earlier messages are folded here: {tag}. What they said last about each name follows.")
    }

    fn request(&self, message: usize, part: usize) -> Entry<'static> {
        let original = self.input.original(message);
        let text = original.shape().parts.get(part).map(|part| original.text_of(part)).unwrap_or_default();
        Entry { before: Address::of(message).tag(), ..Entry::quoting(clip(text.trim(), REQUEST_CHARS), message) }
    }

    fn line(&self, message: usize, place: Place) -> String {
        match place.part() {
            None => shortened(&place.line(self.input.original(message).raw())).to_owned(),
            Some(part) => shortened(&place.line(&self.decoded(message, part))).to_owned(),
        }
    }

    /// The decoded text of a part, decoded once.
    fn decoded(&self, message: usize, part: usize) -> Rc<str> {
        let original = self.input.original(message);
        let mut decoded = self.decoded.borrow_mut();
        let decode = || original.shape().parts.get(part).map(|part| original.text_of(part)).unwrap_or_default().into();
        Rc::clone(decoded.entry((message, part)).or_insert_with(decode))
    }

    /// Writes a name as it is written in its line; nothing where it does not stand there.
    fn spell(&self, wanted: &Name, out: &mut String) {
        let (message, len) = (wanted.message as usize, usize::from(wanted.len));
        let original = self.input.original(message);
        let source;
        let text = match wanted.place.part() {
            None => original.raw(),
            Some(part) => {
                source = self.decoded(message, part);
                &*source
            }
        };
        let raw = wanted.place.raw(text);
        let at = (wanted.at != NOWHERE).then_some(usize::from(wanted.at));
        if let Some(name) = at.and_then(|at| raw.get(at..at + len)) {
            return out.push_str(name);
        }
        let mut is_found = false;
        names(&wanted.place.line(text), |_, name| {
            if !is_found && name.len() == len && key(name) == wanted.key {
                out.push_str(name);
                is_found = true;
            }
        });
    }
}

/// The first characters of a line.
pub(super) fn shortened(line: &str) -> &str {
    if line.len() <= LINE_CHARS {
        return line;
    }
    line.char_indices().nth(LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// Something that a message says, and our own words before and behind it.
struct Entry<'t> {
    before: String,
    quoted: Cow<'t, str>,
    after: &'static str,
    message: usize,
}

impl<'t> Entry<'t> {
    fn quoting(quoted: impl Into<Cow<'t, str>>, message: usize) -> Self {
        Self { before: String::new(), quoted: quoted.into(), after: "", message }
    }

    fn len(&self) -> usize {
        let joined = |words: &str, joint: &str| if words.is_empty() { 0 } else { words.len() + joint.len() };
        joined(&self.before, " ") + self.quoted.len() + joined(self.after, ARROW)
    }

    /// What it is known by: the same as that of a bare line where it is nothing else.
    fn key(&self) -> u64 {
        key(&self.before) ^ key(&self.quoted) ^ key(self.after)
    }
}

/// Stands between a command and what came of it.
const ARROW: &str = " -> ";

/// A text that fills up to its bound.
struct Page {
    written: Written,
    max_chars: usize,
    standing: FxHashSet<u64>,
}

impl Page {
    fn new(max_chars: usize) -> Self {
        Self { written: Written::default(), max_chars, standing: FxHashSet::default() }
    }

    fn line(&mut self, line: &str) {
        if !self.written.text.is_empty() {
            self.written.text.push('\n');
        }
        self.written.text.push_str(line);
    }

    fn entry(&mut self, entry: &Entry<'_>) {
        self.line(&entry.before);
        if !entry.before.is_empty() {
            self.written.text.push(' ');
        }
        let start = self.written.text.len();
        self.written.text.push_str(&entry.quoted);
        self.took(start, entry.message);
        if !entry.after.is_empty() {
            self.written.text.push_str(ARROW);
            self.written.text.push_str(entry.after);
        }
    }

    /// Takes note that everything from `start` on was taken from a message.
    fn took(&mut self, start: usize, message: usize) {
        self.written.sources.push(Source { range: start..self.written.text.len(), message });
    }

    fn room(&self) -> usize {
        self.max_chars.saturating_sub(self.written.text.len())
    }

    /// A heading and as many entries as fit its share; an entry that stands on the page already is not written again.
    fn section<'t>(&mut self, heading: &str, share: usize, entries: impl IntoIterator<Item = Entry<'t>>) {
        let mut room = share.min(self.room().saturating_sub(heading.len() + 1));
        let mut is_open = false;
        let mut misses = 0;
        for entry in entries {
            if room < 16 || misses > MISSES {
                break;
            }
            misses += usize::from(entry.len() >= room);
            if entry.quoted.is_empty() || entry.len() >= room || !self.standing.insert(entry.key()) {
                continue;
            }
            misses = 0;
            if !is_open {
                self.line(heading);
                is_open = true;
            }
            room -= entry.len() + 1;
            self.entry(&entry);
        }
    }

    /// What room is left is filled with bare names that do not stand on the page yet.
    fn names(
        &mut self,
        heading: &str,
        keys: impl Iterator<Item = u64>,
        find: impl Fn(u64) -> Option<Name>,
        spell: impl Fn(&Name, &mut String),
    ) {
        if self.room() < 64 {
            return;
        }
        let mut standing = FxHashSet::with_capacity_and_hasher(MOST_NAMES, FxBuildHasher);
        names(&self.written.text, |_, name| {
            standing.insert(key(name));
        });
        let mut misses = 0;
        let mut is_open = false;
        for name in keys.filter(|key| !standing.contains(key)).filter_map(find) {
            if self.room() < 8 || misses > MISSES {
                break;
            }
            misses += 1;
            if usize::from(name.len) + 1 >= self.room() {
                continue;
            }
            let end = self.written.text.len();
            if !is_open {
                self.line(heading);
            }
            self.written.text.push(' ');
            let start = self.written.text.len();
            spell(&name, &mut self.written.text);
            if self.written.text.len() > start {
                (is_open, misses) = (true, 0);
                self.took(start, name.message as usize);
            } else {
                self.written.text.truncate(end);
            }
        }
    }
}
