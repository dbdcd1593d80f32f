//! What is written down of messages that are folded: made without a model, merged from cut to cut, of bounded size.
//!
//! Which lines are worth their place was read off real conversations: a name that the model has used itself is referred
//! to again about three times as often as one that only a tool printed, paths and dotted names far more often than
//! numbers and hashes, and recent ones more often than old ones. So each name brings along the line in which it last
//! stood, and lines are taken by what their names are worth per character. A name that still stands in the view needs
//! no place here.
//!
//! The log keeps every text, so the ledger holds none: a name is a hash, a line is where it stands.

use super::names::{NameKind, RawNames, key};
use super::page::{Candidates, NOWHERE, Name};
use super::ranked::{Rank, Ranked};
use super::texts::{Place, texts};
use crate::json::{Cursor, Kind, text};
use crate::plain_text::{Speaker, edits_file};
use crate::policy::PolicyInput;
use crate::wire::{Message, Part, PartKind, Role};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What a line and a name take besides their characters, as it is best taken into account when they are weighed.
const LINE_COST: u64 = 16;
const NAME_COST: u64 = 2;
/// Names that are remembered: once there are twice as many, those worth least are forgotten. A page shows a few hundred.
const FACTS: usize = 2_048;
/// Requests, paths and commands that are remembered, the newest.
const REQUESTS: usize = 256;
const PATHS: usize = 256;
const COMMANDS: usize = 24;

/// What is known of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// The message and the line in which it last stood.
    pub(super) message: u32,
    pub(super) place: Place,
    /// Where in the line as written, or [`NOWHERE`].
    name_at: u16,
    name_len: u16,
    kind: NameKind,
    speaker: Speaker,
    own_uses: u8,
    /// Whether a file edit's arguments held it.
    is_edited: bool,
    messages: u8,
}

impl Fact {
    fn named(&self, key: u64) -> Name {
        Name { message: self.message, place: self.place, key, at: self.name_at, len: self.name_len }
    }
}

/// A command and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Command {
    id: Arc<str>,
    /// The message that holds it.
    pub(super) message: usize,
    pub(super) text: Arc<str>,
    pub(super) outcome: &'static str,
}

/// A name, and where in its message it stands.
#[derive(Clone, Copy, Debug)]
struct Mention {
    key: u64,
    place: Place,
    name_at: u16,
    name_len: u16,
    kind: NameKind,
    speaker: Speaker,
    is_edit: bool,
}

/// Everything that was folded so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// The names of messages that stand in the view and were looked through at the last cut: they are folded sooner or
    /// later, and reading them again would cost more than all the rest. They follow from the messages alone.
    standing: FxHashMap<usize, Arc<[Mention]>>,
    facts: FxHashMap<u64, Fact>,
    /// Message and part of what the user asked.
    pub(super) requests: VecDeque<(usize, usize)>,
    pub(super) read: Paths,
    pub(super) written: Paths,
    pub(super) commands: VecDeque<Command>,
    pub(super) folded: Vec<Range<usize>>,
    /// Whether thinking is read like any other text.
    pub(super) quotes_thinking: bool,
}

/// Paths, each once with the message that named it last, that one at the end; what they are known by stands beside them.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(VecDeque<(u64, Arc<str>, usize)>);

impl Paths {
    fn note(&mut self, path: &str, message: usize) {
        let key = key(path);
        let known = self.0.iter().rposition(|(known, ..)| *known == key).and_then(|position| self.0.remove(position));
        let path = known.map_or_else(|| path.into(), |(_, path, _)| path);
        self.0.push_back((key, path, message));
        if self.0.len() > PATHS {
            self.0.pop_front();
        }
    }

    /// The newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().rev().map(|(_, path, message)| (&**path, *message))
    }

    /// The same without those that others name, too.
    pub(super) fn newest_besides(&self, others: &Self) -> impl Iterator<Item = (&str, usize)> {
        let is_other = |key: u64| others.0.iter().any(|(other, ..)| *other == key);
        let own = self.0.iter().rev().filter(move |(key, ..)| !is_other(*key));
        own.map(|(_, path, message)| (&**path, *message))
    }
}

impl Ledger {
    /// Takes a message in. O(its bytes).
    pub(super) fn fold(&mut self, index: usize, message: &Message) {
        match self.folded.last_mut() {
            Some(range) if range.end == index => range.end += 1,
            _ => self.folded.push(index..index + 1),
        }
        self.note_names(index, message);
        for (at, part) in message.shape().parts.iter().enumerate() {
            match part.kind {
                PartKind::ToolCall => self.note_call(index, message, part),
                PartKind::ToolResult => self.note_result(message, part),
                PartKind::Text if is_request(message, part) => {
                    self.requests.push_back((index, at));
                    if self.requests.len() > REQUESTS {
                        self.requests.pop_front();
                    }
                }
                _ => {}
            }
        }
    }

    fn note_names(&mut self, index: usize, message: &Message) {
        let facts = &mut self.facts;
        let known = self.standing.remove(&index);
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        match known {
            Some(known) => known.iter().for_each(|mention| note(facts, index, *mention)),
            None => mentions(message, self.quotes_thinking, |mention| note(facts, index, mention)),
        }
    }

