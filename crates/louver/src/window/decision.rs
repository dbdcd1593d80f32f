//! A decision as its result: what a view became, so that it can be applied again without asking anybody.

use super::{RecordedText, Sources, Window, apply};
use crate::address::holds;
pub(super) use crate::address::joined;
use crate::count::count_message;
use crate::edit::{Edit, edit_message, thinking_edits};
use crate::error::RecordError;
use crate::plan::{Counted, LedgerChange, Plan, Trigger};
use crate::unit::Unit;
use crate::view::{Synthetic, SyntheticKind};
use crate::wire::{Format, Message, Role};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// What became of the view at one point of the log: results, not wishes. Applying one derives nothing again: no policy,
/// template or rule is asked, so it gives the same bytes under any later version and configuration.
///
/// ```
/// use louver::policy::MessagesConfig;
/// use louver::window::{Event, WindowConfig};
/// use louver::{Format, PolicyKind, Window};
///
/// let cap = MessagesConfig { max_messages: 2, preserve_last_n: 1, ..MessagesConfig::default() };
/// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
/// for text in ["one", "two", "three"] {
///     window.push_raw(&format!(r#"{{"role":"user","content":"{text}"}}"#))?;
/// }
/// window.fit()?;
/// let Some((3, Event::Fitted(Some(decision)))) = window.events().last() else { panic!("nothing was decided") };
/// assert!(!decision.is_nothing() && decision.evicted == [1..2]);
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Decision {
    /// Why; also of a cut that was tried and not made, because it was of no use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<Trigger>,
    /// Messages that left since the decision before, as ascending ranges of the log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evicted: Vec<Range<usize>>,
    /// Messages that were changed inside, as they are sent from now on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edited: Vec<EditedMessage>,
    /// All synthetic messages that stand in the view from now on, in order; `None` where they are as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthetics: Option<Vec<SyntheticMessage>>,
    /// Where the pinned head ends.
    pub head_end: usize,
    /// The summary that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<JobRecord>,
}

/// A message that is sent in another form than it came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EditedMessage {
    /// Its index in the log.
    pub index: usize,
    /// The form it is sent in.
    pub raw: String,
}

impl EditedMessage {
    /// A message in the form that it is sent in.
    pub fn new(index: usize, raw: &str) -> Self {
        Self { index, raw: raw.to_owned() }
    }
}

/// A message of our own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SyntheticMessage {
    /// The log index it stands before.
    pub before: usize,
    /// What it is for.
    pub kind: SyntheticKind,
    /// The message, word by word.
    pub raw: RecordedText,
    /// What of its text was taken from the log.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

impl SyntheticMessage {
    /// A message of our own, none of which was taken from the log.
    pub fn new(before: usize, kind: SyntheticKind, raw: &str) -> Self {
        Self { before, kind, raw: raw.into(), sources: Sources::default() }
    }
}

impl From<&Synthetic> for SyntheticMessage {
    fn from(ours: &Synthetic) -> Self {
        let Synthetic { before, kind, message, sources, .. } = ours;
        // A marker is shorter than what is known of it.
        let raw = if kind.is_account() { message.into() } else { message.raw().into() };
        Self { before: *before, kind: *kind, raw, sources: (**sources).into() }
    }
}

/// A summary that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct JobRecord {
    /// Names the job in the answer.
    pub id: u64,
    /// The messages it covers.
    pub covers: Vec<Range<usize>>,
}

impl Decision {
    /// Whether the view stays as it is, nothing is asked for and nothing was tried.
    pub fn is_nothing(&self) -> bool {
        self.trigger.is_none()
            && self.evicted.is_empty()
            && self.edited.is_empty()
            && self.synthetics.is_none()
            && self.job.is_none()
    }

