//! A decision as its result: what became of each message, without a word of the conversation.

use super::chain::{Chain, Hash, link};
use super::quote::{History, Piece, Quote, counted_parts, push_ours};
use louver::edit::{Change, Edit, edit_message};
use louver::plan::Trigger;
use louver::window::{Decision, EditedMessage, Origin, SyntheticKind, SyntheticMessage, Window};
use louver::wire::{Format, Message, PartKind, Role};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The form that this version writes.
const VERSION: u32 = 1;

/// The view that a decision left, up to its request. Applying one derives nothing: no policy, rule or unit is asked.
///
/// Messages and parts are numbered without thinking, as in the [`Chain`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewRecord {
    /// The form of the record.
    pub version: u32,
    /// The engine that decided.
    pub engine: String,
    /// The policy that decided.
    pub policy: String,
    /// Why it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// How many messages the request had.
    pub messages: usize,
    /// Messages that are not sent.
    pub gone: Vec<Range<usize>>,
    /// Parts that are sent in another form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedPart>,
    /// Messages of our own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ours: Vec<OurMessage>,
    /// Where the pinned head ends.
    pub head_end: usize,
    /// Messages whose thinking is not sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thinking_gone: Vec<Range<usize>>,
    /// Messages that are sent, but for thinking alone that stood right before them as messages of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_thinking_before: Vec<usize>,
    /// How many messages of the history it speaks of: any history that has these can take it over.
    pub touches: usize,
    /// What the view is known by.
    #[serde(with = "hex")]
    pub view: Hash,
    /// What it was decided by, for people.
    #[serde(default, skip_serializing_if = "serde_json::Value::is_null")]
    pub facts: serde_json::Value,
}

/// A part that is sent in another form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditedPart {
    /// The message.
    pub message: usize,
    /// The part of it.
    pub part: usize,
    /// What stands there.
    pub text: NewText,
}

/// What stands in the place of a part's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NewText {
    /// This.
    Text(Vec<Piece>),
    /// Nothing: the part is gone.
    Dropped,
}

/// A message of our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OurMessage {
    /// The message it stands before.
    pub before: usize,
    /// What it is for.
    pub kind: SyntheticKind,
    /// Who seems to speak.
    pub role: Role,
    /// What it says.
    pub text: Vec<Piece>,
}

/// Why a record cannot be applied to a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// Written by a later version.
    #[error("the record has version {0}, which this version of Louver cannot read")]
    Version(u32),
    /// It names something that is not there.
    #[error("the record speaks of a place that the history does not have")]
    NoSuchPlace,
    /// It gives another view than it did.
    #[error("the record gives another view than it did when it was made")]
    OtherView,
}

mod hex {
    use super::Hash;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(hash: &Hash, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hash.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Hash, D::Error> {
        let hex = String::deserialize(deserializer)?;
        Hash::from_hex(&hex).ok_or_else(|| D::Error::custom("no hash"))
    }
}

impl ViewRecord {
    /// The present view of a window, whose whole log has this chain. O(the log).
    #[must_use]
    pub fn of(window: &Window, chain: &Chain) -> Self {
        Recorder::new(window, chain).record()
    }

    /// What brings a window from an earlier record's view to this one: the decision to apply where the history has as many
    /// messages as this record's request had.
    ///
    /// # Errors
    ///
    /// A record of a later version, or one that does not belong to this history.
    pub fn decision(
        &self,
        earlier: Option<&Self>,
        format: Format,
        log: &[&Message],
        chain: &Chain,
    ) -> Result<Decision, ApplyError> {
        if self.version > VERSION {
            return Err(ApplyError::Version(self.version));
        }
        if self.touches > chain.counted().len() {
            return Err(ApplyError::NoSuchPlace);
        }
        let applied = Applied { record: self, format, log, chain, history: history_of(log, chain) };
        let known =
            earlier.map(|earlier| Applied { record: earlier, format, log, chain, history: History::new(Vec::new()) });
        let known: Vec<Range<usize>> = known.map(|known| known.gone()).unwrap_or_default();
        let mut decision = Decision::default();
        decision.trigger = self.trigger;
        decision.evicted = without(&applied.gone(), &known);
        decision.edited = applied.edited()?;
        decision.synthetics = Some(applied.ours()?);
        decision.head_end = applied.place(self.head_end);
        Ok(decision)
    }

