//! What is written down of messages that are folded: made without a model, merged from cut to cut, of bounded size.
//!
//! Which lines are worth their place was read off real conversations: a name that the model has used itself is referred
//! to again seven times as often as one that only a tool printed, paths and dotted names far more often than
//! numbers and hashes, and recent ones more often than old ones (`worth.rs`). So each name brings along the line in which
//! it last stood, and lines are taken where what their names are expected to save pays for keeping them. A name that
//! still stands in the view needs no place here.
//!
//! The log keeps every text, so the ledger holds none: a name is a hash, a line is where it stands.

use super::arguments::{Arguments, Step};
use super::config::LadderConfig;
use super::labels::Labels;
use super::names::{NameKind, key, raw_names};
use super::page::Candidates;
use super::prose::{self, Passage};
use super::ranked::{Rank, Ranked};
use super::texts::{Place, texts};
use super::worth::{Ages, Surroundings, worth};
use crate::plain_text::{Speaker, edits_file};
use crate::policy::PolicyInput;
use crate::wire::{Message, Part, PartKind, Role};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Names that are remembered: once there are twice as many, those worth least are forgotten. A page shows a few hundred.
const FACTS: usize = 2_048;
/// Requests, conclusions, requirements and commands that are remembered, the newest.
const REQUESTS: usize = 256;
const CONCLUSIONS: usize = 256;
const REQUIREMENTS: usize = 64;
const COMMANDS: usize = 64;

/// How many of these room is made for at once.
const ROOM: usize = 16;

/// What is known of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    /// The message and the line in which it last stood.
    pub(super) message: u32,
    pub(super) place: Place,
    pub(super) kind: NameKind,
    pub(super) speaker: Speaker,
    pub(super) own_uses: u8,
    /// Messages that hold it.
    pub(super) messages: u8,
}

/// What the user asked, and the last that the model said about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Request {
    /// Message and part; nothing where the request still stands in the view.
    pub(super) asked: Option<(usize, usize)>,
    pub(super) came_of_it: Option<(usize, usize)>,
}

/// A command and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Command {
    id: Arc<str>,
    /// The message that holds it.
    pub(super) message: usize,
    pub(super) text: Arc<str>,
    pub(super) outcome: &'static str,
    /// The line of its output that decides, and the message that holds it.
    pub(super) decisive: Option<(Arc<str>, usize)>,
}

/// A name, and where in its message it stands.
#[derive(Clone, Copy, Debug)]
struct Mention {
    key: u64,
    place: Place,
    kind: NameKind,
    speaker: Speaker,
}

