//! Which result answers which call, and what else cannot be parted.
//!
//! Ids come again in real histories, so a result answers the latest open call of its id, and of several in one message
//! the first. Whether it stands where the provider wants it is a second question: units keep together what belongs
//! together, however misplaced, and rules refuse what is out of [`Reach`].

use super::{Message, Part, PartKind, Role, Shape};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// How the calls and results of a format find each other.
#[derive(Clone, Copy, Debug)]
pub struct Pairing {
    pub(super) by: By,
    pub(super) reach: Reach,
    /// Whether instructions inside the history may only follow what they were said to.
    pub(super) binds_instructions: bool,
}

/// What a result has in common with its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// An id.
    Id,
    /// Nothing but its place in the order.
    Order,
}

/// How far a result may stand from its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// In the message directly behind it.
    Next,
    /// In one of the results directly behind it.
    Results,
    /// Anywhere behind it, also after the model has spoken again.
    Anywhere,
}

/// A part of one message of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PartPlace {
    /// The message.
    pub(crate) index: usize,
    /// The part, as an index into its shape.
    pub(crate) part: usize,
}

/// What a message has to do with those before it.
#[derive(Debug)]
pub(crate) struct Links {
    /// Its results, as indices of parts, each with the call that it answers.
    pub(crate) results: Vec<(usize, Option<PartPlace>)>,
    /// Whether it cannot be parted from the message before it.
    pub(crate) sticks: bool,
}

/// Follows a history message by message, each in O(its parts).
#[derive(Clone, Debug)]
pub(crate) struct Tracker {
    pairing: &'static Pairing,
    /// Calls without an answer by what a result would name; the one to be answered next is the last.
    open: HashMap<Box<str>, Vec<PartPlace>>,
    previous: Previous,
}

/// What the message before was.
#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    is_from_model: bool,
    /// The model's run so far holds something that what follows cannot be parted from.
    is_sticky: bool,
    is_compaction: bool,
    ends_in_thinking: bool,
}

impl Tracker {
    pub(crate) fn new(pairing: &'static Pairing) -> Self {
        Self { pairing, open: HashMap::new(), previous: Previous::default() }
    }

    /// Takes the next message.
    pub(crate) fn follow(&mut self, index: usize, message: &Message) -> Links {
        let shape = message.shape();
        let starts_run = shape.is_from_model() && (!self.previous.is_from_model || self.starts_anew(shape));
        if starts_run && self.pairing.reach != Reach::Anywhere {
            self.open.clear();
        }
        let results = results_in(shape).map(|part| (part, self.answer(message, part))).collect();
        let sticks = self.sticks(shape);
        for part in calls_in(shape).rev() {
            let key = self.key(message, &shape.parts[part]).into();
            self.open.entry(key).or_default().push(PartPlace { index, part });
        }
        let is_sticky = (self.previous.is_sticky && !starts_run) || is_sticky(shape);
        self.previous = Previous {
            is_from_model: shape.is_from_model(),
            is_sticky: shape.is_from_model() && is_sticky,
            is_compaction: shape.ends_in(PartKind::Compaction),
            ends_in_thinking: shape.ends_in(PartKind::Thinking),
        };
        Links { results, sticks }
    }

    /// Whether the message cannot be parted from the one before it.
    fn sticks(&self, shape: &Shape) -> bool {
        let continues_run = self.previous.is_sticky && shape.is_from_model() && !self.starts_anew(shape);
        // What follows an instruction is not bound to it: a client that puts one behind every message of the user would
        // else have one unit, and nothing could ever leave.
        continues_run || (self.pairing.binds_instructions && shape.is_instruction())
    }

    /// Whether a compaction stands here, between what it replaces and what came after it. Only reasoning needs the item
    /// that follows it, whatever that is.
    fn starts_anew(&self, shape: &Shape) -> bool {
        let is_compaction = shape.begins_with(PartKind::Compaction);
        self.previous.is_compaction || (is_compaction && !self.previous.ends_in_thinking)
    }