    /// Whether a view is the one that this record was made of, as far as it goes.
    ///
    /// # Errors
    ///
    /// It is another one.
    pub fn check<'v>(&self, format: Format, view: impl IntoIterator<Item = &'v Message>) -> Result<(), ApplyError> {
        if Chain::of(format, view).end() == self.view { Ok(()) } else { Err(ApplyError::OtherView) }
    }
}

/// The counted messages of a log.
fn history_of<'m>(log: &[&'m Message], chain: &Chain) -> History<'m> {
    History::new(chain.counted().iter().filter_map(|index| log.get(*index).copied()).collect())
}

/// Ranges without those that are there already; both ascend.
fn without(ranges: &[Range<usize>], known: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_known = |index: usize| {
        let following = known.partition_point(|range| range.end <= index);
        known.get(following).is_some_and(|range| range.contains(&index))
    };
    joined(ranges.iter().cloned().flatten().filter(|index| !is_known(*index)))
}

/// Ascending numbers as ranges.
fn joined(numbers: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some(range) if range.end == number => range.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

/// Makes a record of a window.
struct Recorder<'w> {
    window: &'w Window,
    chain: &'w Chain,
    history: History<'w>,
}

impl<'w> Recorder<'w> {
    fn new(window: &'w Window, chain: &'w Chain) -> Self {
        let log: Vec<&Message> = (0..window.len()).filter_map(|index| window.original(index)).collect();
        Self { window, chain, history: history_of(&log, chain) }
    }

    fn record(&self) -> ViewRecord {
        let kept: Vec<usize> = self.window.view().iter().filter_map(|sent| sent.origin.index()).collect();
        let is_kept = |index: &usize| kept.binary_search(index).is_ok();
        let counted = self.chain.counted();
        let gone = joined((0..counted.len()).filter(|number| !is_kept(&counted[*number])));
        let (edited, thinking_gone) = self.edited();
        let ours = self.ours();
        let last_decision = self.window.events().iter().rev().find_map(|(_, event)| match event {
            louver::window::Event::Fitted(decision) => Some(decision.as_deref().and_then(|decision| decision.trigger)),
            _ => None,
        });
        let mut record = ViewRecord {
            version: VERSION,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            policy: self.window.policy_name().to_owned(),
            trigger: last_decision.flatten(),
            messages: counted.len(),
            gone,
            edited,
            ours,
            head_end: self.window.head_end().min(self.window.len()),
            thinking_gone,
            without_thinking_before: self.without_thinking_before(&kept),
            touches: 0,
            view: Chain::of(self.window.format(), self.window.view().iter().map(|sent| sent.message)).end(),
            facts: serde_json::Value::Null,
        };
        record.head_end = self.chain.count_before(record.head_end);
        record.touches = record.last_place();
        record
    }

    /// Messages that are kept although messages of thinking alone before them are not.
    fn without_thinking_before(&self, kept: &[usize]) -> Vec<usize> {
        let is_kept = |index: usize| kept.binary_search(&index).is_ok();
        let counted = self.chain.counted();
        let is_bare = |index: &usize| counted.binary_search(index).is_err() && !is_kept(*index);
        let numbers = (0..self.window.len()).filter(is_bare).map(|index| self.chain.count_before(index));
        let mut numbers: Vec<usize> =
            numbers.filter(|number| counted.get(*number).is_none_or(|at| is_kept(*at))).collect();
        numbers.dedup();
        numbers
    }

    /// Our own messages, each with what it stands before.
    fn ours(&self) -> Vec<OurMessage> {
        let mut ours: Vec<OurMessage> = Vec::new();
        let mut waiting = 0;
        for sent in self.window.view().iter() {
            match sent.origin {
                Origin::Synthetic(kind) => {
                    let (role, text) = (sent.message.shape().role, self.our_text(sent.message, sent.sources));
                    ours.push(OurMessage { before: usize::MAX, kind, role, text });
                }
                Origin::Kept(index) | Origin::Edited(index) => {
                    let before = self.chain.count_before(index);
                    ours[waiting..].iter_mut().for_each(|ours| ours.before = before);
                    waiting = ours.len();
                }
            }
        }
        let end = self.chain.counted().len();
        ours[waiting..].iter_mut().for_each(|ours| ours.before = end);
        ours
    }

