//! Makes a record of what a window would send.

use super::chain::Chain;
use super::quote::{History, Piece, counted_parts, own_text, push_ours};
use super::record::{EditedPart, OurMessage, VERSION, ViewRecord, holds, joined};
use super::texts::hash_of_texts;
use louver::plan::Source;
use louver::window::{Event, Origin, Window};
use louver::wire::{Message, PartKind};
use std::ops::Range;

impl ViewRecord {
    /// The present view of a window, whose whole log has this chain. O(the log).
    #[must_use]
    pub fn of(window: &Window, chain: &Chain) -> Self {
        Recorder::new(window, chain).record()
    }
}

struct Recorder<'w> {
    window: &'w Window,
    chain: &'w Chain,
    history: History<'w>,
    /// The log indices of what is sent.
    kept: Vec<usize>,
}

impl<'w> Recorder<'w> {
    fn new(window: &'w Window, chain: &'w Chain) -> Self {
        let log: Vec<&Message> = (0..window.len()).filter_map(|index| window.original(index)).collect();
        let history = History::of(&log, chain);
        let kept = window.view().iter().filter_map(|sent| sent.origin.index()).collect();
        Self { window, chain, history, kept }
    }

    fn record(&self) -> ViewRecord {
        let counted = self.chain.counted();
        let gone = joined((0..counted.len()).filter(|number| !self.is_kept(counted[*number])));
        let (edited, thinking_gone) = self.edited();
        let trigger = self.window.events().iter().rev().find_map(|(_, event)| match event {
            Event::Fitted(decision) => Some(decision.as_deref().and_then(|decision| decision.trigger)),
            _ => None,
        });
        let mut record = ViewRecord {
            version: VERSION,
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            policy: self.window.policy_name().to_owned(),
            trigger: trigger.flatten(),
            is_rescue: false,
            is_taken_over: false,
            is_left_alone: false,
            messages: counted.len(),
            thinking_gone_before: self.thinking_gone_before(&gone),
            gone,
            thinking_gone,
            edited,
            ours: self.ours(),
            head_end: self.chain.count_before(self.window.head_end().min(self.window.len())),
            touches: 0,
            texts: String::new(),
            facts: serde_json::Value::Null,
        };
        // A view that is the history itself says something of this very history, and of no other.
        record.touches = if record.is_everything() { record.messages } else { record.last_place() };
        record.texts = hash_of_texts(&record, &self.history).unwrap_or_default();
        record
    }

    fn is_kept(&self, index: usize) -> bool {
        self.kept.binary_search(&index).is_ok()
    }

    /// Messages that are kept although messages of thinking alone before them are not, or not as they came.
    fn thinking_gone_before(&self, gone: &[Range<usize>]) -> Vec<Range<usize>> {
        let edited: Vec<usize> = self.window.view().iter().filter_map(|sent| edited_index(sent.origin)).collect();
        let counted = self.chain.counted();
        let is_bare = |index: &usize| counted.binary_search(index).is_err();
        let is_lost = |index: &usize| !self.is_kept(*index) || edited.binary_search(index).is_ok();
        let lost = (0..self.window.len()).filter(is_bare).filter(is_lost);
        let mut numbers: Vec<usize> = lost.map(|index| self.chain.count_before(index)).collect();
        numbers.dedup();
        joined(numbers.into_iter().filter(|number| !holds(gone, *number)))
    }

    /// Our own messages, each with what it stands before.
    fn ours(&self) -> Vec<OurMessage> {
        let mut ours: Vec<OurMessage> = Vec::new();
        let mut waiting = 0;
        let counted = self.chain.counted();
        for sent in self.window.view().iter() {
            match sent.origin {
                Origin::Synthetic(kind) => {
                    let text = self.our_text(sent.message, sent.sources);
                    ours.push(OurMessage { before: counted.len(), kind, role: sent.message.shape().role, text });
                }
                Origin::Kept(index) | Origin::Edited(index) => {
                    let before = self.chain.count_before(index);
                    ours[waiting..].iter_mut().for_each(|ours| ours.before = before);
                    waiting = ours.len();
                }
            }
        }
        ours
    }

    /// A text of our own: what it takes from the history is said by its places. What stands nowhere that counts is left
    /// out, so that a record never holds a word of the conversation.
    fn our_text(&self, message: &Message, sources: &[Source]) -> Vec<Piece> {
        let text: String = message.shape().parts.iter().map(|part| message.text_of(part)).collect();
        let mut pieces = Vec::new();
        let mut at = 0;
        for source in sources {
            let Some(quoted) = text.get(source.range.clone()).filter(|_| source.range.start >= at) else {
                continue;
            };
            push_ours(&mut pieces, &text[at..source.range.start]);
            at = source.range.end;
            pieces.extend(self.history.quotes(self.chain.count_before(source.message), quoted));
        }
        push_ours(&mut pieces, &text[at..]);
        pieces
    }

    /// Parts in another form, and the messages whose thinking is gone, those between them that have none included.
    fn edited(&self) -> (Vec<EditedPart>, Vec<Range<usize>>) {
        let (mut edited, mut thinking): (Vec<EditedPart>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
        let mut is_run = false;
        for sent in self.window.view().iter() {
            let Some(index) = sent.origin.index().filter(|index| self.chain.is_counted(*index)) else { continue };
            let Some(original) = self.window.original(index) else { continue };
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
            if sent.origin == Origin::Edited(index) {
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
                None => found.push(EditedPart { message, part, text: None }),
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
            counted_parts(message).nth(part).map(|part| own_text(message, part)).unwrap_or_default()
        };
        let changed = parts.filter(|offset| text(original, part + offset) != text(edited, new + offset));
        let edit = |offset: usize| {
            let pieces = self.history.pieces(message, &text(edited, new + offset));
            EditedPart { message, part: part + offset, text: Some(pieces) }
        };
        changed.map(edit).collect()
    }
}

fn edited_index(origin: Origin) -> Option<usize> {
    match origin {
        Origin::Edited(index) => Some(index),
        Origin::Kept(_) | Origin::Synthetic(_) => None,
    }
}

/// The counted parts that stand in no other, each with its number and as it is written.
fn top_level(message: &Message) -> Vec<(usize, &str)> {
    let parts = counted_parts(message).enumerate().filter(|(_, part)| !part.nested);
    parts.map(|(number, part)| (number, part.span.of(message.raw()))).collect()
}
