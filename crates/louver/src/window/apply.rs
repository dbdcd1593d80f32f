//! The only place where a plan becomes a view.

use super::view::{Synthetic, SyntheticKind};
use super::{ConversationWindow, Fit};
use crate::catalog::ThinkingBinding;
use crate::condense::{CondenseJob, Outcome, Summary};
use crate::count::count_message;
use crate::edit::{Change, Edit, edit_message};
use crate::plan::{Overflow, Plan};
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::wire::{Message, PartKind, Role, Shape, Wire};
use std::ops::Range;
use std::sync::Arc;

/// What a marker says.
pub(super) const MARKER: &str = "[Earlier messages were left out]";

impl ConversationWindow {
    /// Puts a message into the unit of an earlier one.
    pub(super) fn join(&mut self, index: usize, earlier: usize) {
        if self.entries[earlier].is_evicted {
            // Its unit has left, and a unit leaves whole.
            self.leave(index);
            self.carry_forward(std::slice::from_ref(&(index..index + 1)));
            return;
        }
        let position = self.units.partition_point(|unit| unit.range.end <= earlier);
        let between: usize = self.units.range(position..).map(Unit::len).sum();
        let start = self.units[position].range.start;
        let is_unbroken = start + between == index && self.units.range(position..).all(|unit| unit.owner.is_none());
        if is_unbroken {
            self.units.truncate(position + 1);
            self.units[position].range.end = index + 1;
        } else {
            self.units.push_back(Unit { owner: Some(start), ..Unit::single(index) });
        }
    }

    /// Makes a plan true and says what happened.
    pub(super) fn carry_out(&mut self, mut plan: Plan, tokens_before: u64) -> Fit {
        self.head_end = self.head_end.max(plan.head_end);
        let mut evicted = self.evict(&plan.evict);
        let mut edited = self.edit(&plan.edits);
        let changes_prefix = edited.iter().any(|index| self.latest_thinking.is_some_and(|latest| *index < latest));
        if !evicted.is_empty() || changes_prefix {
            edited.extend(self.strip_bound_thinking());
        }
        edited.sort_unstable();
        edited.dedup();
        evicted.sort_by_key(|range| range.start);
        let is_ledger_new = plan.ledger.take().is_some_and(|text| self.put_ledger(&text));
        let covered = plan.condense.take();
        let job = covered.and_then(|ranges| self.ask_for_summary(ranges));
        Fit {
            trigger: plan.trigger,
            tokens_before,
            tokens_after: self.tokens(),
            evicted,
            edited,
            is_ledger_new,
            job,
            warnings: plan.warnings,
            error: plan.condense_error,
        }
    }

    /// Takes whole units out of the view, with the late answers that belong to them.
    fn evict(&mut self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let mut gone = Vec::new();
        for run in joined(ranges) {
            let first = self.units.partition_point(|unit| unit.range.start < run.start);
            let last = self.units.partition_point(|unit| unit.range.end <= run.end);
            if first >= last {
                continue;
            }
            let units: Vec<Unit> = self.units.drain(first..last).collect();
            for unit in units {
                unit.range.clone().for_each(|index| self.leave(index));
                gone.push(unit.range);
            }
            self.mend_seam(first, run);
        }
        gone.extend(self.evict_orphaned_answers());
        let gone = joined(&gone);
        self.carry_forward(&gone);
        gone
    }

    fn evict_orphaned_answers(&mut self) -> Vec<Range<usize>> {
        let entries = &self.entries;
        let is_orphan = |unit: &Unit| unit.owner.is_some_and(|owner| entries[owner].is_evicted);
        // Owners are rare: a late answer has to have been pushed behind a cut.
        let orphans: Vec<_> = self.units.iter().filter(|unit| is_orphan(unit)).map(|unit| unit.range.clone()).collect();
        for range in &orphans {
            self.units.retain(|unit| unit.range != *range);
            range.clone().for_each(|index| self.leave(index));
        }
        orphans
    }

    fn leave(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        entry.is_evicted = true;
        self.kept.messages -= 1;
        self.kept.amount = self.kept.amount.saturating_sub(entry.amount);
        self.kept.estimate_chars -= entry.current().shape().estimate_chars;
    }

    /// Puts what has to stand between two neighbours that did not stand together before. `position` is the first unit
    /// behind the gap.
    fn mend_seam(&mut self, position: usize, gone: Range<usize>) {
        let next = self.units.get(position).map_or(self.entries.len(), |unit| unit.range.start);
        for account in self.take_synthetics(gone.start..=next) {
            self.insert(Synthetic { before: next, ..account });
        }
        self.bridge(position, next);
    }

