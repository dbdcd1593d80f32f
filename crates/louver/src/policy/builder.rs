//! A plan in the making.

use crate::budget::Budget;
use crate::edit::{Change, Edit};
use crate::plan::{Overflow, Plan};
use crate::sight::Sight;
use crate::tokens::{Factor, Millitokens};
use crate::unit::Unit;
use crate::wire::{PartKind, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// Tool output beyond this many characters may be clipped when dropping messages was not enough.
const OVERSIZED_CHARS: u32 = 2_000;

/// A plan in the making: what is left of the view, and what it costs.
pub(super) struct Draft<'a> {
    pub(super) plan: Plan,
    pub(super) sight: &'a Sight<'a>,
    /// What is left, collected only once something has to go.
    left: Option<Vec<&'a Unit>>,
    total: Millitokens,
    /// What messages cost that the plan edits.
    edited: BTreeMap<usize, Millitokens>,
    scale: Factor,
    budget: Budget,
}

impl<'a> Draft<'a> {
    pub(super) fn new(plan: Plan, sight: &'a Sight<'a>, total: Millitokens, scale: Factor, budget: Budget) -> Self {
        Self { plan, sight, left: None, total, edited: BTreeMap::new(), scale, budget }
    }

    pub(super) fn left(&mut self) -> &mut Vec<&'a Unit> {
        let (sight, plan) = (self.sight, &self.plan);
        self.left.get_or_insert_with(|| {
            // A late answer stays with its call, so only units without an owner are ours to drop.
            sight.units().iter().filter(|unit| unit.owner.is_none() && !plan.evicts(unit.range.start)).collect()
        })
    }

    pub(super) fn fits(&self) -> bool {
        self.fits_with(self.total)
    }

    fn fits_with(&self, total: Millitokens) -> bool {
        !self.budget.is_exceeded_by(self.sight.tokens((total + self.seams()).scaled(self.scale)))
    }

    /// What has to be put where units left. O(units), paid only by a cut.
    fn seams(&self) -> Millitokens {
        let units = self.left.as_deref().unwrap_or_default();
        if self.plan.evict.is_empty() {
            return Millitokens::ZERO;
        }
        let starts = units.iter().map(|unit| unit.range.start);
        let ends = std::iter::once(None).chain(units.iter().map(|unit| Some(unit.range.end)));
        let seams = ends.zip(starts).filter(|(end, start)| end.unwrap_or(0) != *start);
        seams.map(|(end, start)| self.sight.seam_amount(end.map(|end| end - 1), start)).sum()
    }

    pub(super) fn drop_units(&mut self, units: Range<usize>) -> usize {
        let dropped: Vec<_> = self.left().drain(units).collect();
        for unit in &dropped {
            for index in unit.range.clone() {
                self.total = self.total.saturating_sub(self.amount(index));
            }
            self.plan.edits.retain(|edit| !unit.range.contains(&edit.index));
            self.plan.evict.push(unit.range.clone());
        }
        dropped.iter().map(|unit| unit.len()).sum()
    }

    /// What the plan so far would send.
    pub(super) fn total(&self) -> Millitokens {
        self.total
    }

    /// Takes a unit out.
    pub(super) fn evict(&mut self, unit: &Unit) {
        self.total = self.total.saturating_sub(unit.range.clone().map(|index| self.amount(index)).sum());
        self.plan.evict.push(unit.range.clone());
    }

    /// Changes a message that stays, besides what the plan changes in it already. An edit that would make it larger is
    /// left out.
    pub(super) fn edit(&mut self, index: usize, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let is_new = |edit: &&Edit| !edits.iter().any(|new| new.part == edit.part);
        let earlier = self.plan.edits.iter().filter(|edit| edit.index == index).filter(is_new).cloned();
        let all: Vec<Edit> = earlier.chain(edits.iter().cloned()).collect();
        let before = self.amount(index);
        match self.sight.amount_edited(index, &all) {
            Some(amount) if amount < before => {
                self.total = self.total.saturating_sub(before) + amount;
                self.edited.insert(index, amount);
                self.plan.edits.retain(|edit| edit.index != index);
                self.plan.edits.extend(all);
            }
            _ => {}
        }
    }

    /// Puts a ledger into the plan, in place of the one in the view.
    pub(super) fn put_ledger(&mut self, text: String) {
        let before = self.sight.ledger_amount();
        self.total = self.total.saturating_sub(before) + self.sight.count_ledger(&text);
        self.plan.ledger = Some(text);
    }

    /// Drops the oldest units behind the first `pinned` ones until no more than `limit` tokens are left; the last unit
    /// stays, and the one that holds the message `spared`. O(dropped).
    pub(super) fn drop_oldest(&mut self, pinned: usize, limit: u64, spared: Option<usize>) {
        let units = self.left().clone();
        let before = pinned.checked_sub(1).map(|last| units[last].range.end - 1);
        let is_spared = |unit: &Unit| spared.is_some_and(|index| unit.range.contains(&index));
        let mut total = self.total;
        let mut end = pinned;
        let mut passed = None;
        while end + 1 < units.len() {
            let next = units[end].range.start;
            let seam = if end > pinned { self.sight.seam_amount(before, next) } else { Millitokens::ZERO };
            if self.sight.tokens((total + seam).scaled(self.scale)) <= limit {
                break;
            }
            match is_spared(units[end]) {
                true => passed = Some(end),
                false => total = total.saturating_sub(units[end].range.clone().map(|index| self.amount(index)).sum()),
            }
            end += 1;
        }
        // The later ones first, so that positions hold.
        let first_end = passed.unwrap_or(end);
        self.drop_units(passed.map_or(end, |spared| spared + 1)..end);
        self.drop_units(pinned..first_end);
    }

    /// Clips where dropping was not enough, or gives up.
    pub(super) fn finish(mut self) -> Result<Plan, Overflow> {
        self.clip_until_it_fits();
        if !self.fits() {
            return Err(self.overflow());
        }
        self.plan.evict.sort_by_key(|range| range.start);
        self.plan.edits.sort_by_key(|edit| edit.index);
        Ok(self.plan)
    }

    /// Oldest first, each as little as needed.
    pub(super) fn clip_until_it_fits(&mut self) {
        let sight = self.sight;
        let ranges: Vec<_> = self.left().iter().map(|unit| unit.range.clone()).collect();
        for index in ranges.into_iter().flatten() {
            for part in 0..sight.message(index).shape().parts.len() {
                if self.fits() {
                    return;
                }
                self.clip(index, part);
            }
        }
    }

    /// Cuts one tool output to what would make the whole fit, but not below [`OVERSIZED_CHARS`].
    fn clip(&mut self, index: usize, part: usize) {
        let message = self.sight.message(index);
        let Some(chars) = clippable_chars(message.shape(), part) else {
            return;
        };
        let earlier: Vec<Edit> = self.plan.edits.iter().filter(|edit| edit.index == index).cloned().collect();
        for keep_chars in [self.chars_that_fit(chars), OVERSIZED_CHARS as usize] {
            let edit = Edit { index, part, change: Change::Clip { keep_chars } };
            let edits: Vec<Edit> = earlier.iter().cloned().chain([edit.clone()]).collect();
            let Some(amount) = self.sight.amount_edited(index, &edits) else {
                return;
            };
            let total = self.total.saturating_sub(self.amount(index)) + amount;
            if self.fits_with(total) || keep_chars <= OVERSIZED_CHARS as usize {
                self.total = total;
                self.edited.insert(index, amount);
                self.plan.edits.push(edit);
                return;
            }
        }
    }

    /// What a message costs under the plan so far.
    pub(super) fn amount(&self, index: usize) -> Millitokens {
        self.edited.get(&index).copied().unwrap_or_else(|| self.sight.amount(index..index + 1))
    }

    /// A first guess from four characters a token, with room for the marker.
    fn chars_that_fit(&self, chars: u32) -> usize {
        let now = self.sight.tokens(self.total.scaled(self.scale));
        let excess = now.saturating_sub(self.budget.allowed_tokens());
        let cut = excess.saturating_mul(4).saturating_add(100);
        let keep = u64::from(chars).saturating_sub(cut).max(u64::from(OVERSIZED_CHARS));
        usize::try_from(keep).unwrap_or(usize::MAX)
    }

    /// The floor is what would be left at the very least.
    pub(super) fn overflow(&mut self) -> Overflow {
        let sight = self.sight;
        let units = self.left().clone();
        let floor = units.first().into_iter().chain(units.last().filter(|_| units.len() > 1));
        let ranges: Vec<_> = floor.map(|unit| unit.range.clone()).collect();
        let indices = ranges.into_iter().flatten();
        let tokens_of = |index: usize| sight.tokens(self.amount(index).scaled(self.scale));
        let largest_index = indices.max_by_key(|index| tokens_of(*index)).unwrap_or(0);
        let largest_tokens = if sight.log_len() == 0 { 0 } else { tokens_of(largest_index) };
        Overflow {
            floor_tokens: sight.tokens((self.total + self.seams()).scaled(self.scale)),
            allowed_tokens: self.budget.allowed_tokens(),
            largest_index,
            largest_tokens,
        }
    }
}

/// The characters of a tool output that is too large: the result itself, or a text inside it.
fn clippable_chars(shape: &Shape, part: usize) -> Option<u32> {
    let part = &shape.parts[part];
    let is_output = part.kind == PartKind::ToolResult || (part.nested && part.kind == PartKind::Text);
    (is_output && part.chars > OVERSIZED_CHARS).then_some(part.chars)
}
