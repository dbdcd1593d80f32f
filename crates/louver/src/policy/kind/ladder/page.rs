//! The ledger as a page of text within its bound, for somebody who has to go on from it.
//!
//! Requests with what came of them, from the first to the last; what the model concluded and what was demanded; what came
//! of commands; then, file by file and only of its latest version, the passages whose names are likely needed again. All
//! of it with addresses, cut at the ends of sentences or lines.

use super::labels::Label;
use super::ledger::{Ledger, Request};
use super::names::key;
use super::prose::{Passage, cut_at_end, overlapping};
use super::ranked::{Rank, Ranked};
use super::texts::Place;
use super::worth::CHANCE_OF_A_MILLION;
use crate::address::Address;
use crate::plan::{Source, Written};
use crate::policy::PolicyInput;
use crate::tokens::Millitokens;
use memchr::memmem::Finder;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::rc::Rc;

/// What the ledger starts with.
const TITLE: &str = "[Conversation Ledger]";
/// Characters of a line that are kept.
pub(super) const LINE_CHARS: usize = 400;
/// Lines that are weighed against each other at most; a page has room for fewer.
pub(super) const MOST_LINES: usize = 2_048;
/// What a line takes besides its characters, and the first of a message for its address.
const LINE_COST: u64 = 16;
const ADDRESS_COST: u64 = 24;
/// The finest difference between what lines are worth per character.
const DENSITY_STEPS: u64 = 16;
/// What a recall costs in input tokens: the view is read once more, and a passage is written.
const RECALL_TOKENS: u64 = 2_500;
/// Runs of messages that the opening names.
const RUNS_NAMED: usize = 8;
/// Entries in a row that find no room before a section is closed: the room that is left is too small for most.
const MISSES: usize = 48;
/// A page of fewer characters says nothing.
const SMALLEST_PAGE_CHARS: u64 = 160;
/// A first reading of a bound in tokens as characters; what is written is counted.
const CHARS_PER_TOKEN: u64 = 4;
/// Requests that get more room than the others: the newest.
const NEWEST_REQUESTS: usize = 3;
/// What an entry takes besides what it quotes: its address.
const ENTRY_COST: usize = 16;
/// The shortest that a request is cut to.
const SHORTEST_REQUEST: usize = 80;
/// Stands between lines that did not stand together.
const GAP: &str = "…";

/// How the page is filled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling {
    /// Tokens of requests, conclusions, requirements and commands at most.
    pub(super) prose_tokens: u64,
    /// Lines on each side that are kept with a line.
    pub(super) lines_beside: usize,
    /// What a line has to be worth per character.
    least_density: u64,
}

impl Filling {
    /// What a token costs until the next cut comes in millionths of an input token.
    pub(super) fn new(prose_tokens: u64, lines_beside: u8, worth_percent: u32, keep_price: u64) -> Self {
        // chance * recall >= percent / 100 * characters / 4 * price, where chance is a millionth of the worth times a constant.
        let saved_by_a_million = u128::from(CHANCE_OF_A_MILLION * RECALL_TOKENS) * 100 * u128::from(CHARS_PER_TOKEN);
        let asked = u128::from(worth_percent) * u128::from(keep_price) * 10_000 * u128::from(DENSITY_STEPS);
        let least_density = u64::try_from(asked / saved_by_a_million).unwrap_or(u64::MAX);
        Self { prose_tokens, lines_beside: usize::from(lines_beside), least_density }
    }
}

/// What something is worth per character, in steps.
pub(super) fn density(worth: u64, chars: u64) -> u64 {
    worth.saturating_mul(DENSITY_STEPS) / (chars + LINE_COST)
}

/// What could be written down, the worthiest first.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    ledger: &'a Ledger,
    input: &'a PolicyInput<'a>,
    /// What each line is worth.
    lines: FxHashMap<(u32, Place), u64>,
    ranked: Ranked<Rank>,
    /// Arguments that were decoded to find lines in them.
    decoded: RefCell<FxHashMap<(usize, usize), Rc<str>>>,
}