    /// Takes the call that a result answers off the open ones.
    fn answer(&mut self, message: &Message, part: usize) -> Option<PartPlace> {
        let key = self.key(message, &message.shape().parts[part]);
        let calls = self.open.get_mut(&*key)?;
        let call = calls.pop();
        if calls.is_empty() {
            self.open.remove(&*key);
        }
        call
    }

    fn key<'m>(&self, message: &'m Message, part: &Part) -> Cow<'m, str> {
        match self.pairing.by {
            By::Id => message.id_of(part),
            By::Order => Cow::Borrowed(""),
        }
    }
}

/// Whether what the model says next belongs to this.
fn is_sticky(shape: &Shape) -> bool {
    let is_sticky =
        |part: &Part| matches!(part.kind, PartKind::Thinking | PartKind::ToolCall | PartKind::ServerToolCall);
    shape.parts.iter().any(is_sticky)
}

/// The calls that the model makes in a message, as indices of parts.
pub(super) fn calls_in(shape: &Shape) -> impl DoubleEndedIterator<Item = usize> {
    direct_parts(shape, PartKind::ToolCall).filter(|_| shape.is_from_model())
}

/// The results that a message gives, as indices of parts.
pub(super) fn results_in(shape: &Shape) -> impl DoubleEndedIterator<Item = usize> {
    let may_answer = matches!(shape.role, Role::User | Role::Tool);
    direct_parts(shape, PartKind::ToolResult).filter(move |_| may_answer)
}

/// The parts of one kind that stand directly in a message, as indices.
pub(super) fn direct_parts(shape: &Shape, kind: PartKind) -> impl DoubleEndedIterator<Item = usize> {
    let parts = shape.parts.iter().enumerate();
    parts.filter(move |(_, part)| part.kind == kind && !part.nested).map(|(at, _)| at)
}

/// What is left over in a history, in order.
#[derive(Debug, Default)]
pub(super) struct Unpaired {
    /// Calls without an answer in reach, and those of anybody but the model.
    pub(super) calls: Vec<PartPlace>,
    /// Results without a call in reach, and those of the model.
    pub(super) results: Vec<PartPlace>,
}

impl Unpaired {
    /// Goes through a history once. O(its parts).
    pub(super) fn of(pairing: &'static Pairing, messages: &[&Message]) -> Self {
        let mut tracker = Tracker::new(pairing);
        let mut unpaired = Self::default();
        let mut answered = HashSet::new();
        // The latest message that is no result, which is where the calls of a run of results stand.
        let mut latest = None;
        for (index, message) in messages.iter().enumerate() {
            let shape = message.shape();
            let mut paired = Vec::new();
            for (part, call) in tracker.follow(index, message).results {
                let is_in_reach = |call: &PartPlace| match pairing.reach {
                    Reach::Next => call.index + 1 == index,
                    Reach::Results => Some(call.index) == latest,
                    Reach::Anywhere => true,
                };
                paired.extend(call.filter(is_in_reach).map(|_| part));
                answered.extend(call.filter(is_in_reach));
            }
            if shape.role != Role::Tool {
                latest = Some(index);
            }
            let place = |part| PartPlace { index, part };
            unpaired.calls.extend(direct_parts(shape, PartKind::ToolCall).map(place));
            let results = direct_parts(shape, PartKind::ToolResult).filter(|part| paired.binary_search(part).is_err());
            unpaired.results.extend(results.map(place));
        }
        unpaired.calls.retain(|call| !answered.contains(call));
        unpaired
    }
}

/// Those of the places that are in one message, as indices of parts.
pub(super) fn in_message(places: &[PartPlace], index: usize) -> Vec<usize> {
    let start = places.partition_point(|place| place.index < index);
    places[start..].iter().take_while(|place| place.index == index).map(|place| place.part).collect()
}
