//! The only place where a decision becomes a view.

use super::decision::{Accounts, Decision, JobRecord, Ready, SummaryChange, joined};
use super::quotes::Quotes;
use super::{Answered, Event, Fit, Recorded, RecordedText, SyntheticMessage, Window};
use crate::condense::{Outcome, Rejection, SUMMARY_PREFIX, Summary};
use crate::count::count_message;
use crate::edit::Edit;
use crate::error::RecordError;
use crate::plan::{Memory, Plan, Warning};
use crate::policy::Occasion;
use crate::tokens::Millitokens;
use crate::unit::Unit;
use crate::view::{Synthetic, SyntheticKind};
use crate::wire::{Message, PartKind, Role};
use std::ops::Range;
use std::sync::Arc;

/// What a marker says.
pub(super) const MARKER: &str = "[Earlier messages were left out]";

impl Window {
    /// Puts a message into the unit of an earlier one.
    pub(super) fn join(&mut self, index: usize, earlier: usize) {
        if self.entries[earlier].is_evicted {
            self.units.push_back(Unit::single(index));
            if !self.is_reliving {
                // Its unit has left, and a unit leaves whole.
                self.arrive(Decision { evicted: std::iter::once(index..index + 1).collect(), ..Decision::default() });
            }
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
            self.late_answers += 1;
            let owner = self.units[position].owner.unwrap_or(start);
            self.units.push_back(Unit { owner: Some(owner), ..Unit::single(index) });
        }
    }

    /// Makes a decision true that a message brings with it, whatever the policy.
    fn arrive(&mut self, decision: Decision) {
        self.apply(&decision);
        self.record(Event::Arrived(Box::new(decision)));
    }

    /// A message that arrives behind others that have left, or behind an account of them, may not stand beside what is left
    /// before it.
    pub(super) fn bridge_arrival(&mut self, index: usize) {
        let is_seam = index.checked_sub(1).is_some_and(|before| self.entries[before].is_evicted);
        // Thinking that is bound to what the model was sent stands as it was written.
        let is_bound = self.bound_thinking.last().is_some_and(|thinking| thinking.index == index);
        let at_end = self.synthetics.partition_point(|ours| ours.before < index);
        let account = self.synthetics[at_end..].iter().find(|ours| ours.kind.is_account()).cloned();
        let is_beside = !is_seam && account.is_none();
        if is_beside || is_bound || self.entries[index].is_evicted || self.is_reliving {
            return;
        }
        let last = self.units.iter().rev().nth(1).map(|unit| unit.range.end - 1);
        let bridge = self.bridge(last, account.as_ref(), index);
        let has_opening = self.synthetics.iter().any(|o| o.kind == SyntheticKind::Opening && o.before == index);
        let new = bridge.into_iter().filter(|ours| ours.kind == SyntheticKind::Marker || !has_opening);
        let new: Vec<_> = new.collect();
        if !new.is_empty() {
            let mut all: Vec<_> = self.synthetics.iter().chain(&new).map(SyntheticMessage::from).collect();
            all.sort_by_key(|ours| (ours.before, ours.kind));
            self.arrive(Decision { synthetics: Some(all), ..Decision::default() });
        }
    }

    /// Makes a plan true and says what happened.
    pub(super) fn carry_out(&mut self, mut plan: Plan) -> Fit {
        let tokens_before = self.tokens();
        let Ready { mut decision, synthetics } = self.result_of(&mut plan);
        let is_unedited = |edit: &&Edit| {
            decision.edited.binary_search_by_key(&edit.index, |edited| edited.index).is_err()
                && !decision.evicted.iter().any(|range| range.contains(&edit.index))
        };
        let unedited = plan.edits.iter().filter(is_unedited).map(|edit| Warning::NotEdited { index: edit.index });
        plan.warnings.extend(unedited);
        self.make_true(&decision, synthetics);
        self.memory = std::mem::take(&mut plan.memory);
        let job = plan.condense.take().and_then(|covered| self.ask_for_summary(covered));
        decision.job = job.as_ref().map(|job| JobRecord { id: job.id, covers: job.covers.clone() });
        let is_idle = decision.evicted.is_empty() && decision.edited.is_empty() && decision.synthetics.is_none();
        let fit = Fit {
            trigger: plan.trigger.filter(|_| !is_idle || job.is_some()),
            tokens_before,
            tokens_after: self.tokens(),
            tokens_expected: plan.expected.map(|amount| self.calibration.apply(amount).ceil_tokens()),
            evicted: decision.evicted.clone(),
            edited: decision.edited.iter().map(|edited| edited.index).collect(),
            is_account_new: decision.synthetics.is_some(),
            job,
            outcome: None,
            warnings: plan.warnings,
            error: plan.condense_error,
        };
        self.record(Event::Fitted(boxed(decision)));
        fit
    }