impl<'a> Candidates<'a> {
    pub(super) fn new(
        ledger: &'a Ledger,
        input: &'a PolicyInput<'a>,
        lines: FxHashMap<(u32, Place), u64>,
        ranked: Ranked<Rank>,
    ) -> Self {
        Self { ledger, input, lines, ranked, decoded: RefCell::default() }
    }

    /// A page of at most so many tokens, and what it costs; empty where there is no room for one.
    pub(super) fn page_within(&self, most_tokens: u64, filling: Filling) -> (Written, Millitokens) {
        let mut max_chars = most_tokens.saturating_mul(CHARS_PER_TOKEN);
        while max_chars >= SMALLEST_PAGE_CHARS {
            let page = self.page(usize::try_from(max_chars).unwrap_or(usize::MAX), filling);
            let amount = self.input.count_text(&page.text);
            let tokens = self.input.tokens(amount);
            if tokens <= most_tokens {
                return (page, amount);
            }
            max_chars = (max_chars * most_tokens / tokens).min(max_chars * 19 / 20);
        }
        (Written::default(), Millitokens::ZERO)
    }

    fn page(&self, max_chars: usize, filling: Filling) -> Written {
        let mut page = Page::new(max_chars);
        page.line(TITLE);
        if let Some(heading) = self.input.ledger_heading() {
            page.written.text.push(' ');
            page.written.text.push_str(heading);
        }
        page.line(&self.opening());
        let prose = usize::try_from(filling.prose_tokens.saturating_mul(CHARS_PER_TOKEN)).unwrap_or(usize::MAX);
        let mut left = prose.min(max_chars / 2);
        // Each takes of its share what it needs, and conclusions whatever the others leave: where one request is worked
        // on all the time, they are all that is known of it.
        let (all, mut said) = (left, String::new());
        let mut take = |entries: Vec<Entry>| {
            left = left.saturating_sub(entries.iter().map(Entry::len).sum());
            entries.iter().for_each(|entry| said.push_str(&entry.quoted));
            entries
        };
        let requests = take(self.requests(all * 2 / 5));
        let steps = take(self.steps(all / 10));
        let commands = take(self.commands(all / 8));
        let files = take(self.written_files(all / 12));
        let demands = take(self.chosen(self.ledger.requirements.iter(), all / 6, ""));
        let concluded = self.chosen(self.ledger.conclusions.iter(), left, &said);
        page.section("Requests and what came of them:", requests);
        page.section("Concluded:", concluded);
        page.section("Demanded:", demands);
        page.section("Steps, as last written down:", steps);
        page.section("Commands, each with what came of it last:", commands);
        page.section("Files written:", files);
        self.quotes(&mut page, filling);
        page.written
    }

    fn opening(&self) -> String {
        let folded = &self.ledger.folded;
        let count: usize = folded.iter().map(ExactSizeIterator::len).sum();
        let shown = Address::of_ranges(folded.iter().rev().take(RUNS_NAMED).cloned());
        let tag = shown.as_ref().map(Address::tag).unwrap_or_default();
        format!("{count} earlier messages are folded here: {tag}. What matters of them follows, oldest first.")
    }

    /// Every request with what came of it: the newest at length, the others as short as the room demands, without what
    /// came of them before any is left out.
    fn requests(&self, room: usize) -> Vec<Entry> {
        let requests = &self.ledger.requests;
        let others = requests.len().saturating_sub(NEWEST_REQUESTS);
        let newest_chars = room / if others == 0 { 4 } else { 8 };
        let left = room.saturating_sub(2 * NEWEST_REQUESTS * newest_chars);
        let each = (left / (2 * others.max(1))).saturating_sub(ENTRY_COST);
        let (each, has_outcome) = match each {
            SHORTEST_REQUEST.. => (each.min(newest_chars.max(SHORTEST_REQUEST)), true),
            _ => ((left / others.max(1)).saturating_sub(ENTRY_COST).max(SHORTEST_REQUEST), false),
        };
        let (mut entries, mut room) = (Vec::new(), room);
        for (age, request) in requests.iter().rev().enumerate() {
            let is_new = age < NEWEST_REQUESTS;
            let entry = self.request(request, if is_new { newest_chars } else { each }, is_new || has_outcome);
            // A single word is understood only beside what came of it.
            if let [asked] = &entry[..]
                && !is_new
                && !asked.quoted.contains(char::is_whitespace)
            {
                continue;
            }
            let len: usize = entry.iter().map(Entry::len).sum();
            if len > room {
                break;
            }
            room -= len;
            entries.push(entry);
        }
        entries.into_iter().rev().flatten().collect()
    }

