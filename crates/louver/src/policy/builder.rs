//! A plan in the making.

use super::PolicyInput;
use crate::catalog::ThinkingBinding;
use crate::edit::{Change, Edit, thinking_edits};
use crate::plan::{Counted, Largest, LedgerChange, Overflow, Pins, Plan, Written};
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::view::{Synthetic, SyntheticKind};
use crate::wire::{Format, Message, PartKind, Role, Shape};
use std::collections::BTreeMap;
use std::ops::Range;

/// Tool output beyond this many characters may be clipped when dropping messages was not enough.
const OVERSIZED_CHARS: u32 = 2_000;

/// A plan in the making: what is left of the view, what may still leave, and what exactly the rest costs. Pinned units,
/// those that the wire format holds and the last one cannot be evicted through it, so no policy can do so by mistake.
///
/// Costs: making one is O(units in the view), which only a cut pays; each eviction is O(its messages).
///
/// ```
/// use louver::plan::{Bound, Overflow, Pins, Plan, Trigger};
/// use louver::policy::{Policy, PolicyInput};
/// use louver::window::WindowConfig;
/// use louver::{Budget, Format, PolicyKind, Window};
/// use std::sync::Arc;
///
/// /// Lets the first message go that may, whatever it costs.
/// #[derive(Debug)]
/// struct Impatient;
///
/// impl Policy for Impatient {
///     fn name(&self) -> &str {
///         "impatient"
///     }
///     fn bound(&self) -> Bound {
///         Bound::Tokens
///     }
///     fn pins(&self, input: &PolicyInput<'_>) -> Pins {
///         Pins::head(input.instructions_end())
///     }
///     fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
///         let mut builder = input.builder(&self.pins(input));
///         let (before, first) = (builder.total(), builder.amount(0));
///         assert!(builder.fits() && builder.units().count() == 3);
///         assert_eq!(builder.evict_where(|unit| unit.range.start == 0), 1);
///         assert!(builder.total() + first == before && builder.evicted() == [0..1]);
///         builder.put_ledger("[one message left]".to_owned());
///         builder.evict_unseen();
///         builder.edit(1, &[]); // what is inside a message can be changed, too
///         builder.evict_down_to(builder.tokens());
///         builder.clip_until_it_fits();
///         builder.plan_mut().trigger = Some(Trigger::TokenLimit);
///         // `into_plan` would do, because it fits; `finish` lets more go until it does, or says why it cannot.
///         if builder.fits() { Ok(builder.into_plan()) } else { builder.finish() }
///     }
/// }
///
/// let policy = PolicyKind::Custom(Arc::new(Impatient));
/// let config = WindowConfig::new(Format::OpenAiChat, policy).with_budget(Budget::new(4_000, Some(1_000))?);
/// let mut window = Window::new(config)?;
/// for text in ["one", "two", "three"] {
///     window.push_raw(&format!(r#"{{"role":"user","content":"{text}"}}"#))?;
/// }
/// assert_eq!(window.fit()?.evicted, [0..1]);
/// assert_eq!(window.view().len(), 3); // the ledger stands for what left
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PlanBuilder<'a> {
    plan: Plan,
    input: &'a PolicyInput<'a>,
    left: Vec<Left<'a>>,
    /// Late answers to calls in units of their own: they stay and leave with those.
    owned: Vec<&'a Unit>,
    /// System, tools, kept messages and accounts of what left, without the markers between them.
    total: Millitokens,
    /// What messages cost that the plan changes.
    changed: BTreeMap<usize, Millitokens>,
    /// Thinking from here on goes, where the model binds it to its prefix.
    change_start: usize,
    /// The ledger that the plan writes.
    ledger: Millitokens,
}