    /// Takes our own messages out of a stretch and returns those that stand for what has left.
    fn take_synthetics(&mut self, stretch: std::ops::RangeInclusive<usize>) -> Vec<Synthetic> {
        let (inside, outside) =
            std::mem::take(&mut self.synthetics).into_iter().partition(|ours| stretch.contains(&ours.before));
        self.synthetics = outside;
        let inside: Vec<Synthetic> = inside;
        inside.into_iter().filter(Synthetic::is_account).collect()
    }

    /// Asks the format what has to stand on either side of the seam before log index `next`.
    fn bridge(&mut self, position: usize, next: usize) {
        let wire = self.config.format.wire();
        let before = position.checked_sub(1).map(|unit| self.units[unit].range.end - 1);
        let before = before.map(|index| self.entries[index].current().shape().clone());
        let after = self.entries.get(next).map(|entry| entry.current().shape().clone());
        let summary = self.synthetics.iter().find(|ours| ours.before == next && ours.is_account());
        let summary = summary.map(|synthetic| synthetic.message.shape().clone());
        let roles = bridges(wire, before.as_ref(), summary.as_ref(), after.as_ref());
        let kinds = [SyntheticKind::Opening, SyntheticKind::Marker];
        for (kind, role) in kinds.into_iter().zip(roles) {
            if let Some(role) = role {
                self.insert_ours(kind, role, MARKER, next);
            }
        }
    }

    fn insert_ours(&mut self, kind: SyntheticKind, role: Role, text: &str, before: usize) {
        // What a format writes it can read: a property test holds every writer to that.
        let Ok(message) = Message::synthetic(self.config.format, role, text) else {
            return;
        };
        let amount = count_message(&*self.config.counter, &message);
        self.insert(Synthetic { before, kind, message: Arc::new(message), amount });
    }

    fn insert(&mut self, synthetic: Synthetic) {
        let key = |s: &Synthetic| (s.before, s.kind);
        let at = self.synthetics.partition_point(|other| key(other) <= key(&synthetic));
        self.synthetics.insert(at, synthetic);
    }

    fn edit(&mut self, edits: &[Edit]) -> Vec<usize> {
        let mut edited = Vec::new();
        for group in edits.chunk_by(|a, b| a.index == b.index) {
            let index = group[0].index;
            let format = self.config.format;
            let Ok(message) = edit_message(format, self.entries[index].current(), group) else {
                continue;
            };
            let amount = count_message(&*self.config.counter, &message);
            let entry = &mut self.entries[index];
            self.kept.amount = self.kept.amount.saturating_sub(entry.amount) + amount;
            self.kept.estimate_chars -= entry.current().shape().estimate_chars;
            self.kept.estimate_chars += message.shape().estimate_chars;
            entry.amount = amount;
            entry.edited = Some(Arc::new(message));
            edited.push(index);
        }
        edited
    }

    /// On models that bind thinking to its exact prefix, all thinking behind a change has to go. Every message is
    /// looked at once.
    fn strip_bound_thinking(&mut self) -> Vec<usize> {
        if self.config.thinking != ThinkingBinding::Prefix {
            return Vec::new();
        }
        let from = self.thinking_stripped;
        self.thinking_stripped = self.entries.len();
        let edits: Vec<Edit> = (from..self.entries.len())
            .filter(|index| !self.entries[*index].is_evicted)
            .flat_map(|index| thinking_edits(index, self.entries[index].current().shape()))
            .collect();
        self.edit(&edits)
    }

    /// Whatever leaves without a summary waits for one, also where the plan that drops it asks for none.
    fn carry_forward(&mut self, left: &[Range<usize>]) {
        let entries = &self.entries;
        self.condenser.carry(left, |index| &*entries[index].message);
    }

    fn ask_for_summary(&mut self, mut covered: Vec<Range<usize>>) -> Option<CondenseJob> {
        let log_len = self.entries.len();
        let window = self.config.settings.budget.map(|budget| budget.allowed_tokens());
        let entries = &self.entries;
        // What has left was carried forward when it did.
        covered.retain(|range| !entries[range.start].is_evicted);
        self.condenser.ask(covered, log_len, window, |index| &*entries[index].message)
    }

    pub(super) fn take_answer(&mut self, job: u64, answer: Result<Summary, String>) -> Result<Outcome, Overflow> {
        let log_len = self.entries.len();
        let Some(covers) = self.condenser.covers_of(job) else {
            return Ok(Outcome::Rejected("no such job is open".to_owned()));
        };
        let replaced = self.amount_replaced(&covers);
        let summary = answer.and_then(|summary| self.readable(&summary, replaced).map(|message| (summary, message)));
        let (summary, message) = match summary {
            Ok(accepted) => accepted,
            Err(reason) => {
                self.condenser.fail(log_len);
                let left = covers.into_iter().filter(|range| self.entries[range.start].is_evicted);
                self.carry_forward(&left.collect::<Vec<_>>());
                return Ok(Outcome::Rejected(reason));
            }
        };
        self.put_summary(&covers, message);
        self.condenser.succeed(summary.text);
        self.refit()?;
        Ok(Outcome::Accepted)
    }

