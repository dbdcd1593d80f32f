//! What is written down of messages that are folded: made without a model, merged from cut to cut, of bounded size.
//!
//! Which lines are worth their place was read off real conversations: a name that the model has used itself is referred
//! to again about three times as often as one that only a tool printed, paths and dotted names far more often than
//! numbers and hashes, and recent ones more often than old ones. So each name brings along the line in which it last
//! stood, and lines are taken by what their names are worth per character. A name that still stands in the view needs
//! no place here.

use super::identifiers::{NameKind, names};
use crate::edit::clip;
use crate::recall::Address;
use crate::speech::{Speaker, edits_file, speeches};
use crate::wire::{Message, Part, PartKind};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// What the ledger starts with.
pub(super) const TITLE: &str = "[Conversation Ledger]";
/// Characters of a line that are kept.
const LINE_CHARS: usize = 400;
/// Characters of a user's request that are kept.
const REQUEST_CHARS: usize = 1_200;
/// What a line and a name take besides their characters, as it is best taken into account when they are weighed.
const LINE_COST: u64 = 16;
const NAME_COST: u64 = 2;
/// No name has fewer characters, so no more of them fit than this many go into the room there is.
const SHORTEST: usize = 3;
/// Commands that are remembered.
const COMMANDS: usize = 24;
/// Names that are remembered; beyond, the oldest are forgotten.
const FACTS: usize = 40_000;

/// What is known of one name.
#[derive(Clone, Debug)]
struct Fact {
    kind: NameKind,
    /// The line in which it last stood.
    line: Arc<str>,
    message: usize,
    speaker: Speaker,
    own_uses: u32,
    /// Whether a file edit's arguments held it.
    is_edited: bool,
    messages: u32,
}

/// A command and what came of it.
#[derive(Clone, Debug)]
struct Command {
    id: String,
    text: String,
    outcome: &'static str,
}

/// Everything that was folded so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    facts: HashMap<Box<str>, Fact>,
    requests: Vec<(usize, String)>,
    read: BTreeSet<String>,
    written: BTreeSet<String>,
    commands: VecDeque<Command>,
    folded: Vec<std::ops::Range<usize>>,
}

impl Ledger {
    /// Takes a message in. O(its bytes).
    pub(super) fn fold(&mut self, index: usize, message: &Message) {
        match self.folded.last_mut() {
            Some(range) if range.end == index => range.end += 1,
            _ => self.folded.push(index..index + 1),
        }
        self.note_names(index, message);
        for part in &message.shape().parts {
            match part.kind {
                PartKind::ToolCall => self.note_call(message, part),
                PartKind::ToolResult => self.note_result(message, part),
                PartKind::Text if is_request(message, part) => {
                    self.requests.push((index, clip(message.text_of(part).trim(), REQUEST_CHARS)));
                }
                _ => {}
            }
        }
    }

