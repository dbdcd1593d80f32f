//! The rungs, least loss first.

use super::Ladder;
use super::clip::clipped;
use super::config::Rung;
use super::ledger::Standing;
use super::stub::{call_of, cleared, superseded};
use crate::edit::{Change, Edit};
use crate::policy::draft::Draft;
use crate::sight::Sight;
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::wire::{Message, Part, PartKind};
use std::collections::HashMap;

/// Tool output beyond this many characters is clipped before anything is cleared.
const CLIP_CHARS: u32 = 4_000;
/// What is left of it.
const CLIPPED_CHARS: usize = 1_600;
/// Tool output up to this many characters is not worth a stub.
const SMALL_CHARS: u32 = 400;
/// About what a stub costs.
const STUB_TOKENS: u64 = 50;
/// A first reading of the ledger's bound as characters; what is written is counted.
const CHARS_PER_TOKEN: u64 = 4;

impl Ladder {
    /// Climbs until the middle is down to its target.
    pub(super) fn climb(&mut self, draft: &mut Draft<'_>) {
        let sight = draft.sight;
        let middle = self.middle(sight);
        let target = Millitokens::from_tokens(self.marks.target_tokens);
        draft.plan.head_end = self.head_end;
        let kept = self.fold_oldest(draft, &middle, target);
        for rung in [Rung::Superseded, Rung::Clipped, Rung::Cleared, Rung::Dropped] {
            if self.config.rungs.contains(&rung) {
                self.climb_rung(draft, kept, rung, target);
            }
        }
        self.drop_what_does_not_fit(draft);
        if !draft.plan.evict.is_empty() {
            self.write_ledger(draft);
        }
    }

    /// The last resort before clipping: the oldest of the tail leaves, too.
    fn drop_what_does_not_fit(&mut self, draft: &mut Draft<'_>) {
        let sight = draft.sight;
        let ledger = Millitokens::from_tokens(self.marks.ledger_tokens);
        let limit = self.budget.allowed_tokens().saturating_sub(sight.tokens(ledger));
        if sight.tokens(draft.total()) <= limit {
            return;
        }
        let folded = draft.plan.evict.len();
        let pinned = sight.units().partition_point(|unit| unit.range.start < self.head_end);
        draft.drop_oldest(pinned, limit, self.latest_request);
        draft.plan.evict[folded..].sort_by_key(|range| range.start);
        for index in draft.plan.evict[folded..].iter().cloned().flatten() {
            self.ledger.fold(index, sight.message(index));
        }
    }