    /// Whether it can have been made about a log of so many messages.
    pub(super) fn check(&self, format: Format, len: usize) -> Result<(), RecordError> {
        let is_within = |range: &Range<usize>| range.start < range.end && range.end <= len;
        let can_be_read = |raw: &str| Message::parse(format, raw).is_ok();
        let ours = self.synthetics.as_deref().unwrap_or_default();
        if !self.evicted.iter().all(is_within) {
            return Err(RecordError::NothingToLeave);
        }
        if !self.edited.iter().all(|edited| edited.index < len && can_be_read(&edited.raw)) {
            return Err(RecordError::NothingToChange);
        }
        if !ours.iter().all(|ours| ours.before <= len && can_be_read(&ours.raw.read()))
            || !ours.is_sorted_by_key(|o| o.before)
        {
            return Err(RecordError::NoPlace);
        }
        if !self.job.iter().all(|job| job.covers.iter().all(is_within)) {
            return Err(RecordError::NothingToCover);
        }
        Ok(())
    }
}

/// A decision that is about to be made true, and the messages of our own that it names, read and counted.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) decision: Decision,
    pub(super) synthetics: Option<Vec<Synthetic>>,
}

/// What a decision is about to put in place of the accounts in the view: ledger and summary.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    pub(super) ledger: LedgerChange,
    /// What that ledger costs, if it was counted already.
    pub(super) counted: Option<Counted>,
    pub(super) summary: SummaryChange,
}

/// What becomes of the summary in the view.
#[derive(Debug, Default)]
pub(super) enum SummaryChange {
    #[default]
    Keep,
    Put(Message),
    Remove,
}

impl Accounts {
    fn is_unchanged(&self) -> bool {
        matches!((&self.ledger, &self.summary), (LedgerChange::Keep, SummaryChange::Keep))
    }
}

impl Window {
    /// What a plan comes to. Pure: nothing has happened yet.
    pub(super) fn result_of(&self, plan: &mut Plan) -> Ready {
        let summary = if plan.drops_summary { SummaryChange::Remove } else { SummaryChange::Keep };
        let accounts = Accounts { ledger: std::mem::take(&mut plan.ledger), counted: plan.counted, summary };
        let mut ready = self.result(&plan.evict, &plan.edits, self.head_end.max(plan.head_end), accounts);
        ready.decision.trigger = plan.trigger;
        ready
    }

    /// What evicting these units, making these edits and putting these accounts behind the head comes to.
    pub(super) fn result(&self, evict: &[Range<usize>], edits: &[Edit], head_end: usize, accounts: Accounts) -> Ready {
        let gone = Gone::of(self, evict);
        // An account that stands does not move: that would be a change for nothing.
        let has_account = self.synthetics.iter().any(|ours| ours.kind.is_account());
        let head_end = if has_account { self.head_end } else { head_end };
        let head_end = gone.end_of_head(head_end.max(self.landmarks.seen_from()));
        let are_accounts_new = !accounts.is_unchanged();
        let keeps_synthetics = gone.is_empty() && !are_accounts_new;
        let synthetics = (!keeps_synthetics).then(|| self.synthetics_after(&gone, head_end, accounts));
        let account_place = gone.next_behind(head_end);
        // One that moves behind a compaction leaves its old place, too.
        let standing = self.synthetics.iter().find(|ours| ours.kind.is_account());
        let account_start = standing.map_or(account_place, |ours| ours.before.min(account_place));
        let seen_at = self.landmarks.compaction.unwrap_or(0);
        let is_unseen = |ours: &Synthetic| ours.kind.is_account() && ours.before <= seen_at;
        let is_moved = !gone.is_empty() && seen_at > 0 && self.synthetics.iter().any(is_unseen);
        let change_start = [
            gone.ranges.first().map(|range| range.start),
            edits.iter().map(|edit| edit.index + 1).min(),
            (are_accounts_new || is_moved).then_some(account_start),
        ];
        let change_start = change_start.into_iter().flatten().min().unwrap_or(usize::MAX);
        let edited = self.edited_after(&gone, edits, change_start);
        let recorded = synthetics.as_ref().map(|all| all.iter().map(SyntheticMessage::from).collect());
        let decision = Decision { evicted: gone.ranges, edited, synthetics: recorded, head_end, ..Decision::default() };
        Ready { decision, synthetics }
    }