    fn note_names(&mut self, index: usize, message: &Message) {
        let facts = &mut self.facts;
        speeches(message, |speaker, part, text| {
            let is_edit = part.kind == PartKind::ToolCall && edits_file(&message.name_of(part));
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
                let mut kept: Option<Arc<str>> = None;
                names(line, |kind, name| {
                    let line = kept.get_or_insert_with(|| shortened(line).into());
                    note_name(facts, Sighting { kind, name, line, message: index, speaker, is_edit });
                });
            }
        });
    }

    fn note_call(&mut self, message: &Message, part: &Part) {
        let Ok(Value::Object(arguments)) = serde_json::from_str(&message.text_of(part)) else {
            return;
        };
        let text_of = |keys: &[&str]| keys.iter().find_map(|key| arguments.get(*key)?.as_str()).map(str::to_owned);
        let tool = message.name_of(part);
        if let Some(path) = text_of(&["path", "file_path", "filename", "file", "absolute_path"]) {
            if edits_file(&tool) {
                self.written.insert(path)
            } else {
                self.read.insert(path)
            };
        }
        if let Some(command) = text_of(&["command", "cmd"]) {
            let text = shortened(command.lines().next().unwrap_or_default()).to_owned();
            self.commands.push_back(Command { id: message.id_of(part).into_owned(), text, outcome: "no result" });
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

    /// The ledger as text of at most so many characters. `age` says how many tokens ago a message was.
    /// `lines_hundredths` is how much of it may be whole lines.
    pub(super) fn write(
        &mut self,
        max_chars: usize,
        lines_hundredths: usize,
        standing: &Standing,
        age: &impl Fn(usize) -> u64,
    ) -> String {
        self.forget();
        let mut page = Page::new(max_chars);
        page.line(TITLE);
        page.line(&self.opening());
        page.section(
            "Requests:",
            max_chars / 5,
            self.requests.iter().rev().map(|(at, text)| format!("{} {text}", Address::of(*at).tag())),
        );
        page.section("Files written:", max_chars / 16, self.written.iter().cloned());
        page.section(
            "Commands:",
            max_chars / 8,
            self.commands.iter().rev().map(|c| format!("{} -> {}", c.text, c.outcome)),
        );
        let worth = |fact: &Fact| worth(fact, age(fact.message));
        let most = max_chars / SHORTEST;
        page.section("Lines:", max_chars / 100 * lines_hundredths, self.lines_by_worth(&worth, standing, most));
        page.section("Files read:", max_chars / 16, self.read.difference(&self.written).cloned());
        page.names("Names:", &self.names_by_worth(&worth, standing, most));
        page.text
    }

    fn opening(&self) -> String {
        let count: usize = self.folded.iter().map(ExactSizeIterator::len).sum();
        let shown = Address::of_ranges(self.folded.iter().rev().take(8).cloned());
        let tag = shown.as_ref().map(Address::tag).unwrap_or_default();
        format!("{count} earlier messages are folded here: {tag}. What they said last about each name follows.")
    }

    /// The lines that names stand in, the worthiest per character first.
    fn lines_by_worth(&self, worth: &impl Fn(&Fact) -> u64, standing: &Standing, most: usize) -> Vec<&str> {
        let mut lines: HashMap<*const u8, (u64, &str)> = HashMap::with_capacity(self.facts.len());
        for (_, fact) in self.facts.iter().filter(|(name, _)| !standing.contains(name)) {
            lines.entry(fact.line.as_ptr()).or_insert((0, &fact.line)).0 += worth(fact);
        }
        by_density(lines.into_values().map(|(worth, line)| (worth / (line.len() as u64 + LINE_COST), line)), most)
    }

    fn names_by_worth(&self, worth: &impl Fn(&Fact) -> u64, standing: &Standing, most: usize) -> Vec<&str> {
        let missing = self.facts.iter().filter(|(name, _)| !standing.contains(name));
        by_density(missing.map(|(name, fact)| (worth(fact) / (name.len() as u64 + NAME_COST), &**name)), most)
    }

    /// Memory stays bounded however long the conversation gets.
    fn forget(&mut self) {
        if self.facts.len() <= FACTS {
            return;
        }
        let mut messages: Vec<usize> = self.facts.values().map(|fact| fact.message).collect();
        let (_, oldest_kept, _) = messages.select_nth_unstable(self.facts.len() - FACTS);
        let oldest_kept = *oldest_kept;
        self.facts.retain(|_, fact| fact.message > oldest_kept);
    }
}

/// A name as it stands in a message.
#[derive(Clone, Copy)]
struct Sighting<'a> {
    kind: NameKind,
    name: &'a str,
    line: &'a Arc<str>,
    message: usize,
    speaker: Speaker,
    is_edit: bool,
}

/// The names in what stays in the view: nothing needs to be written down about them.
#[derive(Debug, Default)]
pub(super) struct Standing(HashSet<Box<str>>);

impl Standing {
    pub(super) fn note(&mut self, message: &Message) {
        speeches(message, |_, _, text| {
            for line in text.lines() {
                names(line, |_, name| {
                    if !self.0.contains(name) {
                        self.0.insert(name.into());
                    }
                });
            }
        });
    }

    fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

fn note_name(facts: &mut HashMap<Box<str>, Fact>, seen: Sighting<'_>) {
    let Sighting { kind, name, line, message, speaker, is_edit } = seen;
    let is_own = u32::from(speaker == Speaker::Own);
    match facts.get_mut(name) {
        Some(fact) => {
            if fact.message != message || fact.messages == 0 {
                fact.messages += 1;
                fact.own_uses += is_own;
            }
            fact.is_edited |= is_edit;
            (fact.line, fact.message, fact.speaker) = (Arc::clone(line), message, speaker);
        }
        None => {
            let line = Arc::clone(line);
            let fact = Fact { kind, line, message, speaker, own_uses: is_own, is_edited: is_edit, messages: 1 };
            facts.insert(name.into(), fact);
        }
    }
}

/// The densest first, as many as there can be room for. Integers and a total order: the same on every machine, whatever order the map had.
fn by_density<'a>(weighed: impl Iterator<Item = (u64, &'a str)>, most: usize) -> Vec<&'a str> {
    let order = |a: &(u64, &str), b: &(u64, &str)| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1));
    let mut weighed: Vec<(u64, &str)> = weighed.collect();
    if weighed.len() > most {
        weighed.select_nth_unstable_by(most, order);
        weighed.truncate(most);
    }
    weighed.sort_unstable_by(order);
    weighed.into_iter().map(|(_, text)| text).collect()
}

/// How likely a name is referred to again, weighed as rare names are; the figures are shares seen in real agents' logs.
fn worth(fact: &Fact, age_tokens: u64) -> u64 {
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
    let by_age = match age_tokens {
        0..20_000 => 200,
        20_000..40_000 => 170,
        40_000..80_000 => 160,
        _ => 120,
    };
    let by_frequency = if fact.messages >= 5 { 30 } else { 100 };
    let by_edit = if fact.is_edited { 2 } else { 1 };
    by_speaker * by_kind * by_age * by_frequency * by_edit
}

fn is_request(message: &Message, part: &Part) -> bool {
    message.shape().role == crate::wire::Role::User && !part.nested && !part.blank
}

/// The first characters of a line.
fn shortened(line: &str) -> &str {
    if line.len() <= LINE_CHARS {
        return line;
    }
    line.char_indices().nth(LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// A text that fills up to its bound.
struct Page {
    text: String,
    max_chars: usize,
    written: HashSet<String>,
}

impl Page {
    fn new(max_chars: usize) -> Self {
        Self { text: String::with_capacity(max_chars), max_chars, written: HashSet::new() }
    }

    fn line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }

    fn room(&self) -> usize {
        self.max_chars.saturating_sub(self.text.len())
    }

    /// A heading and as many entries as fit its share; an entry that stands on the page already is not written again.
    fn section<T: AsRef<str>>(&mut self, heading: &str, share: usize, entries: impl IntoIterator<Item = T>) {
        let mut room = share.min(self.room().saturating_sub(heading.len() + 1));
        let mut is_open = false;
        for entry in entries {
            let entry = entry.as_ref();
            if room < 16 {
                break;
            }
            if entry.len() >= room || !self.written.insert(entry.to_owned()) {
                continue;
            }
            if !is_open {
                self.line(heading);
                is_open = true;
            }
            room -= entry.len() + 1;
            self.line(entry);
        }
    }

    /// What room is left is filled with bare names that do not stand on the page yet.
    fn names(&mut self, heading: &str, all: &[&str]) {
        if self.room() < 64 {
            return;
        }
        let page = self.text.clone();
        let mut standing = HashSet::new();
        page.lines().for_each(|line| {
            names(line, |_, name| {
                standing.insert(name);
            })
        });
        let mut missing = all.iter().filter(|name| !standing.contains(**name)).peekable();
        if missing.peek().is_none() {
            return;
        }
        self.line(heading);
        for name in missing {
            if name.len() + 1 < self.room() {
                self.text.push(' ');
                self.text.push_str(name);
            }
            if self.room() < 8 {
                break;
            }
        }
    }
}