    /// Folds the oldest units until the rest, with all its results cleared, is within the target. Returns the rest.
    fn fold_oldest<'u, 'a>(
        &mut self,
        draft: &mut Draft<'a>,
        middle: &'u [&'a Unit],
        target: Millitokens,
    ) -> &'u [&'a Unit] {
        if !self.config.rungs.contains(&Rung::Folded) {
            return middle;
        }
        let sight = draft.sight;
        let mut left = Millitokens::ZERO;
        let mut first_kept = middle.len();
        while let Some(position) = first_kept.checked_sub(1) {
            left += middle[position].range.clone().map(|index| cleared_amount(sight, index)).sum();
            if left > target {
                break;
            }
            first_kept = position;
        }
        for unit in &middle[..first_kept] {
            for index in unit.range.clone() {
                self.ledger.fold(index, sight.message(index));
            }
            draft.evict(unit);
        }
        &middle[first_kept..]
    }

    fn climb_rung(&self, draft: &mut Draft<'_>, units: &[&Unit], rung: Rung, target: Millitokens) {
        if units.is_empty() {
            return;
        }
        let sight = draft.sight;
        let later = if rung == Rung::Superseded { Later::of(sight) } else { Later::default() };
        let indices = || units.iter().flat_map(|unit| unit.range.clone());
        let mut left: Millitokens = indices().map(|index| draft.amount(index)).sum();
        for unit in units {
            let messages: Vec<&Message> = unit.range.clone().map(|index| sight.message(index)).collect();
            for index in unit.range.clone() {
                if left <= target {
                    return;
                }
                let before = draft.amount(index);
                let place = Place { index, unit: &messages, message: sight.message(index) };
                let parts = place.message.shape().parts.iter().enumerate();
                let edits = parts.filter_map(|(part, shape)| {
                    let change = self.change(rung, place, shape, &later)?;
                    Some(Edit { index, part, change })
                });
                draft.edit(index, &edits.collect::<Vec<_>>());
                left = left.saturating_sub(before) + draft.amount(index);
            }
        }
    }

    /// What a rung does to a part, if anything.
    fn change(&self, rung: Rung, place: Place<'_>, part: &Part, later: &Later) -> Option<Change> {
        let Place { index, unit, message } = place;
        match rung {
            Rung::Superseded if part.kind == PartKind::ToolResult => {
                let survivor = later.survivor(place, part)?;
                Some(Change::Stub(superseded(index, survivor)))
            }
            Rung::Clipped if is_output(part) && part.chars > CLIP_CHARS => {
                Some(Change::Stub(clipped(index, &message.text_of(part), CLIPPED_CHARS)))
            }
            Rung::Cleared if part.kind == PartKind::ToolResult && is_worth_clearing(part) => {
                let call = call_of(unit, &message.id_of(part));
                Some(Change::Stub(cleared(index, call, message, part)))
            }
            Rung::Dropped if matches!(part.kind, PartKind::Media(_)) && !part.nested => Some(Change::Drop),
            Rung::Dropped if part.kind == PartKind::Thinking && self.is_closed(place) => Some(Change::Drop),
            _ => None,
        }
    }

    /// Whether a message stands in a turn that is over and says something besides what it thought: only there may
    /// thinking leave.
    fn is_closed(&self, place: Place<'_>) -> bool {
        let is_speech = |part: &Part| !part.nested && part.kind != PartKind::Thinking;
        self.latest_request.is_some_and(|request| place.index < request)
            && place.message.shape().parts.iter().any(is_speech)
    }

    fn write_ledger(&mut self, draft: &mut Draft<'_>) {
        let sums = std::mem::take(&mut self.sums.whole);
        let end = sums.last().copied().unwrap_or_default();
        let age = |index: usize| end.saturating_sub(sums.get(index).copied().unwrap_or_default()) / 1_000;
        let folded: u64 = draft.plan.evict.iter().map(|range| sums[range.end] - sums[range.start]).sum::<u64>() / 1_000;
        let before = draft.sight.ledger_amount().ceil_tokens();
        let most = self.marks.ledger_tokens.min(before.max(folded / 3));
        let standing = standing(draft);
        let text = self.ledger_within(draft.sight, most, &standing, age);
        self.sums.whole = sums;
        draft.put_ledger(text);
    }

    /// Writes the ledger, and again shorter while it has more tokens than its bound.
    fn ledger_within(
        &mut self,
        sight: &Sight<'_>,
        most: u64,
        standing: &Standing,
        age: impl Fn(usize) -> u64,
    ) -> String {
        let mut max_chars = most.saturating_mul(CHARS_PER_TOKEN);
        loop {
            let room = usize::try_from(max_chars).unwrap_or(usize::MAX);
            let text = self.ledger.write(room, self.marks.lines_hundredths, standing, &age);
            let tokens = sight.tokens(sight.count_text(&text));
            if tokens <= most || max_chars < 64 {
                return text;
            }
            max_chars = (max_chars * most / tokens).min(max_chars * 9 / 10);
        }
    }

    /// Clips new tool results before they are sent for the first time: that costs no cache.
    pub(super) fn shrink_arrivals(&self, draft: &mut Draft<'_>, arrived: usize) {
        let limit = self.marks.shrink_on_arrival_tokens.saturating_mul(CHARS_PER_TOKEN);
        if limit == 0 {
            return;
        }
        let limit_chars = u32::try_from(limit).unwrap_or(u32::MAX);
        for index in arrived..draft.sight.log_len() {
            let message = draft.sight.message(index);
            let parts = message.shape().parts.iter().enumerate();
            let oversized = parts.filter(|(_, part)| is_output(part) && part.chars > limit_chars);
            let edits = oversized.map(|(part, shape)| {
                let text = clipped(index, &message.text_of(shape), limit_chars as usize / 2);
                Edit { index, part, change: Change::Stub(text) }
            });
            draft.edit(index, &edits.collect::<Vec<_>>());
        }
    }
}