    /// The messages in their new form: what the plan edits, and bound thinking behind the first change.
    fn edited_after(&self, gone: &Gone<'_>, edits: &[Edit], change_start: usize) -> Vec<EditedMessage> {
        let bound = self.bound_thinking.partition_point(|thinking| thinking.index < change_start);
        let stripped = self.bound_thinking[bound..].iter().map(|thinking| thinking.index);
        let mut indices: Vec<usize> = edits.iter().map(|edit| edit.index).chain(stripped).collect();
        indices.sort_unstable();
        indices.dedup();
        let edited = indices.into_iter().filter(|index| self.is_in_view(*index) && !gone.holds(*index));
        edited.filter_map(|index| self.edited(index, edits, change_start)).collect()
    }

    fn edited(&self, index: usize, edits: &[Edit], change_start: usize) -> Option<EditedMessage> {
        let current = self.entries[index].current();
        let mut all: Vec<Edit> = edits.iter().filter(|edit| edit.index == index).cloned().collect();
        if index >= change_start && self.bound_thinking.binary_search_by_key(&index, |bound| bound.index).is_ok() {
            all.extend(thinking_edits(index, current.shape()));
        }
        let message = edit_message(self.config.format, current, &all).ok()?;
        Some(EditedMessage { index, raw: message.raw().to_owned() })
    }

    fn is_in_view(&self, index: usize) -> bool {
        self.entries.get(index).is_some_and(|entry| !entry.is_evicted)
    }

    /// Our own messages once these units have left: accounts behind the head, and between neighbours that did not stand
    /// together before whatever the format wants there.
    fn synthetics_after(&self, gone: &Gone<'_>, head_end: usize, accounts: Accounts) -> Vec<Synthetic> {
        let place = gone.next_behind(head_end);
        let accounts = self.accounts_after(accounts, place);
        // Where something left, where an account stood, and where one stands now.
        let mut touched: Vec<usize> = gone.seams.clone();
        let old_accounts = self.synthetics.iter().filter(|ours| ours.kind.is_account());
        touched.extend(old_accounts.map(|ours| gone.next_at(ours.before)));
        touched.extend(accounts.first().map(|_| place));
        touched.sort_unstable();
        touched.dedup();
        let is_untouched = |ours: &&Synthetic| {
            let next = gone.next_at(ours.before);
            !ours.kind.is_account() && touched.binary_search(&next).is_err()
        };
        let mut all: Vec<Synthetic> = self.synthetics.iter().filter(is_untouched).cloned().collect();
        for next in touched {
            let account = accounts.first().filter(|_| next == place);
            all.extend(self.bridge(gone.last_before(next), account, next));
        }
        all.extend(accounts);
        all.sort_by_key(|ours| (ours.before, ours.kind));
        all
    }

    fn accounts_after(&self, accounts: Accounts, place: usize) -> Vec<Synthetic> {
        let standing = |kind: SyntheticKind| self.synthetics.iter().find(|ours| ours.kind == kind).cloned();
        let ledger = match accounts.ledger {
            LedgerChange::Keep => standing(SyntheticKind::Ledger),
            LedgerChange::Remove => None,
            LedgerChange::Write(ledger) => {
                // What a format writes it can read: a property test holds every writer to that.
                let message = Message::synthetic(self.config.format, Role::Assistant, &ledger.text);
                let counted = accounts.counted.and_then(|counted| counted.of(&ledger.text));
                message.ok().map(|message| Synthetic {
                    before: place,
                    kind: SyntheticKind::Ledger,
                    amount: counted.unwrap_or_else(|| count_message(&*self.config.counter, &message)),
                    message: Arc::new(message),
                    sources: ledger.sources.into(),
                })
            }
        };
        let summary = match accounts.summary {
            SummaryChange::Keep => standing(SyntheticKind::Summary),
            SummaryChange::Remove => None,
            SummaryChange::Put(message) => Some(self.synthetic(place, SyntheticKind::Summary, message)),
        };
        ledger.into_iter().chain(summary).map(|ours| Synthetic { before: place, ..ours }).collect()
    }

    pub(super) fn synthetic(&self, before: usize, kind: SyntheticKind, message: Message) -> Synthetic {
        let amount = count_message(&*self.config.counter, &message);
        Synthetic { before, kind, message: Arc::new(message), amount, sources: Arc::default() }
    }