    fn request(&self, request: &Request, chars: usize, has_outcome: bool) -> Vec<Entry> {
        let tag = Address::tag_of;
        let quote = |(message, part): (usize, usize)| cut_at_end(self.text(message, part).trim(), chars).to_owned();
        let asked = request.asked.map(|at| Entry::below(format!("{} user:", tag(at.0)), quote(at), at.0));
        let came = request.came_of_it.filter(|_| has_outcome || request.asked.is_none());
        let came = came.map(|at| Entry::below(format!("-> {}", tag(at.0)), quote(at), at.0));
        asked.into_iter().chain(came).filter(|entry| !entry.quoted.is_empty()).collect()
    }

    /// The passages whose signs count most, newer ones first among equals, as many as there is room for, in their order;
    /// none that was said already.
    fn chosen<'p>(&self, passages: impl Iterator<Item = &'p Passage>, room: usize, said: &str) -> Vec<Entry> {
        let mut order: Vec<(u32, usize, &Passage)> =
            passages.enumerate().map(|(at, one)| (one.score, at, one)).collect();
        order.sort_by_key(|(score, at, _)| std::cmp::Reverse((*score, *at)));
        let (mut room, mut misses, mut taken) = (room, 0, Vec::new());
        for (_, at, passage) in order {
            if misses > MISSES {
                break;
            }
            if passage.len + ENTRY_COST > room {
                misses += 1;
                continue;
            }
            let text = self.text(passage.message, passage.part);
            let quoted = text.get(passage.start..passage.start + passage.len).unwrap_or_default();
            if !quoted.is_empty() && !is_said(said, quoted) {
                room -= passage.len + ENTRY_COST;
                taken.push((at, Entry::below(Address::tag_of(passage.message), quoted.to_owned(), passage.message)));
            }
        }
        taken.sort_by_key(|(at, _)| *at);
        taken.into_iter().map(|(_, entry)| entry).collect()
    }

    /// What the model last wrote down to do.
    fn steps(&self, room: usize) -> Vec<Entry> {
        let Some((message, steps)) = &self.ledger.plan else {
            return Vec::new();
        };
        let tag = Address::tag_of(*message);
        let (mut room, mut entries) = (room, Vec::new());
        // What is open matters more than what is done.
        let mut order: Vec<(bool, usize)> = steps.iter().enumerate().map(|(at, step)| (step.is_done, at)).collect();
        order.sort_unstable();
        for (is_done, at) in order {
            let before = format!("{tag} {}: ", if is_done { "done" } else { "open" });
            let quoted = cut_at_end(steps[at].text.trim(), LINE_CHARS).to_owned();
            let entry = Entry::new(before, quoted, *message);
            if entry.len() <= room {
                room -= entry.len();
                entries.push((at, entry));
            }
        }
        entries.sort_by_key(|(at, _)| *at);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    fn commands(&self, room: usize) -> Vec<Entry> {
        let (mut room, mut entries) = (room, Vec::new());
        for command in self.ledger.commands.iter().rev() {
            let tag = Address::tag_of(command.message);
            let mut entry = vec![Entry::new(format!("{tag} $ "), command.text.to_string(), command.message)];
            let decisive = command.decisive.as_ref().filter(|(line, _)| line.len() < room / 2);
            let after = format!(" -> {}", command.outcome);
            entry.push(match decisive {
                Some((line, message)) => Entry::joined(format!("{after}: "), line.to_string(), *message),
                None => Entry::joined(after, String::new(), command.message),
            });
            let len: usize = entry.iter().map(Entry::len).sum();
            if len > room {
                break;
            }
            room -= len;
            entries.push(entry);
        }
        entries.into_iter().rev().flatten().collect()
    }

    fn written_files(&self, room: usize) -> Vec<Entry> {
        let (mut room, mut seen, mut entries) = (room, FxHashSet::default(), Vec::new());
        for (path, message) in self.ledger.labels.written().filter(|(path, _)| path.len() < LINE_CHARS) {
            if !seen.insert(path) {
                continue;
            }
            let entry = Entry::new(format!("{} ", Address::tag_of(message)), path.to_owned(), message);
            if entry.len() > room {
                break;
            }
            room -= entry.len();
            entries.push(entry);
        }
        entries.reverse();
        entries
    }

    /// The decoded text of a part, decoded once.
    fn text(&self, message: usize, part: usize) -> Rc<str> {
        let original = self.input.original(message);
        let mut decoded = self.decoded.borrow_mut();
        let decode = || original.shape().parts.get(part).map(|part| original.text_of(part)).unwrap_or_default().into();
        Rc::clone(decoded.entry((message, part)).or_insert_with(decode))
    }

    /// What a place is a place in: the raw text of its message or the decoded text of a part.
    fn with_source<T>(&self, message: u32, place: Place, read: impl FnOnce(&str) -> T) -> T {
        match place.part() {
            None => read(self.input.original(message as usize).raw()),
            Some(part) => read(&self.text(message as usize, part)),
        }
    }

    /// A line and so many on each side, in order.
    fn passage(&self, message: u32, place: Place, beside: usize, passage: &mut Vec<Place>) {
        passage.clear();
        self.with_source(message, place, |source| {
            let mut first = place;
            while passage.len() < beside
                && let Some(before) = first.before(source)
            {
                first = before;
                passage.push(before);
            }
            passage.reverse();
            passage.push(place);
            let (mut last, most) = (place, passage.len() + beside);
            while passage.len() < most
                && let Some(behind) = last.behind(source)
            {
                last = behind;
                passage.push(behind);
            }
        });
    }

    /// The lines that pay for their place, the worthiest first as long as there is room, in order of their places.
    fn worth_quoting(&self, room: usize, filling: Filling, said: &Said) -> Vec<(u32, Place)> {
        let (mut room, mut misses) = (room as u64, 0);
        let mut taken: FxHashSet<(u32, Place)> = FxHashSet::with_capacity_and_hasher(MOST_LINES, FxBuildHasher);
        let mut addressed: FxHashSet<u32> = FxHashSet::default();
        let mut passage = Vec::new();
        for rank in self.ranked.iter() {
            let (message, place) = rank.line();
            if rank.density() < filling.least_density || misses > MISSES {
                break;
            }
            if taken.contains(&(message, place)) || self.is_said_line(said, message, place) {
                continue;
            }
            let address = if addressed.contains(&message) { 0 } else { ADDRESS_COST };
            let mut pays = |beside: usize| {
                self.passage(message, place, beside, &mut passage);
                passage.retain(|place| !taken.contains(&(message, *place)));
                let (worth, chars) = self.worth_and_chars(message, &passage);
                (density(worth, chars + address) >= filling.least_density).then_some(chars)
            };
            // Where what stands beside it is not worth its place, the line may be by itself.
            let Some(chars) = pays(filling.lines_beside).or_else(|| pays(0)) else {
                continue;
            };
            if chars + address > room {
                misses += 1;
                continue;
            }
            (room, misses) = (room - chars - address, 0);
            addressed.insert(message);
            taken.extend(passage.iter().map(|place| (message, *place)));
        }
        let mut taken: Vec<(u32, Place)> = taken.into_iter().collect();
        taken.sort_unstable();
        taken
    }

    /// What lines of a message are worth together, and the characters that they take.
    fn worth_and_chars(&self, message: u32, lines: &[Place]) -> (u64, u64) {
        let worth_of = |place: &Place| self.lines.get(&(message, *place)).copied().unwrap_or(0);
        let chars = |place: &Place| place.len().min(LINE_CHARS) as u64 + 1;
        (lines.iter().map(worth_of).sum(), lines.iter().map(chars).sum())
    }

    /// Whether a line stands on the page already.
    fn is_said_line(&self, said: &Said, message: u32, place: Place) -> bool {
        let mut decoded = String::new();
        said.messages.contains(&message)
            && self.with_source(message, place, |source| {
                said.lines.contains(&key(shortened(place.line(source, &mut decoded))))
            })
    }

    /// What is quoted, file by file; what is about no file stands where it was said.
    fn quotes(&self, page: &mut Page, filling: Filling) {
        let room = page.room().saturating_sub(HEADING.len() + 1);
        let said = Said::of(&page.written);
        let taken = self.worth_quoting(room, filling, &said);
        if taken.is_empty() {
            return;
        }
        page.line(HEADING);
        let mut decoded = String::new();
        let mut last_group = None;
        for Quoted { group, message, lines } in self.by_file(&taken) {
            let is_same_file = last_group == Some(group);
            last_group = Some(group);
            let mut last: Option<Place> = None;
            for (_, place) in lines {
                if last.is_none() {
                    self.with_source(message, *place, |source| {
                        self.label(page, message, is_same_file, place.line(source, &mut decoded));
                    });
                }
                if filling.lines_beside > 0 && last.is_some_and(|last| !self.are_neighbours(message, last, *place)) {
                    page.line(GAP);
                }
                self.with_source(message, *place, |source| {
                    page.line("");
                    page.quote(shortened(place.line(source, &mut decoded)), message as usize);
                });
                last = Some(*place);
            }
        }
    }

    /// Lines in order of their places, message by message: those about the same file together, where its newest stands.
    fn by_file<'t>(&self, taken: &'t [(u32, Place)]) -> Vec<Quoted<'t>> {
        let messages = || taken.chunk_by(|a, b| a.0 == b.0).map(|lines| (lines[0].0, lines));
        let file = |message: u32| self.ledger.labels.get(message).filter(|label| label.is_file);
        let mut newest: FxHashMap<&str, u32> = FxHashMap::default();
        for (message, label) in messages().filter_map(|(message, _)| Some((message, file(message)?))) {
            // Messages come in order.
            newest.insert(&label.text, message);
        }
        let group = |message: u32| file(message).and_then(|label| newest.get(&*label.text)).copied().unwrap_or(message);
        let mut quoted: Vec<Quoted<'_>> =
            messages().map(|(message, lines)| Quoted { group: group(message), message, lines }).collect();
        quoted.sort_unstable_by_key(|quoted| (quoted.group, quoted.message));
        quoted
    }

    fn are_neighbours(&self, message: u32, before: Place, place: Place) -> bool {
        self.with_source(message, place, |source| before.behind(source) == Some(place))
    }

    /// Says where the lines below stand, but not what the first of them says itself.
    fn label(&self, page: &mut Page, message: u32, is_same_file: bool, first: &str) {
        page.line(&Address::tag_of(message as usize));
        let label = self.ledger.labels.get(message).filter(|label| !is_same_file && label.text.len() < LINE_CHARS);
        if let Some(Label { text, named_in, is_file, .. }) = label {
            page.written.text.push_str(if *is_file { "" } else { " $" });
            if !first.starts_with(&**text) {
                page.written.text.push(' ');
                page.quote(text, *named_in);
            }
        }
    }
}