    /// What the covered messages cost, and the earlier summary, which merges into the new one.
    fn amount_replaced(&self, covers: &[Range<usize>]) -> Millitokens {
        let covered = covers.iter().flat_map(|range| &self.entries[range.clone()]).map(|entry| entry.amount);
        let earlier = self.synthetics.iter().filter(|ours| ours.kind == SyntheticKind::Summary);
        covered.chain(earlier.map(|ours| ours.amount)).sum()
    }

    /// The summary as a message, unless it is empty or larger than what it replaces.
    fn readable(&self, summary: &Summary, replaced: Millitokens) -> Result<Message, String> {
        if summary.text.trim().is_empty() {
            return Err("the summary is empty".to_owned());
        }
        let text = format!("{}\n{}", crate::condense::SUMMARY_PREFIX, summary.text);
        let message = Message::synthetic(self.config.format, Role::Assistant, &text).map_err(|e| e.to_string())?;
        let amount = count_message(&*self.config.counter, &message);
        if amount > replaced {
            return Err(format!(
                "the summary has {} tokens, more than the {} it replaces",
                amount.ceil_tokens(),
                replaced.ceil_tokens()
            ));
        }
        Ok(message)
    }

    fn put_summary(&mut self, covers: &[Range<usize>], message: Message) {
        let kept: Vec<_> = covers.iter().filter(|range| !self.entries[range.start].is_evicted).cloned().collect();
        if !self.evict(&kept).is_empty() {
            self.strip_bound_thinking();
        }
        self.put_account(SyntheticKind::Summary, message);
    }

    /// Whether that changes the view.
    fn put_ledger(&mut self, text: &str) -> bool {
        // What a format writes it can read: a property test holds every writer to that.
        let Ok(message) = Message::synthetic(self.config.format, Role::Assistant, text) else {
            return false;
        };
        let earlier = self.synthetics.iter().find(|ours| ours.kind == SyntheticKind::Ledger);
        let is_new = earlier.is_none_or(|earlier| earlier.message.raw() != message.raw());
        self.put_account(SyntheticKind::Ledger, message);
        is_new
    }

    /// Puts what stands for the messages that left right after the head, in place of the last of its kind.
    fn put_account(&mut self, kind: SyntheticKind, message: Message) {
        self.synthetics.retain(|ours| ours.kind != kind);
        let position = self.units.partition_point(|unit| unit.range.end <= self.head_end);
        let next = self.units.get(position).map_or(self.entries.len(), |unit| unit.range.start);
        for account in self.take_synthetics(next..=next) {
            self.insert(account);
        }
        let amount = count_message(&*self.config.counter, &message);
        self.insert(Synthetic { before: next, kind, message: Arc::new(message), amount });
        self.bridge(position, next);
    }

    /// A condensed history may still be too large; then the policy cuts it like any other.
    fn refit(&mut self) -> Result<(), Overflow> {
        if self.config.settings.budget.is_some_and(|budget| budget.is_exceeded_by(self.tokens())) {
            let plan = self.plan()?;
            let before = self.tokens();
            self.carry_out(Plan { condense: None, ..plan }, before);
        }
        self.fitted_at = Some((self.entries.len(), self.condenser.answers()));
        Ok(())
    }
}

/// The roles of what has to stand before a summary and at the end of the seam. The end of a history needs nothing: what
/// comes next is not known yet.
pub(crate) fn bridges(
    wire: &dyn Wire,
    before: Option<&Shape>,
    summary: Option<&Shape>,
    after: Option<&Shape>,
) -> [Option<Role>; 2] {
    let opening = summary.and_then(|summary| wire.bridge(before, Some(summary)));
    let marker = after.and_then(|after| wire.bridge(summary.or(before), Some(after)));
    [opening, marker]
}

fn thinking_edits(index: usize, shape: &Shape) -> Vec<Edit> {
    let thinking = shape.parts.iter().enumerate().filter(|(_, part)| part.kind == PartKind::Thinking);
    thinking.map(|(part, _)| Edit { index, part, change: Change::Drop }).collect()
}

/// Neighbouring ranges as one, in order.
fn joined(ranges: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut runs: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match runs.last_mut() {
            Some(run) if run.end == range.start => run.end = range.end,
            _ => runs.push(range),
        }
    }
    runs
}