/// Everything that was folded so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    /// The names of messages that stand in the view and were looked through at the last cut: they are folded sooner or
    /// later, and reading them again would cost more than all the rest. They follow from the messages alone.
    standing: FxHashMap<usize, Arc<[Mention]>>,
    facts: FxHashMap<u64, Fact>,
    pub(super) requests: VecDeque<Request>,
    pub(super) conclusions: VecDeque<Passage>,
    pub(super) requirements: VecDeque<Passage>,
    /// Which file or command a message is about.
    pub(super) labels: Labels,
    pub(super) commands: VecDeque<Command>,
    /// The steps that the model last wrote down, and the message that holds them.
    pub(super) plan: Option<(usize, Arc<[Step]>)>,
    pub(super) folded: Vec<Range<usize>>,
    /// Whether thinking is read like any other text.
    pub(super) quotes_thinking: bool,
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
                PartKind::ToolResult => self.note_result(index, message, at),
                PartKind::Text if !part.blank && !part.nested => self.note_words(index, message, at),
                _ => {}
            }
        }
    }

    /// What the user asked, and what the model said.
    fn note_words(&mut self, index: usize, message: &Message, at: usize) {
        let text = message.text_of(&message.shape().parts[at]);
        match message.shape().role {
            Role::User if !prose::is_noise(&text) => {
                keep_newest(&mut self.requests, Request { asked: Some((index, at)), came_of_it: None }, REQUESTS);
                prose::requirements(&text, index, at, false, |found| {
                    keep_once(&mut self.requirements, found, REQUIREMENTS)
                });
            }
            Role::Assistant => {
                if self.requests.is_empty() {
                    self.requests.push_back(Request::default());
                }
                if let Some(request) = self.requests.back_mut() {
                    request.came_of_it = Some((index, at));
                }
                prose::conclusions(&text, index, at, |found| keep_once(&mut self.conclusions, found, CONCLUSIONS));
            }
            _ => {}
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
        let arguments = Arguments::of(message, part);
        let is_written = edits_file(&message.name_of(part));
        let is_whole = arguments.is_whole(is_written);
        let Arguments { path, command, steps, .. } = arguments;
        let id: Arc<str> = message.id_of(part).into();
        if !steps.is_empty() {
            self.plan = Some((index, steps.into()));
        }
        if let Some(path) = path {
            self.labels.note_file(index, &id, &path, is_written, is_whole);
        }
        if let Some(command) = command {
            let text: Arc<str> = prose::first_line(&command).into();
            self.labels.note_command(index, &id, &text);
            if !prose::acts(&command) {
                return;
            }
            // Only what came of it last counts.
            self.commands.retain(|known| known.text != text);
            let command = Command { id, message: index, text, outcome: "no result", decisive: None };
            keep_newest(&mut self.commands, command, COMMANDS);
        }
    }

    fn note_result(&mut self, index: usize, message: &Message, at: usize) {
        let part = &message.shape().parts[at];
        let id = message.id_of(part);
        self.labels.note_result(index, &id);
        if let Some(command) = self.commands.iter_mut().rev().find(|command| *command.id == *id) {
            let (outcome, decisive) = prose::outcome(message, at);
            command.outcome = outcome;
            command.decisive = decisive.map(|line| (line.into(), index));
        }
        let may_demand = || part.text.of(message.raw()).strip_prefix('"').is_none_or(prose::may_demand);
        if self.labels.is_prose(index) && may_demand() {
            let found = |found| keep_once(&mut self.requirements, found, REQUIREMENTS);
            prose::requirements(&message.text_of(part), index, at, !self.labels.is_document(index), found);
        }
    }

    /// Memory stays bounded however long the conversation gets. Amortised O(names taken in).
    pub(super) fn forget(&mut self, input: &PolicyInput<'_>) {
        if self.facts.len() <= 2 * FACTS {
            return;
        }
        let ages = Ages::of(input);
        let weigh = |(key, fact): (&u64, &Fact)| {
            u128::from(worth(fact, Surroundings::of(fact.message, ages, None))) << 64 | u128::from(*key)
        };
        let mut weighed: Vec<u128> = self.facts.iter().map(weigh).collect();
        weighed.select_nth_unstable_by(FACTS, |a, b| b.cmp(a));
        // A table of its own size: the one that everything was taken into has room for far more.
        let mut kept = FxHashMap::with_capacity_and_hasher(FACTS, FxBuildHasher);
        for key in weighed[..FACTS].iter().map(|weighed| *weighed as u64) {
            kept.extend(self.facts.get(&key).map(|fact| (key, *fact)));
        }
        self.facts = kept;
    }

    /// What could be written down, the worthiest per character first. `left` is what stays in the view.
    ///
    /// Integers and a total order: the same on every machine, whatever order the map had.
    pub(super) fn candidates<'a>(
        &'a self,
        input: &'a PolicyInput<'a>,
        left: &[Range<usize>],
        config: &LadderConfig,
    ) -> Candidates<'a> {
        let standing = self.standing(input, left);
        let ages = Ages::of(input);
        // Of the names that each message said last: how many are still in sight, and how many there are.
        let mut in_sight: FxHashMap<u32, (u32, u32)> = FxHashMap::default();
        let mut unseen = Vec::with_capacity(self.facts.len());
        for (key, fact) in &self.facts {
            let is_seen = standing.get(key).is_some_and(|newest| newest.is_none_or(|newest| newest > fact.message));
            let (seen, all) = in_sight.entry(fact.message).or_default();
            *seen += u32::from(is_seen);
            *all += 1;
            if !is_seen {
                unseen.push(fact);
            }
        }
        // Whoever reads passages takes them for what holds now; single lines are only looked up.
        let leaves_out_superseded = config.lines_beside > 0;
        // What a message says of all its names is asked once.
        let mut around: FxHashMap<u32, Surroundings> = FxHashMap::default();
        around.reserve(in_sight.len());
        for (message, in_sight) in in_sight {
            if !(leaves_out_superseded && self.labels.is_superseded(message)) {
                around.insert(message, Surroundings::of(message, ages, Some(in_sight)));
            }
        }
        let mut lines: FxHashMap<(u32, Place), u64> = FxHashMap::default();
        lines.reserve(unseen.len());
        let rare = u64::from(config.favour_rare);
        for fact in unseen {
            let Some(around) = around.get(&fact.message) else {
                continue;
            };
            let messages = u64::from(fact.messages.max(1));
            let worth = worth(fact, *around) * (messages + rare) / messages;
            *lines.entry((fact.message, fact.place)).or_default() += worth;
        }
        let rank = |((message, place), worth): (&(u32, Place), &u64)| {
            let shown = place.len().min(super::page::LINE_CHARS) as u64;
            Rank::new(super::page::density(*worth, shown), *message, *place)
        };
        let ranked = Ranked::new(lines.iter().map(rank).collect(), super::page::MOST_LINES);
        Candidates::new(self, input, lines, ranked)
    }

    /// The names in what stays in the view, and the newest message there that has each. Nothing needs to be written down
    /// about them, unless something newer was folded: what was said of the name last is out of sight then. Of what the
    /// task itself names it is enough that it is named, whatever is newest.
    fn standing(&self, input: &PolicyInput<'_>, left: &[Range<usize>]) -> FxHashMap<u64, Option<u32>> {
        let mut standing = FxHashMap::with_capacity_and_hasher(FACTS, FxBuildHasher);
        let is_users = |index: &usize| input.original(*index).shape().role == Role::User;
        let task = (0..input.log_len()).find(is_users).unwrap_or_default();
        // The newest comes last, what the task names behind it.
        let in_order = left.iter().cloned().flatten().filter(|index| *index > task);
        for index in in_order.chain(left.iter().cloned().flatten().filter(|index| *index <= task)) {
            let newest = (index > task).then(|| u32::try_from(index).unwrap_or(u32::MAX));
            match self.standing.get(&index).filter(|_| !input.is_edited(index)) {
                Some(known) => standing.extend(known.iter().map(|mention| (mention.key, newest))),
                None => mentions(input.message(index), self.quotes_thinking, |mention| {
                    standing.insert(mention.key, newest);
                }),
            }
        }
        standing
    }
}