const HEADING: &str = "Quoted, file by file:";

/// The whole lines of a page, and the messages that they are of.
struct Said {
    lines: FxHashSet<u64>,
    messages: FxHashSet<u32>,
}

impl Said {
    fn of(page: &Written) -> Self {
        let messages = page.sources.iter().map(|source| u32::try_from(source.message).unwrap_or(u32::MAX));
        Self {
            lines: page.text.lines().map(|line| key(shortened(line.trim()))).collect(),
            messages: messages.collect(),
        }
    }
}

/// The lines that are quoted of a message.
struct Quoted<'t> {
    /// The newest message about the same file, or the message itself.
    group: u32,
    message: u32,
    lines: &'t [(u32, Place)],
}

/// What a search for more bytes takes to prepare is more than what it saves: most of what is looked for was never said.
const SOUGHT_BYTES: usize = 32;

/// Whether a text holds another.
fn is_said(said: &str, quoted: &str) -> bool {
    let (said, quoted) = (said.as_bytes(), quoted.as_bytes());
    let start = Finder::new(&quoted[..quoted.len().min(SOUGHT_BYTES)]);
    overlapping(&start, said).any(|at| said[at..].starts_with(quoted))
}

/// The first characters of a line.
fn shortened(line: &str) -> &str {
    if line.len() <= LINE_CHARS {
        return line;
    }
    line.char_indices().nth(LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// Something that a message says, and our own words before it.
struct Entry {
    before: String,
    quoted: String,
    message: usize,
    how: Layout,
}

/// Where an entry stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// On a line of its own.
    Own,
    /// It goes on with the line before.
    Joined,
    /// What is quoted begins on a line of its own, below our own words.
    Below,
}

impl Entry {
    fn new(before: String, quoted: String, message: usize) -> Self {
        Self { before, quoted, message, how: Layout::Own }
    }

    fn joined(before: String, quoted: String, message: usize) -> Self {
        Self { how: Layout::Joined, ..Self::new(before, quoted, message) }
    }

    fn below(before: String, quoted: String, message: usize) -> Self {
        Self { how: Layout::Below, ..Self::new(before, quoted, message) }
    }

    fn len(&self) -> usize {
        self.before.len() + self.quoted.len() + 1
    }
}

/// No page but one of a very large bound outgrows this.
const LIKELY_BYTES: usize = 65_536;

/// A text that fills up to its bound.
struct Page {
    written: Written,
    max_chars: usize,
}

impl Page {
    fn new(max_chars: usize) -> Self {
        let text = String::with_capacity(max_chars.min(LIKELY_BYTES));
        Self { written: Written { text, sources: Vec::new() }, max_chars }
    }

    fn line(&mut self, line: &str) {
        if !self.written.text.is_empty() {
            self.written.text.push('\n');
        }
        self.written.text.push_str(line);
    }

    fn entry(&mut self, entry: &Entry) {
        match entry.how {
            Layout::Joined => self.written.text.push_str(&entry.before),
            Layout::Own => self.line(&entry.before),
            Layout::Below => {
                self.line(&entry.before);
                self.written.text.push('\n');
            }
        }
        self.quote(&entry.quoted, entry.message);
    }

    /// Goes on with something that a message says.
    fn quote(&mut self, quoted: &str, message: usize) {
        let start = self.written.text.len();
        self.written.text.push_str(quoted);
        if !quoted.is_empty() {
            self.written.sources.push(Source { range: start..self.written.text.len(), message });
        }
    }

    fn room(&self) -> usize {
        self.max_chars.saturating_sub(self.written.text.len())
    }

    /// A heading and its entries.
    fn section(&mut self, heading: &str, entries: impl IntoIterator<Item = Entry>) {
        let mut entries = entries.into_iter().peekable();
        if entries.peek().is_some() {
            self.line(heading);
        }
        entries.for_each(|entry| self.entry(&entry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_found_wherever_it_begins() {
        let repeated = "ab".repeat(SOUGHT_BYTES);
        let quoted = format!("{repeated}c");
        // The start of what is quoted stands before it, too, and overlaps it.
        assert!(is_said(&format!("ab{quoted}."), &quoted));
        assert!(!is_said(&repeated, &quoted));
        assert!(is_said("It is so.", "so") && !is_said("", "so"));
    }
}