    /// What one of our messages says, in pieces: what was taken from the history is named by where it stands there.
    fn our_text(&self, message: &Message, sources: &[louver::plan::Source]) -> Vec<Piece> {
        let text: String = message.shape().parts.iter().map(|part| message.text_of(part)).collect();
        let mut pieces = Vec::new();
        let mut at = 0;
        for source in sources {
            let Some(quoted) = text.get(source.range.clone()).filter(|_| source.range.start >= at) else {
                continue;
            };
            push_ours(&mut pieces, &text[at..source.range.start]);
            at = source.range.end;
            let number = self.chain.count_before(source.message);
            for piece in self.history.pieces(number, quoted) {
                match piece {
                    Piece::Ours(words) => push_ours(&mut pieces, &words),
                    quote @ Piece::Quote(_) => pieces.push(quote),
                }
            }
        }
        push_ours(&mut pieces, &text[at..]);
        pieces
    }

    /// Parts in another form, and the messages whose thinking is gone, those between them that have none included.
    fn edited(&self) -> (Vec<EditedPart>, Vec<Range<usize>>) {
        let (mut edited, mut thinking): (Vec<EditedPart>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        let mut is_run = false;
        for sent in self.window.view().iter() {
            let Some((index, original)) = sent.origin.index().and_then(|at| Some((at, self.window.original(at)?)))
            else {
                continue;
            };
            let number = self.chain.count_before(index);
            if original.shape().has(PartKind::Thinking) {
                let is_gone = !sent.message.shape().has(PartKind::Thinking);
                match thinking.last_mut().filter(|_| is_run && is_gone) {
                    Some(run) => run.end = number + 1,
                    None if is_gone => thinking.push(number..number + 1),
                    None => {}
                }
                is_run = is_gone;
            }
            if sent.origin == Origin::Edited(index) && link(self.window.format(), original).is_some() {
                edited.extend(self.edited_parts(number, original, sent.message));
            }
        }
        (edited, thinking)
    }

    fn edited_parts(&self, message: usize, original: &Message, edited: &Message) -> Vec<EditedPart> {
        let before: Vec<_> = top_level(original);
        let after: Vec<_> = top_level(edited);
        let mut found = Vec::new();
        let mut next = 0;
        let dropped = before.len().saturating_sub(after.len());
        for (group, &(part, raw)) in before.iter().enumerate() {
            let is_last_chance = group - next >= dropped;
            match after.get(next).filter(|(_, new)| *new == raw || is_last_chance) {
                None => found.push(EditedPart { message, part, text: NewText::Dropped }),
                Some((new_part, new)) => {
                    if *new != raw {
                        found.extend(self.edited_group(message, (original, part), (edited, *new_part)));
                    }
                    next += 1;
                }
            }
        }
        found
    }

    /// A part that changed: itself, or texts inside it.
    fn edited_group(
        &self,
        message: usize,
        (original, part): (&Message, usize),
        (edited, new): (&Message, usize),
    ) -> Vec<EditedPart> {
        let nested = |message: &Message, part: usize| {
            counted_parts(message).skip(part + 1).take_while(|part| part.nested).count()
        };
        let inside = nested(original, part);
        let parts = match inside > 0 && inside == nested(edited, new) {
            true => 1..inside + 1,
            false => 0..1,
        };
        let text = |message: &Message, part: usize| {
            counted_parts(message).nth(part).map(|part| message.text_of(part).into_owned()).unwrap_or_default()
        };
        let changed = parts.filter(|offset| text(original, part + offset) != text(edited, new + offset));
        let edit = |offset: usize| {
            let pieces = self.history.pieces(message, &text(edited, new + offset));
            EditedPart { message, part: part + offset, text: NewText::Text(pieces) }
        };
        changed.map(edit).collect()
    }
}

/// The counted parts that stand in no other, each with its number and as it is written.
fn top_level(message: &Message) -> Vec<(usize, &str)> {
    let parts = counted_parts(message).enumerate().filter(|(_, part)| !part.nested);
    parts.map(|(number, part)| (number, part.span.of(message.raw()))).collect()
}

impl ViewRecord {
    /// How many messages it speaks of.
    fn last_place(&self) -> usize {
        let texts = self.ours.iter().map(|ours| &ours.text);
        let edited = self.edited.iter().filter_map(|edited| match &edited.text {
            NewText::Text(pieces) => Some(pieces),
            NewText::Dropped => None,
        });
        let quotes = texts.chain(edited).flatten().filter_map(|piece| match piece {
            Piece::Quote(Quote { message, .. }) => Some(message + 1),
            Piece::Ours(_) => None,
        });
        let gone = self.gone.iter().map(|range| range.end);
        let edits = self.edited.iter().map(|edited| edited.message + 1);
        let ours = self.ours.iter().map(|ours| ours.before);
        quotes.chain(gone).chain(edits).chain(ours).chain([self.head_end]).max().unwrap_or_default()
    }
}

/// A record over a history.
struct Applied<'a> {
    record: &'a ViewRecord,
    format: Format,
    log: &'a [&'a Message],
    chain: &'a Chain,
    history: History<'a>,
}