    pub(super) fn record(&mut self, mut event: Event) {
        for ours in event.decisions_mut().iter_mut().flat_map(|decision| decision.synthetics.iter_mut().flatten()) {
            self.record_account(ours);
        }
        self.events.push((self.entries.len(), event));
    }

    /// Keeps the text of an account that stands in the view in little memory: most of it stands in the account before it
    /// or in messages of the log.
    fn record_account(&mut self, ours: &mut SyntheticMessage) {
        let is_same = |standing: &&Synthetic| standing.kind == ours.kind && ours.raw == *standing.message.raw();
        let Some(standing) = self.synthetics.iter().filter(|ours| ours.kind.is_account()).find(is_same) else {
            return;
        };
        let known = self.accounts.iter().position(|account| account.kind == ours.kind);
        let earlier = known.map(|known| self.accounts.swap_remove(known));
        let earlier = earlier.as_ref().map(Recorded::as_earlier);
        let text_start = standing.message.shape().parts.first().map_or(0, |part| part.text.start as usize + 1);
        let quotes = Quotes { text_start, sources: &standing.sources, entries: &self.entries };
        let message = Arc::clone(&standing.message);
        let (text, places) = RecordedText::of(&message, earlier, &quotes);
        ours.raw = text.clone();
        self.accounts.push(Recorded { kind: ours.kind, text, message, places });
    }

    /// Makes a decision true that was made elsewhere.
    pub(super) fn apply(&mut self, decision: &Decision) {
        let read = |ours: &SyntheticMessage| {
            let message = Message::parse(self.config.format, &ours.raw.read()).ok()?;
            let sources = ours.sources.to_vec().into();
            Some(Synthetic { sources, ..self.synthetic(ours.before, ours.kind, message) })
        };
        let synthetics = decision.synthetics.as_ref().map(|all| all.iter().filter_map(read).collect());
        self.make_true(decision, synthetics);
    }

    /// Makes a decision true.
    fn make_true(&mut self, decision: &Decision, synthetics: Option<Vec<Synthetic>>) {
        self.head_end = self.head_end.max(decision.head_end);
        self.evict(&decision.evicted);
        for edited in &decision.edited {
            if let Ok(message) = Message::parse(self.config.format, &edited.raw) {
                self.replace(edited.index, message);
            }
        }
        if let Some(synthetics) = synthetics {
            self.synthetics = synthetics;
        }
        self.forget_thinking();
    }

    /// Takes messages out of the view. A record of another version may take a part of what is a unit today: the rest of
    /// it stays.
    fn evict(&mut self, ranges: &[Range<usize>]) {
        let in_view: Vec<Range<usize>> =
            ranges.iter().filter(|range| range.end <= self.entries.len()).cloned().collect();
        for run in &in_view {
            let first = self.units.partition_point(|unit| unit.range.end <= run.start);
            let last = self.units.partition_point(|unit| unit.range.start < run.end).max(first);
            let units: Vec<Unit> = self.units.drain(first..last).collect();
            let mut left: Vec<Unit> = Vec::new();
            for unit in units {
                self.late_answers -= usize::from(unit.owner.is_some());
                for piece in [unit.range.start..run.start, run.end..unit.range.end] {
                    if piece.start < piece.end {
                        left.push(Unit { range: piece, owner: None });
                    }
                }
                let gone = unit.range.start.max(run.start)..unit.range.end.min(run.end);
                gone.clone().for_each(|index| self.leave(index));
                self.departures.push(gone);
            }
            for (offset, unit) in left.into_iter().enumerate() {
                self.units.insert(first + offset, unit);
            }
        }
        self.carry_forward(&in_view);
    }