    /// What has to stand on either side of the seam before log index `next`.
    pub(super) fn bridge(&self, last: Option<usize>, account: Option<&Synthetic>, next: usize) -> Vec<Synthetic> {
        let is_seam = last.map_or(0, |last| last + 1) != next;
        if account.is_none() && !is_seam {
            return Vec::new();
        }
        let shape = |index: usize| self.entries.get(index).map(|entry| entry.current().shape());
        let account = account.map(|account| account.message.shape());
        let shapes = [last.and_then(shape), account, shape(next)];
        let roles = self.landmarks.bridges(self.config.format.wire(), self.config.thinking, next, shapes);
        let kinds = [SyntheticKind::Opening, SyntheticKind::Marker];
        let ours = kinds.into_iter().zip(roles).filter_map(|(kind, role)| {
            let message = Message::synthetic(self.config.format, role?, apply::MARKER).ok()?;
            let (message, sources) = (Arc::new(message), Arc::default());
            Some(Synthetic { before: next, kind, message, amount: self.marker, sources })
        });
        ours.collect()
    }
}

/// Units that are about to leave the view.
struct Gone<'w> {
    window: &'w Window,
    /// As ranges of the log, ascending, neighbours as one.
    ranges: Vec<Range<usize>>,
    /// The log index of the message behind each gap that they leave, or the log's length.
    seams: Vec<usize>,
}

impl<'w> Gone<'w> {
    /// Whole units of the view that may leave, and the late answers to their calls. O(evicted log units).
    fn of(window: &'w Window, evict: &[Range<usize>]) -> Self {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for run in joined(evict) {
            let first = window.units.partition_point(|unit| unit.range.start < run.start);
            let last = window.units.partition_point(|unit| unit.range.end <= run.end);
            let units = window.units.range(first.min(last)..last);
            let may_leave = |unit: &&Unit| !window.landmarks.holds(unit, window.config.thinking);
            ranges.extend(units.filter(may_leave).map(|unit| unit.range.clone()));
        }
        let mut gone = Self { window, ranges, seams: Vec::new() };
        gone.add_orphans();
        gone.ranges = joined(&gone.ranges);
        let seam_behind = |range: &Range<usize>| gone.next_at(range.start);
        let mut seams: Vec<usize> = gone.ranges.iter().map(seam_behind).collect();
        seams.dedup();
        gone.seams = seams;
        gone
    }

    /// Late answers to calls that leave. There are hardly ever any.
    fn add_orphans(&mut self) {
        if self.window.late_answers == 0 {
            return;
        }
        self.ranges = joined(&self.ranges);
        let is_orphan = |unit: &&Unit| unit.owner.is_some_and(|owner| self.holds(owner));
        let orphans: Vec<_> = self.window.units.iter().filter(is_orphan).map(|unit| unit.range.clone()).collect();
        self.ranges.extend(orphans);
    }

    fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether a message leaves.
    fn holds(&self, index: usize) -> bool {
        holds(&self.ranges, index)
    }

    /// The first unit that stays and does not end before `index`.
    fn unit_at(&self, index: usize) -> Option<&Unit> {
        let position = self.window.units.partition_point(|unit| unit.range.end <= index);
        self.window.units.range(position..).find(|unit| !self.holds(unit.range.start))
    }

    /// The last unit that stays and starts before `index`.
    fn unit_before(&self, index: usize) -> Option<&Unit> {
        let position = self.window.units.partition_point(|unit| unit.range.start < index);
        self.window.units.range(..position).rev().find(|unit| !self.holds(unit.range.start))
    }

    /// The first message from `index` on that stays, or the log's length.
    fn next_at(&self, index: usize) -> usize {
        self.next_behind(index).max(index)
    }

    /// The first message behind the head that stays.
    fn next_behind(&self, head_end: usize) -> usize {
        self.unit_at(head_end).map_or(self.window.entries.len(), |unit| unit.range.start)
    }

    /// The head ends where its last unit does.
    fn end_of_head(&self, head_end: usize) -> usize {
        self.unit_before(head_end).map_or(0, |unit| unit.range.end).max(head_end)
    }

    /// The last message before `next` that stays.
    fn last_before(&self, next: usize) -> Option<usize> {
        self.unit_before(next).map(|unit| unit.range.end - 1)
    }
}