    /// Looks through what stays in the view, each message once.
    pub(super) fn look_through(&mut self, input: &PolicyInput<'_>, left: &[Range<usize>]) {
        let quotes_thinking = self.quotes_thinking;
        let mut found = Vec::new();
        for index in left.iter().cloned().flatten() {
            self.standing.entry(index).or_insert_with(|| {
                found.clear();
                mentions(input.original(index), quotes_thinking, |mention| found.push(mention));
                found.as_slice().into()
            });
        }
    }

    fn note_call(&mut self, index: usize, message: &Message, part: &Part) {
        let Arguments { path, command } = Arguments::of(message, part);
        if let Some(path) = path {
            let paths = if edits_file(&message.name_of(part)) { &mut self.written } else { &mut self.read };
            paths.note(&path, index);
        }
        if let Some(command) = command {
            let text = super::page::shortened(command.lines().next().unwrap_or_default()).into();
            let id = message.id_of(part).into();
            self.commands.push_back(Command { id, message: index, text, outcome: "no result" });
            if self.commands.len() > COMMANDS {
                self.commands.pop_front();
            }
        }
    }

    fn note_result(&mut self, message: &Message, part: &Part) {
        let id = message.id_of(part);
        if let Some(command) = self.commands.iter_mut().rev().find(|command| *command.id == *id) {
            command.outcome = if part.is_error { "failed" } else { "done" };
        }
    }

    /// Memory stays bounded however long the conversation gets. Amortised O(names taken in).
    pub(super) fn forget(&mut self, input: &PolicyInput<'_>) {
        if self.facts.len() <= 2 * FACTS {
            return;
        }
        let ages = Ages::of(input);
        let weigh = |(key, fact): (&u64, &Fact)| u128::from(worth(fact, ages)) << 64 | u128::from(*key);
        let mut weighed: Vec<u128> = self.facts.iter().map(weigh).collect();
        weighed.select_nth_unstable_by(FACTS, |a, b| b.cmp(a));
        // A table of its own size: the one that everything was taken into has room for far more.
        let kept = weighed[..FACTS].iter().map(|weighed| *weighed as u64);
        self.facts = kept.filter_map(|key| Some((key, *self.facts.get(&key)?))).collect();
    }

    /// What could be written down, the worthiest per character first. `left` is what stays in the view.
    ///
    /// Integers and a total order: the same on every machine, whatever order the map had.
    pub(super) fn candidates<'a>(&'a self, input: &'a PolicyInput<'a>, left: &[Range<usize>]) -> Candidates<'a> {
        let standing = self.standing(input, left);
        let ages = Ages::of(input);
        let mut lines: FxHashMap<(u32, Place), u64> = FxHashMap::default();
        lines.reserve(self.facts.len());
        let mut names = Vec::with_capacity(self.facts.len());
        for (key, fact) in self.facts.iter().filter(|(key, _)| !standing.contains(*key)) {
            let worth = worth(fact, ages);
            *lines.entry((fact.message, fact.place)).or_default() += worth;
            let density = worth / (u64::from(fact.name_len) + NAME_COST);
            names.push((Rank::new(density, fact.message, fact.place), *key));
        }
        let density = |((message, place), worth): ((u32, Place), u64)| {
            let shown = place.len().min(super::page::LINE_CHARS) as u64;
            Rank::new(worth / (shown + LINE_COST), message, place)
        };
        let lines = Ranked::new(lines.into_iter().map(density).collect(), super::page::MOST_LINES);
        let names = Ranked::new(names, super::page::MOST_NAMES);
        Candidates::new(self, input, lines, names)
    }

    /// A name by what it is known by.
    pub(super) fn name(&self, key: u64) -> Option<Name> {
        Some(self.facts.get(&key)?.named(key))
    }

    /// The names in what stays in the view: nothing needs to be written down about them.
    fn standing(&self, input: &PolicyInput<'_>, left: &[Range<usize>]) -> FxHashSet<u64> {
        let mut standing = FxHashSet::with_capacity_and_hasher(FACTS, FxBuildHasher);
        for index in left.iter().cloned().flatten() {
            match self.standing.get(&index).filter(|_| !input.is_edited(index)) {
                Some(known) => standing.extend(known.iter().map(|mention| mention.key)),
                None => {
                    mentions(input.message(index), self.quotes_thinking, |mention| _ = standing.insert(mention.key))
                }
            }
        }
        standing
    }
}

/// The first messages that are less than so many tokens old.
#[derive(Clone, Copy, Debug)]
struct Ages([u32; 3]);

/// What a name is worth by its age in tokens, and what beyond the last.
const BY_AGE: [(u64, u64); 3] = [(20_000, 200), (40_000, 170), (80_000, 160)];
const BY_GREAT_AGE: u64 = 120;