/// Calls `each` with every name of a message. O(its bytes).
fn mentions(message: &Message, quotes_thinking: bool, mut each: impl FnMut(Mention)) {
    texts(message, quotes_thinking, |text| {
        raw_names(
            text.raw,
            |line| text.place(line),
            |place, kind, name| {
                each(Mention { key: key(name), place, kind, speaker: text.speaker });
            },
        );
    });
}

fn note(facts: &mut FxHashMap<u64, Fact>, message: u32, mention: Mention) {
    let Mention { key, place, kind, speaker } = mention;
    let own_uses = u8::from(speaker == Speaker::Own);
    let fresh = Fact { message, place, kind, speaker, own_uses, messages: 1 };
    let fact = facts.entry(key).or_insert(fresh);
    if fact.message != message {
        fact.messages = fact.messages.saturating_add(1);
        fact.own_uses = fact.own_uses.saturating_add(own_uses);
    }
    (fact.message, fact.place, fact.speaker) = (message, place, speaker);
}

/// What was said again counts as said now.
fn keep_once(all: &mut VecDeque<Passage>, new: Passage, most: usize) {
    all.retain(|known| known.key != new.key);
    keep_newest(all, new, most);
}

fn keep_newest<T>(all: &mut VecDeque<T>, new: T, most: usize) {
    if all.len() >= most {
        all.pop_front();
    }
    if all.len() == all.capacity() {
        // A copy is made at every cut, without room for more; twice as much would hardly ever be filled.
        all.reserve_exact(ROOM);
    }
    all.push_back(new);
}
