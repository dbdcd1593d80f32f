//! The rungs, least loss first.

use super::Ladder;
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
/// A first reading of the ledger's bound as characters; what is written is counted.
const CHARS_PER_TOKEN: u64 = 4;

impl Ladder {
    /// Climbs until the middle is down to its target.
    pub(super) fn climb(&mut self, draft: &mut Draft<'_>) {
        let sight = draft.sight;
        let middle = self.middle(sight);
        let target = Millitokens::from_tokens(self.config.target_tokens);
        draft.plan.head_end = self.head_end;
        let kept = self.fold_oldest(draft, &middle, target);
        for rung in [Rung::Superseded, Rung::Clipped, Rung::Cleared] {
            self.climb_rung(draft, kept, rung, target);
        }
        self.drop_what_does_not_fit(draft);
        if !self.ledger.is_empty() {
            self.write_ledger(draft);
        }
    }

    /// The last resort before clipping: the oldest of the tail leaves, too.
    fn drop_what_does_not_fit(&mut self, draft: &mut Draft<'_>) {
        let sight = draft.sight;
        let ledger = Millitokens::from_tokens(self.config.ledger_tokens);
        let limit = self.budget.allowed_tokens().saturating_sub(sight.tokens(ledger));
        if sight.tokens(draft.total()) <= limit {
            return;
        }
        let folded = draft.plan.evict.len();
        let pinned = sight.units().partition_point(|unit| unit.range.start < self.head_end);
        draft.drop_oldest(pinned, limit);
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
        let sight = draft.sight;
        let mut left = Millitokens::ZERO;
        let mut first_kept = middle.len();
        while let Some(position) = first_kept.checked_sub(1) {
            left += cleared_amount(sight, middle[position]);
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
        let sight = draft.sight;
        let later = if rung == Rung::Superseded { last_standings(sight) } else { HashMap::new() };
        let amount = |draft: &Draft<'_>| -> Millitokens {
            units.iter().flat_map(|unit| unit.range.clone()).map(|index| draft.amount(index)).sum()
        };
        let mut left = amount(draft);
        for unit in units {
            let messages: Vec<&Message> = unit.range.clone().map(|index| sight.message(index)).collect();
            for index in unit.range.clone() {
                if left <= target {
                    return;
                }
                let before = draft.amount(index);
                let message = sight.message(index);
                let parts = message.shape().parts.iter().enumerate();
                let edits = parts.filter_map(|(part, shape)| {
                    let change = rung.change(index, &messages, message, shape, &later)?;
                    Some(Edit { index, part, change })
                });
                draft.edit(index, &edits.collect::<Vec<_>>());
                left = left.saturating_sub(before) + draft.amount(index);
            }
        }
    }

    fn write_ledger(&mut self, draft: &mut Draft<'_>) {
        let sums = std::mem::take(&mut self.sums);
        let end = sums.last().copied().unwrap_or_default();
        let age = |index: usize| end.saturating_sub(sums.get(index).copied().unwrap_or_default()) / 1_000;
        let folded: u64 = draft.plan.evict.iter().map(|range| sums[range.end] - sums[range.start]).sum::<u64>() / 1_000;
        let before = draft.sight.ledger_amount().ceil_tokens();
        let most = self.config.ledger_tokens.min(before.max(folded / 3));
        let text = self.ledger_within(draft.sight, most, age);
        self.sums = sums;
        draft.put_ledger(text);
    }

    /// Writes the ledger, and again shorter while it has more tokens than its bound.
    fn ledger_within(&mut self, sight: &Sight<'_>, most: u64, age: impl Fn(usize) -> u64) -> String {
        let mut max_chars = most.saturating_mul(CHARS_PER_TOKEN);
        loop {
            let text = self.ledger.write(usize::try_from(max_chars).unwrap_or(usize::MAX), &age);
            let tokens = sight.tokens(sight.count_text(&text));
            if tokens <= most || max_chars < 64 {
                return text;
            }
            max_chars = (max_chars * most / tokens).min(max_chars * 9 / 10);
        }
    }

    /// Clips new tool results before they are sent for the first time: that costs no cache.
    pub(super) fn shrink_arrivals(&self, draft: &mut Draft<'_>, arrived: usize) {
        let Some(limit) = self.config.shrink_on_arrival_tokens else {
            return;
        };
        let limit_chars = u32::try_from(limit.saturating_mul(4)).unwrap_or(u32::MAX);
        for index in arrived..draft.sight.log_len() {
            let parts = draft.sight.message(index).shape().parts.iter().enumerate();
            let oversized = parts.filter(|(_, part)| is_output(part) && part.chars > limit_chars);
            let keep_chars = limit_chars as usize / 2;
            let edits: Vec<Edit> =
                oversized.map(|(part, _)| Edit { index, part, change: Change::Clip { keep_chars } }).collect();
            draft.edit(index, &edits);
        }
    }
}

/// A step of the ladder that changes messages which stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rung {
    Superseded,
    Clipped,
    Cleared,
}

impl Rung {
    fn change(
        self,
        index: usize,
        unit: &[&Message],
        message: &Message,
        part: &Part,
        later: &HashMap<String, usize>,
    ) -> Option<Change> {
        match self {
            Self::Superseded if part.kind == PartKind::ToolResult => {
                let survivor = *later.get(&*message.text_of(part)).filter(|survivor| **survivor > index)?;
                Some(Change::Stub(superseded(index, survivor)))
            }
            Self::Clipped if is_output(part) && part.chars > CLIP_CHARS => {
                Some(Change::Clip { keep_chars: CLIPPED_CHARS })
            }
            Self::Cleared if part.kind == PartKind::ToolResult && is_worth_clearing(part) => {
                let call = call_of(unit, &message.id_of(part));
                Some(Change::Stub(cleared(index, call, message, part)))
            }
            Self::Cleared if matches!(part.kind, PartKind::Media(_)) && !part.nested => Some(Change::Drop),
            _ => None,
        }
    }
}

fn is_output(part: &Part) -> bool {
    part.kind == PartKind::ToolResult || (part.nested && part.kind == PartKind::Text)
}

fn is_worth_clearing(part: &Part) -> bool {
    !part.text.is_empty() && !part.is_error && (part.chars == 0 || part.chars > SMALL_CHARS)
}

/// Where each sizeable tool result's words stand last.
fn last_standings(sight: &Sight<'_>) -> HashMap<String, usize> {
    let mut last = HashMap::new();
    for unit in sight.units() {
        for index in unit.range.clone() {
            let message = sight.message(index);
            for part in message.shape().parts_of(PartKind::ToolResult).filter(|part| part.chars > SMALL_CHARS) {
                last.insert(message.text_of(part).into_owned(), index);
            }
        }
    }
    last
}

/// About what a unit costs once its results are cleared: the model's own words stay.
fn cleared_amount(sight: &Sight<'_>, unit: &Unit) -> Millitokens {
    unit.range
        .clone()
        .map(|index| {
            let shape = sight.message(index).shape();
            let all = shape.chars().max(1);
            let cleared: u64 = shape
                .parts
                .iter()
                .filter(|part| is_output(part) && part.chars > SMALL_CHARS)
                .map(|part| u64::from(part.chars))
                .sum();
            let amount = sight.amount(index..index + 1).thousandths();
            Millitokens::new(amount - amount * cleared / all + if cleared > 0 { 50_000 } else { 0 })
        })
        .sum()
}