impl Ages {
    fn of(input: &PolicyInput<'_>) -> Self {
        let first_younger = |tokens: u64| {
            let (mut young, mut old) = (input.log_len(), 0);
            while old < young {
                let middle = old.midpoint(young);
                let age = input.logged(middle..input.log_len()).thousandths() / 1_000;
                (young, old) = if age < tokens { (middle, old) } else { (young, middle + 1) };
            }
            u32::try_from(young).unwrap_or(u32::MAX)
        };
        Self(BY_AGE.map(|(tokens, _)| first_younger(tokens)))
    }

    fn worth(self, message: u32) -> u64 {
        let found = self.0.iter().zip(BY_AGE).find(|(first, _)| message >= **first);
        found.map_or(BY_GREAT_AGE, |(_, (_, worth))| worth)
    }
}

/// Calls `each` with every name of a message. O(its bytes).
fn mentions(message: &Message, quotes_thinking: bool, mut each: impl FnMut(Mention)) {
    texts(message, quotes_thinking, |text| {
        let mut names = RawNames::new(text.raw);
        text.lines(|place, line| {
            names.of_line(line, |kind, name, at| {
                let name_at = at.and_then(|at| u16::try_from(at).ok()).unwrap_or(NOWHERE);
                let name_len = u16::try_from(name.len()).unwrap_or(u16::MAX);
                let (speaker, is_edit) = (text.speaker, text.is_edit);
                each(Mention { key: key(name), place, name_at, name_len, kind, speaker, is_edit });
            });
        });
    });
}

fn note(facts: &mut FxHashMap<u64, Fact>, message: u32, mention: Mention) {
    let Mention { key, place, name_at, name_len, kind, speaker, is_edit } = mention;
    let own_uses = u8::from(speaker == Speaker::Own);
    let is_edited = is_edit;
    let fresh = Fact { message, place, name_at, name_len, kind, speaker, own_uses, is_edited, messages: 1 };
    let fact = facts.entry(key).or_insert(fresh);
    if fact.message != message {
        fact.messages = fact.messages.saturating_add(1);
        fact.own_uses = fact.own_uses.saturating_add(own_uses);
    }
    fact.is_edited |= is_edit;
    (fact.message, fact.place, fact.name_at, fact.speaker) = (message, place, name_at, speaker);
}

/// How likely a name is referred to again, weighed as rare names are; the figures are shares seen in real agents' logs.
fn worth(fact: &Fact, ages: Ages) -> u64 {
    let by_speaker = match (fact.speaker, fact.own_uses) {
        (Speaker::Own, _) => 200,
        (Speaker::User, _) => 55,
        (Speaker::Tool, 0) => 60,
        (Speaker::Tool, _) => 180,
    };
    let by_kind = match fact.kind {
        NameKind::Dotted => 110,
        NameKind::Path => 100,
        NameKind::Word => 75,
        NameKind::Number => 30,
        NameKind::Hash => 15,
        NameKind::Address => 10,
    };
    let by_age = ages.worth(fact.message);
    let by_frequency = if fact.messages >= 5 { 30 } else { 100 };
    let by_edit = if fact.is_edited { 2 } else { 1 };
    by_speaker * by_kind * by_age * by_frequency * by_edit
}

fn is_request(message: &Message, part: &Part) -> bool {
    message.shape().role == Role::User && !part.nested && !part.blank
}

/// The arguments of a call that a ledger tells of.
#[derive(Debug, Default)]
struct Arguments {
    path: Option<String>,
    command: Option<String>,
}

impl Arguments {
    /// O(the arguments); nothing of what is no JSON.
    fn of(message: &Message, part: &Part) -> Self {
        let value = part.text.of(message.raw());
        let decoded = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(text::decode);
        Self::read(decoded.as_deref().unwrap_or(value)).unwrap_or_default()
    }

    fn read(json: &str) -> Option<Self> {
        const PATHS: [&str; 5] = ["path", "file_path", "filename", "file", "absolute_path"];
        const COMMANDS: [&str; 2] = ["command", "cmd"];
        let rank = |names: &[&str], key: &str| names.iter().position(|name| *name == key);
        let (mut path, mut command) = (None, None);
        let mut cursor = Cursor::new(json);
        if cursor.kind().ok()? != Kind::Object {
            return None;
        }
        let passed = cursor.object(|key, cursor| {
            let found = [(rank(&PATHS, key), &mut path), (rank(&COMMANDS, key), &mut command)];
            let wanted = found.into_iter().find_map(|(rank, slot)| Some((rank?, slot)));
            match (cursor.kind()?, wanted) {
                (Kind::String, Some((rank, slot))) => better(slot, rank, cursor.text()?.into_owned()),
                _ => drop(cursor.skip()?),
            }
            Ok(())
        });
        passed.ok()?;
        let text = |found: Option<(usize, String)>| found.map(|(_, text)| text);
        Some(Self { path: text(path), command: text(command) })
    }
}

/// Keeps the text whose key stands first in its list.
fn better(slot: &mut Option<(usize, String)>, rank: usize, text: String) {
    if slot.as_ref().is_none_or(|(known, _)| rank <= *known) {
        *slot = Some((rank, text));
    }
}