/// A unit that is still in the view under the plan so far.
#[derive(Clone, Copy, Debug)]
struct Left<'a> {
    unit: &'a Unit,
    may_leave: bool,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(input: &'a PolicyInput<'a>, pins: &Pins, plan: Plan) -> Self {
        let units = input.units().iter().filter(|unit| !plan.evicts(unit.range.start));
        // The newest message may be a late answer: then its call is in the last unit.
        let owners = units.clone().map(|unit| unit.owner.unwrap_or(unit.range.start));
        let last = owners.rev().find(|owner| !plan.evicts(*owner));
        let (owned, own): (Vec<&Unit>, Vec<&Unit>) = units.partition(|unit| unit.owner.is_some());
        let left = own.into_iter().map(|unit| {
            let is_last = last.is_some_and(|last| unit.range.contains(&last));
            Left { unit, may_leave: !is_last && !pins.touch(&unit.range) && !input.is_held(unit) }
        });
        let markers = input.synthetics.iter().filter(|ours| !ours.kind.is_account()).map(|ours| ours.amount).sum();
        let mut builder = Self {
            left: left.collect(),
            owned,
            total: input.total().saturating_sub(markers),
            changed: BTreeMap::new(),
            change_start: usize::MAX,
            ledger: input.ledger_amount(),
            plan,
            input,
        };
        builder.take_over();
        builder
    }

    /// Counts what another plan does already.
    fn take_over(&mut self) {
        let Plan { evict, mut edits, ledger, drops_summary, .. } = self.plan.clone();
        if let Some(first) = evict.first() {
            self.change_from(first.start);
        }
        for index in evict.iter().cloned().flatten() {
            self.total = self.total.saturating_sub(self.amount(index));
        }
        // A plan that was made without a builder names units alone.
        for range in &evict {
            self.drop_owned(range);
        }
        edits.retain(|edit| !self.plan.evicts(edit.index));
        edits.sort_by_key(|edit| edit.index);
        self.plan.edits.clone_from(&edits);
        for edits in edits.chunk_by(|a, b| a.index == b.index) {
            let index = edits[0].index;
            self.change_from(index + 1);
            self.replace_amount(index, self.amount_edited(index, edits).unwrap_or(self.amount(index)));
        }
        match ledger {
            LedgerChange::Keep => {}
            LedgerChange::Write(text) => self.put_ledger(text),
            LedgerChange::Remove => self.put_ledger(String::new()),
        }
        if drops_summary {
            self.drop_summary();
        }
    }

    /// The plan so far, to say why and where its head ends.
    pub fn plan_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }

    /// The units that are left, each with whether it may leave.
    pub fn units(&self) -> impl DoubleEndedIterator<Item = (&'a Unit, bool)> {
        self.left.iter().map(|left| (left.unit, left.may_leave))
    }

    /// What the plan so far would send, in tokens.
    pub fn tokens(&self) -> u64 {
        self.input.tokens(self.total())
    }

    /// The same exactly: everything, and what has to stand between neighbours that did not stand together before.
    pub fn total(&self) -> Millitokens {
        self.total + self.markers()
    }

    /// Whether the plan so far keeps the budget; always where there is none.
    pub fn fits(&self) -> bool {
        self.input.budget().is_none_or(|budget| !budget.is_exceeded_by(self.tokens()))
    }

    /// What a message costs under the plan so far.
    pub fn amount(&self, index: usize) -> Millitokens {
        self.changed.get(&index).copied().unwrap_or_else(|| self.input.amount(index..index + 1))
    }

    /// Evicts every unit that may leave and that `is_wanted` names, and returns how many messages leave.
    pub fn evict_where(&mut self, mut is_wanted: impl FnMut(&Unit) -> bool) -> usize {
        let (gone, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.left).into_iter().partition(|left| left.may_leave && is_wanted(left.unit));
        self.left = left;
        gone.iter().map(|left| self.drop(left.unit)).sum()
    }

    /// Evicts the oldest units that may leave until at most so many tokens are left.
    pub fn evict_down_to(&mut self, limit_tokens: u64) {
        self.evict_until(|builder| builder.input.tokens(builder.total) <= limit_tokens);
        // Markers are rare, so counting them exactly is left to the end.
        while self.tokens() > limit_tokens && self.evict_oldest() {}
    }

    fn evict_until(&mut self, is_enough: impl Fn(&Self) -> bool) {
        let units = std::mem::take(&mut self.left);
        let mut left = Vec::with_capacity(units.len());
        for candidate in units {
            if candidate.may_leave && !is_enough(self) {
                self.drop(candidate.unit);
            } else {
                left.push(candidate);
            }
        }
        self.left = left;
    }

    /// Evicts the oldest unit that may leave; says whether there was one.
    fn evict_oldest(&mut self) -> bool {
        let Some(position) = self.left.iter().position(|left| left.may_leave) else {
            return false;
        };
        let gone = self.left.remove(position);
        self.drop(gone.unit);
        true
    }

    fn drop(&mut self, unit: &Unit) -> usize {
        self.change_from(unit.range.start);
        let seen_at = self.input.landmarks.compaction.unwrap_or(0);
        let is_unseen = |ours: &Synthetic| ours.kind.is_account() && ours.before <= seen_at;
        if seen_at > 0 && self.input.synthetics.iter().any(is_unseen) {
            // It moves to where the model sees it.
            self.change_from(self.account_start());
        }
        let amount = unit.range.clone().map(|index| self.amount(index)).sum();
        self.total = self.total.saturating_sub(amount);
        self.plan.edits.retain(|edit| !unit.range.contains(&edit.index));
        self.plan.evict.push(unit.range.clone());
        unit.len() + self.drop_owned(&unit.range)
    }

    /// Drops the late answers to the calls of a unit that leaves.
    fn drop_owned(&mut self, owner: &Range<usize>) -> usize {
        let is_orphan = |unit: &&&Unit| unit.owner.is_some_and(|index| owner.contains(&index));
        let orphans: Vec<&Unit> = self.owned.iter().filter(is_orphan).copied().collect();
        self.owned.retain(|unit| !orphans.contains(unit));
        orphans.into_iter().map(|unit| self.drop(unit)).sum()
    }

    /// From here on nothing stands behind its old prefix: thinking that is bound to it goes.
    fn change_from(&mut self, index: usize) {
        if index >= self.change_start {
            return;
        }
        let bound = self.input.bound_thinking;
        let from = bound.partition_point(|thinking| thinking.index < index);
        let to = bound.partition_point(|thinking| thinking.index < self.change_start);
        self.change_start = index;
        for thinking in &bound[from..to] {
            let is_edited = self.changed.contains_key(&thinking.index);
            let edited =
                is_edited.then(|| self.amount_edited(thinking.index, &self.edits_of(thinking.index))).flatten();
            let stripped = self.input.scale.of(thinking.index, thinking.stripped);
            self.replace_amount(thinking.index, edited.unwrap_or(stripped));
        }
    }

    /// What a message costs after some edits, and without thinking that is bound to what is changed before it.
    fn amount_edited(&self, index: usize, edits: &[Edit]) -> Option<Millitokens> {
        let bound = self.input.bound_thinking;
        let is_bound = index >= self.change_start && bound.binary_search_by_key(&index, |bound| bound.index).is_ok();
        let thinking = thinking_edits(index, self.input.shape(index)).filter(|_| is_bound);
        self.input.amount_edited(index, &edits.iter().cloned().chain(thinking).collect::<Vec<_>>())
    }

    /// What the plan so far changes in a message.
    fn edits_of(&self, index: usize) -> Vec<Edit> {
        self.plan.edits.iter().filter(|edit| edit.index == index).cloned().collect()
    }

    fn replace_amount(&mut self, index: usize, amount: Millitokens) {
        self.total = self.total.saturating_sub(self.amount(index)) + amount;
        self.changed.insert(index, amount);
    }

    /// Changes a message that stays, besides what the plan changes in it already. An edit that would make it larger is
    /// left out.
    pub fn edit(&mut self, index: usize, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let mut all = self.edits_of(index);
        all.retain(|edit| !edits.iter().any(|new| new.part == edit.part));
        all.extend_from_slice(edits);
        if let Some(amount) = self.amount_edited(index, &all).filter(|amount| *amount < self.amount(index)) {
            self.put_edits(index, all, amount);
        }
    }

    fn put_edits(&mut self, index: usize, edits: Vec<Edit>, amount: Millitokens) {
        self.change_from(index + 1);
        self.replace_amount(index, amount);
        self.plan.edits.retain(|edit| edit.index != index);
        self.plan.edits.extend(edits);
    }

    /// Puts a ledger into the plan in place of the one in the view; an empty text takes it out.
    pub fn put_ledger(&mut self, ledger: impl Into<Written>) {
        let ledger = ledger.into();
        let amount = if ledger.text.is_empty() { Millitokens::ZERO } else { self.input.count_text(&ledger.text) };
        self.put_counted_ledger(ledger, amount);
    }

    /// The same where it was counted already.
    pub(super) fn put_counted_ledger(&mut self, ledger: Written, amount: Millitokens) {
        let is_empty = ledger.text.is_empty();
        self.plan.counted = Some(Counted::new(&ledger.text, amount));
        self.total = self.total.saturating_sub(self.ledger) + amount;
        self.ledger = amount;
        self.plan.ledger = match is_empty {
            true if self.input.ledger_amount() == Millitokens::ZERO => LedgerChange::Keep,
            true => LedgerChange::Remove,
            false => LedgerChange::Write(ledger),
        };
        if self.plan.ledger != LedgerChange::Keep {
            self.change_from(self.account_start());
        }
    }

    /// What leaves under the plan so far, in order.
    pub fn evicted(&self) -> Vec<Range<usize>> {
        let mut evicted = self.plan.evict.clone();
        evicted.sort_by_key(|range| range.start);
        evicted
    }

    /// Takes out what the model does not see, because a provider's compaction stands for it. Where thinking is bound to
    /// what the provider was sent it stays: the provider ignores it.
    pub fn evict_unseen(&mut self) {
        if self.input.thinking != ThinkingBinding::Prefix {
            let input = self.input;
            self.evict_where(|unit| input.is_unseen(unit));
        }
    }

    /// Evicts and clips as far as it takes to keep the budget, least loss first, and hands the plan out.
    ///
    /// # Errors
    ///
    /// What has to stay is over the budget.
    pub fn finish(mut self) -> Result<Plan, Overflow> {
        if let Some(budget) = self.input.budget().filter(|_| !self.fits()) {
            self.evict_down_to(budget.allowed_tokens());
            self.clip_until_it_fits();
            self.drop_accounts();
        }
        if !self.fits() {
            return Err(self.overflow());
        }
        Ok(self.into_plan())
    }

    /// Nothing obliges us to send what was written down of messages that left; it is not lost.
    fn drop_accounts(&mut self) {
        if !self.fits() {
            self.put_ledger(String::new());
        }
        if !self.fits() {
            self.drop_summary();
        }
    }

    fn drop_summary(&mut self) {
        if let Some(summary) = self.input.synthetics.iter().find(|ours| ours.kind == SyntheticKind::Summary) {
            self.total = self.total.saturating_sub(summary.amount);
            self.change_from(self.account_start());
            self.plan.drops_summary = true;
        }
    }

    /// Where accounts of what left stand: behind the units of the head. One that stands does not move.
    fn head_end(&self) -> usize {
        let has_account = self.input.synthetics.iter().any(|ours| ours.kind.is_account());
        let head_end = if has_account { self.input.head_end } else { self.plan.head_end.max(self.input.head_end) };
        let head_end = head_end.max(self.input.landmarks.seen_from());
        let position = self.left.partition_point(|left| left.unit.range.start < head_end);
        position.checked_sub(1).map_or(0, |last| self.left[last].unit.range.end).max(head_end)
    }

    /// Where the first thing changes once accounts do: where they stand, or will. They move behind a compaction.
    fn account_start(&self) -> usize {
        let standing = self.input.synthetics.iter().find(|ours| ours.kind.is_account());
        standing.map_or(usize::MAX, |ours| ours.before).min(self.head_end())
    }

    /// The plan as it is.
    pub fn into_plan(mut self) -> Plan {
        self.plan.expected = Some(self.total());
        self.plan.evict.sort_by_key(|range| range.start);
        self.plan.edits.sort_by_key(|edit| (edit.index, edit.part));
        self.plan
    }

    /// Oldest first, each as little as needed.
    pub fn clip_until_it_fits(&mut self) {
        for index in self.indices() {
            for part in 0..self.input.shape(index).parts.len() {
                if self.fits() {
                    return;
                }
                self.clip(index, part);
            }
        }
    }

    /// Cuts one tool output to what would make the whole fit, but not below [`OVERSIZED_CHARS`].
    fn clip(&mut self, index: usize, part: usize) {
        let Some(chars) = clippable_chars(self.input.shape(index), part) else {
            return;
        };
        // Nobody knows how many characters a token has before it is counted: each guess goes further than the last.
        let mut keep_chars = chars as usize;
        for chars_per_token in [4, 8, 16, u64::MAX] {
            keep_chars = self.chars_that_fit(keep_chars, chars_per_token);
            self.edit(index, &[Edit { index, part, change: Change::Clip { keep_chars } }]);
            if self.fits() {
                return;
            }
        }
    }

    /// A guess at how much of so many characters may stay, with room for the marker.
    fn chars_that_fit(&self, chars: usize, chars_per_token: u64) -> usize {
        let allowed = self.input.budget().map_or(u64::MAX, |budget| budget.allowed_tokens());
        let cut = self.tokens().saturating_sub(allowed).saturating_mul(chars_per_token).saturating_add(100);
        let keep = (chars as u64).saturating_sub(cut).max(u64::from(OVERSIZED_CHARS));
        usize::try_from(keep).unwrap_or(usize::MAX)
    }

    /// What has to stay is what is left once everything that may leave has left.
    fn overflow(&self) -> Overflow {
        let size = |index| Largest { index, tokens: self.input.tokens(self.amount(index)) };
        Overflow {
            floor_tokens: self.tokens(),
            allowed_tokens: self.input.budget().map_or(u64::MAX, |budget| budget.allowed_tokens()),
            largest: self.indices().into_iter().map(size).max_by_key(|largest| largest.tokens),
        }
    }

    /// The messages that are left, oldest first.
    fn indices(&self) -> Vec<usize> {
        let own = self.left.iter().map(|left| left.unit);
        let mut indices: Vec<usize> =
            own.chain(self.owned.iter().copied()).flat_map(|unit| unit.range.clone()).collect();
        indices.sort_unstable();
        indices
    }

    /// What has to stand between neighbours, and before an account of what left: what stands there now where the plan
    /// touches nothing, else what the format wants. O(units).
    fn markers(&self) -> Millitokens {
        let is_marker = |ours: &&Synthetic| !ours.kind.is_account();
        let standing = || self.input.synthetics.iter().filter(is_marker);
        let keeps_accounts = self.plan.ledger == LedgerChange::Keep && !self.plan.drops_summary;
        if self.plan.evict.is_empty() && keeps_accounts {
            return standing().map(|ours| ours.amount).sum();
        }
        let evicted = self.evicted();
        let is_touched = |gap: &Range<usize>| {
            let following = evicted.partition_point(|range| range.end <= gap.start);
            evicted.get(following).is_some_and(|range| range.start < gap.end)
        };
        let account = self.account_shape();
        let head_end = self.head_end();
        let account_position = self.left.partition_point(|left| left.unit.range.end <= head_end);
        let ends = self.left.iter().map(|left| left.unit.range.start).chain([self.input.log_len()]);
        let mut before: Option<usize> = None;
        let mut total = Millitokens::ZERO;
        for (position, start) in ends.enumerate() {
            let gap = before.map_or(0, |before| before + 1)..start;
            let account = account.as_ref().filter(|_| position == account_position);
            let had_account = self
                .input
                .synthetics
                .iter()
                .any(|ours| ours.kind.is_account() && (gap.start..=start).contains(&ours.before));
            total += match account.is_some() || had_account || is_touched(&gap) {
                true => self.bridge_amount(before, account, start, &gap),
                false => {
                    standing().filter(|ours| (gap.start..=start).contains(&ours.before)).map(|ours| ours.amount).sum()
                }
            };
            before = self.left.get(position).map(|left| left.unit.range.end - 1);
        }
        total
    }

    /// What the format wants at a seam.
    fn bridge_amount(
        &self,
        before: Option<usize>,
        account: Option<&Shape>,
        start: usize,
        gap: &Range<usize>,
    ) -> Millitokens {
        if account.is_none() && gap.is_empty() {
            return Millitokens::ZERO;
        }
        let shape_before = before.map(|index| self.input.shape(index));
        let shape_after = (start < self.input.log_len()).then(|| self.input.shape(start));
        let shapes = [shape_before, account, shape_after];
        let roles = self.input.landmarks.bridges(self.input.format.wire(), self.input.thinking, start, shapes);
        roles.into_iter().flatten().map(|_| self.input.marker).sum()
    }

    /// What would stand behind the head for what has left.
    fn account_shape(&self) -> Option<Shape> {
        let is_kept = |kind: SyntheticKind| match kind {
            SyntheticKind::Ledger => self.plan.ledger == LedgerChange::Keep,
            SyntheticKind::Summary => !self.plan.drops_summary,
            SyntheticKind::Opening | SyntheticKind::Marker => false,
        };
        let kept = self.input.synthetics.iter().find(|ours| is_kept(ours.kind));
        match (&self.plan.ledger, kept) {
            (LedgerChange::Write(_), _) => account_like(self.input.format),
            (_, Some(ours)) => Some(ours.message.shape().clone()),
            (_, None) => None,
        }
    }
}

/// The shape of a ledger: what it says makes no difference to its neighbours.
fn account_like(format: Format) -> Option<Shape> {
    let message = Message::synthetic(format, Role::Assistant, "[]").ok()?;
    Some(message.shape().clone())
}

/// The characters of a tool output that is too large: the result itself, or a text inside it.
fn clippable_chars(shape: &Shape, part: usize) -> Option<u32> {
    let part = &shape.parts[part];
    let is_output = part.kind == PartKind::ToolResult || (part.nested && part.kind == PartKind::Text);
    (is_output && part.chars > OVERSIZED_CHARS).then_some(part.chars)
}