impl Applied<'_> {
    /// The place in the log of a counted message; thinking right before it belongs to it.
    fn place(&self, number: usize) -> usize {
        match number.checked_sub(1) {
            None => 0,
            Some(before) => self.chain.counted().get(before).map_or(self.log.len(), |index| index + 1),
        }
    }

    fn gone(&self) -> Vec<Range<usize>> {
        let counted = self.chain.counted();
        let end = |number: usize| counted.get(number).map_or(self.log.len(), |index| index + 1);
        let whole = self.record.gone.iter().cloned().flatten().map(|number| self.place(number)..end(number));
        let start = |number: usize| counted.get(number).copied().unwrap_or(self.log.len());
        let bare = self.record.without_thinking_before.iter().map(|number| self.place(*number)..start(*number));
        let mut all: Vec<usize> = whole.chain(bare).flatten().collect();
        all.sort_unstable();
        joined(all)
    }

    fn ours(&self) -> Result<Vec<SyntheticMessage>, ApplyError> {
        let message = |ours: &OurMessage| {
            let text = self.history.text(&ours.text).ok_or(ApplyError::NoSuchPlace)?;
            let message = Message::synthetic(self.format, ours.role, &text).map_err(|_| ApplyError::NoSuchPlace)?;
            let before = self.chain.counted().get(ours.before).copied().unwrap_or(self.log.len());
            Ok(SyntheticMessage::new(before, ours.kind, message.raw()))
        };
        self.record.ours.iter().map(message).collect()
    }

    fn edited(&self) -> Result<Vec<EditedMessage>, ApplyError> {
        let gone = self.gone();
        let is_gone = |index: usize| gone.iter().any(|range| range.contains(&index));
        let mut edited = Vec::new();
        for (index, message) in self.log.iter().enumerate().filter(|(index, _)| !is_gone(*index)) {
            let edits = self.edits(index, message)?;
            if !edits.is_empty() {
                let message = edit_message(self.format, message, &edits).map_err(|_| ApplyError::NoSuchPlace)?;
                edited.push(EditedMessage::new(index, message.raw()));
            }
        }
        Ok(edited)
    }

    fn edits(&self, index: usize, message: &Message) -> Result<Vec<Edit>, ApplyError> {
        let number = self.chain.count_before(index);
        let mut edits = Vec::new();
        let parts = || message.shape().parts.iter().enumerate();
        if self.record.thinking_gone.iter().any(|range| range.contains(&number)) {
            let thinking = parts().filter(|(_, part)| part.kind == PartKind::Thinking);
            edits.extend(thinking.map(|(part, _)| Edit { index, part, change: Change::Drop }));
        }
        if self.chain.counted().get(number) != Some(&index) {
            return Ok(edits);
        }
        let first = self.record.edited.partition_point(|edited| edited.message < number);
        for edited in self.record.edited[first..].iter().take_while(|edited| edited.message == number) {
            let mut counted = parts().filter(|(_, part)| part.kind != PartKind::Thinking);
            let (part, _) = counted.nth(edited.part).ok_or(ApplyError::NoSuchPlace)?;
            let change = match &edited.text {
                NewText::Dropped => Change::Drop,
                NewText::Text(pieces) => Change::Stub(self.history.text(pieces).ok_or(ApplyError::NoSuchPlace)?),
            };
            edits.push(Edit { index, part, change });
        }
        Ok(edits)
    }
}