/// A message in its unit.
#[derive(Clone, Copy)]
struct Place<'a> {
    index: usize,
    unit: &'a [&'a Message],
    message: &'a Message,
}

fn is_output(part: &Part) -> bool {
    part.kind == PartKind::ToolResult || (part.nested && part.kind == PartKind::Text)
}

fn is_worth_clearing(part: &Part) -> bool {
    !part.text.is_empty() && !part.is_error && (part.chars == 0 || part.chars > SMALL_CHARS)
}

/// The names in what is left of the view.
fn standing(draft: &mut Draft<'_>) -> Standing {
    let sight = draft.sight;
    let mut standing = Standing::default();
    for index in draft.left().iter().flat_map(|unit| unit.range.clone()) {
        standing.note(sight.message(index));
    }
    standing
}

/// Where the sizeable results in the view stand last: by their words, and by what was asked.
#[derive(Debug, Default)]
struct Later {
    words: HashMap<String, usize>,
    calls: HashMap<(String, String), usize>,
}

impl Later {
    fn of(sight: &Sight<'_>) -> Self {
        let mut later = Self::default();
        for unit in sight.units() {
            let messages: Vec<&Message> = unit.range.clone().map(|index| sight.message(index)).collect();
            for (index, message) in unit.range.clone().zip(&messages) {
                for part in message.shape().parts_of(PartKind::ToolResult) {
                    if part.chars > SMALL_CHARS {
                        later.words.insert(message.text_of(part).into_owned(), index);
                    }
                    if let Some(call) = asked(&messages, message, part) {
                        later.calls.insert(call, index);
                    }
                }
            }
        }
        later
    }

    /// The last message behind this one that says the same, or that answers the same question.
    fn survivor(&self, place: Place<'_>, part: &Part) -> Option<usize> {
        let is_later = |index: &usize| *index > place.index;
        let same_words = self.words.get(&*place.message.text_of(part)).copied().filter(is_later);
        let same_call = || self.calls.get(&asked(place.unit, place.message, part)?).copied().filter(is_later);
        same_words.or_else(same_call)
    }
}

/// The tool and the arguments that a result answers; `None` for a failure, which replaces nothing and stays.
fn asked(unit: &[&Message], message: &Message, part: &Part) -> Option<(String, String)> {
    if part.is_error {
        return None;
    }
    let (caller, call) = call_of(unit, &message.id_of(part))?;
    Some((caller.name_of(call).into_owned(), caller.text_of(call).into_owned()))
}

/// About what a message costs once its results are cleared: the model's own words stay.
pub(super) fn cleared_amount(sight: &Sight<'_>, index: usize) -> Millitokens {
    let shape = sight.message(index).shape();
    let all = shape.chars().max(1);
    let is_cleared = |part: &&Part| is_output(part) && part.chars > SMALL_CHARS;
    let cleared: u64 = shape.parts.iter().filter(is_cleared).map(|part| u64::from(part.chars)).sum();
    let amount = sight.amount(index..index + 1).thousandths();
    let stub = if cleared > 0 { Millitokens::from_tokens(STUB_TOKENS) } else { Millitokens::ZERO };
    Millitokens::new(amount - amount * cleared.min(all) / all) + stub
}