    fn leave(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        if std::mem::replace(&mut entry.is_evicted, true) {
            return;
        }
        self.kept.messages -= 1;
        self.kept.amount = self.kept.amount.saturating_sub(entry.amount);
        self.kept.estimate_chars -= entry.current().shape().estimate_chars;
    }

    fn replace(&mut self, index: usize, message: Message) {
        let amount = self.cost(index, &message);
        let Some(entry) = self.entries.get_mut(index).filter(|entry| !entry.is_evicted) else {
            return;
        };
        self.kept.amount = self.kept.amount.saturating_sub(entry.amount) + amount;
        self.kept.estimate_chars -= entry.current().shape().estimate_chars;
        self.kept.estimate_chars += message.shape().estimate_chars;
        entry.amount = amount;
        entry.edited = Some(Arc::new(message));
    }

    /// Thinking that is no longer in the view is bound to nothing.
    fn forget_thinking(&mut self) {
        let entries = &self.entries;
        self.bound_thinking.retain(|thinking| {
            let entry = &entries[thinking.index];
            !entry.is_evicted && entry.current().shape().has(PartKind::Thinking)
        });
    }

    /// Whatever leaves without a summary waits for one, also where the plan that drops it asks for none.
    fn carry_forward(&mut self, left: &[Range<usize>]) {
        let entries = &self.entries;
        self.condenser.carry(left, |index| &*entries[index].message);
    }

    fn ask_for_summary(&mut self, mut covered: Vec<Range<usize>>) -> Option<crate::condense::CondenseJob> {
        let log_len = self.entries.len();
        let window = self.budget.map(|budget| budget.allowed_tokens());
        let entries = &self.entries;
        // What has left was carried forward when it did.
        covered.retain(|range| !entries[range.start].is_evicted);
        self.condenser.ask(covered, log_len, window, |index| &*entries[index].message)
    }

    pub(super) fn take_answer(&mut self, job: u64, answer: Result<Summary, String>) -> Fit {
        let tokens_before = self.tokens();
        let unchanged = Fit { tokens_before, tokens_after: tokens_before, ..Fit::default() };
        let Some(covers) = self.condenser.covers_of(job) else {
            let outcome = Outcome::Rejected(Rejection::NoSuchJob);
            return Fit { outcome: Some(outcome), ..unchanged };
        };
        self.revision += 1;
        let recorded = answer.clone();
        let summary = answer.map_err(Rejection::Failed);
        let summary = summary.and_then(|summary| Ok((self.readable(&summary, &covers)?, summary)));
        let (message, summary) = match summary {
            Ok(accepted) => accepted,
            Err(reason) => {
                self.reject_summary(&covers);
                self.record_answer(job, recorded, Vec::new());
                return Fit { outcome: Some(Outcome::Rejected(reason)), ..unchanged };
            }
        };
        let decisions = self.put_summary(&covers, message, summary);
        let fit = Fit {
            tokens_after: self.tokens(),
            evicted: joined(&decisions.iter().flat_map(|decision| decision.evicted.clone()).collect::<Vec<_>>()),
            edited: decisions.iter().flat_map(|decision| &decision.edited).map(|edited| edited.index).collect(),
            is_account_new: true,
            outcome: Some(Outcome::Accepted),
            ..unchanged
        };
        self.record_answer(job, recorded, decisions);
        fit
    }

    fn record_answer(&mut self, job: u64, answer: Result<Summary, String>, decisions: Vec<Decision>) {
        self.record(Event::Answered(Box::new(Answered { job, answer, decisions })));
    }

    pub(super) fn reject_summary(&mut self, covers: &[Range<usize>]) {
        self.condenser.fail(self.entries.len());
        let left = covers.iter().filter(|range| self.entries[range.start].is_evicted).cloned();
        self.carry_forward(&left.collect::<Vec<_>>());
    }

    /// Puts a summary behind the head, in place of what it covers; then the policy makes good what its bound demands.
    fn put_summary(&mut self, covers: &[Range<usize>], message: Message, summary: Summary) -> Vec<Decision> {
        let in_view: Vec<_> = covers.iter().filter(|range| !self.entries[range.start].is_evicted).cloned().collect();
        let accounts = Accounts { summary: SummaryChange::Put(message), ..Accounts::default() };
        let Ready { decision, synthetics } = self.result(&in_view, &[], self.head_end, accounts);
        self.make_true(&decision, synthetics);
        self.condenser.succeed(summary);
        let mut decisions = vec![decision];
        // Where even that is not enough, the next fit says so.
        if self.is_over()
            && let Ok(mut plan) = self.plan_for(Occasion::Settling)
        {
            let Ready { decision: settled, synthetics } = self.result_of(&mut plan);
            self.make_true(&settled, synthetics);
            self.memory = plan.memory;
            decisions.push(settled);
        }
        decisions
    }

    /// The summary as a message, unless it is empty or larger than what it replaces.
    fn readable(&self, summary: &Summary, covers: &[Range<usize>]) -> Result<Message, Rejection> {
        if summary.text.trim().is_empty() {
            return Err(Rejection::Empty);
        }
        let text = format!("{SUMMARY_PREFIX}\n{}", summary.text);
        let message = Message::synthetic(self.config.format, Role::Assistant, &text)?;
        let (amount, replaced) = (count_message(&*self.config.counter, &message), self.amount_replaced(covers));
        if amount > replaced {
            let (tokens, replaced_tokens) = (amount.ceil_tokens(), replaced.ceil_tokens());
            return Err(Rejection::TooLarge { tokens, replaced_tokens });
        }
        Ok(message)
    }

    /// What the covered messages cost, and the earlier summary, which merges into the new one.
    fn amount_replaced(&self, covers: &[Range<usize>]) -> Millitokens {
        let covered = covers.iter().flat_map(|range| &self.entries[range.clone()]).map(|entry| entry.amount);
        let earlier = self.synthetics.iter().filter(|ours| ours.kind == SyntheticKind::Summary);
        covered.chain(earlier.map(|ours| ours.amount)).sum()
    }

    /// Lives through a decision that was recorded: nothing is decided again.
    pub(super) fn relive(&mut self, decision: &Decision) -> Result<(), RecordError> {
        decision.check(self.config.format, self.entries.len())?;
        self.take_over(decision);
        if let Some(JobRecord { id, covers }) = &decision.job {
            let entries = &self.entries;
            let window = self.budget.map(|budget| budget.allowed_tokens());
            self.condenser.reopen(*id, covers.clone(), window, |index| &*entries[index].message);
        }
        Ok(())
    }

    /// Makes a decision about a request true that was made elsewhere.
    pub(super) fn take_over(&mut self, decision: &Decision) {
        self.memory = self.remembered(Occasion::Request, decision);
        self.apply(decision);
        self.note_request();
    }

    /// The same for one that came with a message.
    pub(super) fn relive_arrival(&mut self, decision: &Decision) -> Result<(), RecordError> {
        decision.check(self.config.format, self.entries.len())?;
        self.apply(decision);
        Ok(())
    }

    /// The same for an answer. The first of its decisions put the summary in place, a second one made room.
    pub(super) fn relive_answer(&mut self, answered: &Answered) -> Result<(), RecordError> {
        let Answered { job, answer, decisions } = answered;
        let job = *job;
        let covers = self.condenser.covers_of(job).ok_or(RecordError::NobodyAsked { job })?;
        decisions.iter().try_for_each(|decision| decision.check(self.config.format, self.entries.len()))?;
        self.revision += 1;
        match (decisions.as_slice(), answer) {
            ([placed, rest @ ..], Ok(summary)) => {
                self.apply(placed);
                self.condenser.succeed(summary.clone());
                for settled in rest {
                    self.memory = self.remembered(Occasion::Settling, settled);
                    self.apply(settled);
                }
            }
            _ => self.reject_summary(&covers),
        }
        Ok(())
    }

    fn remembered(&self, occasion: Occasion, decision: &Decision) -> Memory {
        self.policy.remember(&self.input(occasion), &decision.evicted, decision.trigger)
    }
}

/// Most requests change nothing, and remember as much.
fn boxed(decision: Decision) -> Option<Box<Decision>> {
    (!decision.is_nothing()).then(|| Box::new(decision))
}
