//! What a policy sees.

use super::builder::PlanBuilder;
use crate::budget::Budget;
use crate::catalog::ThinkingBinding;
use crate::count::{Scale, count_message};
use crate::economy::Economy;
use crate::edit::{Edit, edit_message};
use crate::landmarks::Landmarks;
use crate::plan::{Memory, Pins, Plan};
use crate::tokens::{Calibration, Counter, Millitokens};
use crate::unit::Unit;
use crate::view::{Entry, Synthetic};
use crate::wire::{Format, Message, Shape};
use std::collections::VecDeque;
use std::ops::Range;

/// The present view, in units, and everything that a decision may depend on. What needs no look at the messages is O(1).
///
/// ```
/// use louver::plan::{Bound, Overflow, Pins, Plan};
/// use louver::policy::{Occasion, Policy, PolicyInput};
/// use louver::tokens::Millitokens;
/// use louver::window::WindowConfig;
/// use louver::{Budget, Format, PolicyKind, Window};
/// use std::sync::Arc;
///
/// #[derive(Debug)]
/// struct Onlooker;
///
/// impl Policy for Onlooker {
///     fn name(&self) -> &str {
///         "onlooker"
///     }
///     fn bound(&self) -> Bound {
///         Bound::Tokens
///     }
///     fn pins(&self, input: &PolicyInput<'_>) -> Pins {
///         Pins::head(input.instructions_end())
///     }
///     fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
///         // The log, and what of it is in the view.
///         assert_eq!((input.log_len(), input.kept_messages(), input.units().len()), (3, 3, 3));
///         assert!(input.is_in_view(1) && !input.is_edited(1) && input.message(1) == input.original(1));
///         assert_eq!((input.instructions_end(), input.first_answer(), input.latest_request()), (1, Some(2), Some(1)));
///         assert!(input.is_held(&input.units()[0]) && !input.is_unseen(&input.units()[0]));
///         // What it costs.
///         assert_eq!(input.logged(0..3) + input.overhead(), input.log_total());
///         assert_eq!((input.total(), input.amount(0..3)), (input.log_total(), input.log_total()));
///         assert!(input.tokens(input.total()) > 0 && !input.is_over() && input.budget().is_some());
///         assert_eq!(input.amount_edited(1, &[]), Some(input.amount(1..2)));
///         assert_eq!((input.ledger_amount(), input.count_text("four")), (Millitokens::ZERO, Millitokens::from_tokens(1)));
///         assert!(input.economy().price_steps.is_empty());
///         // The moment.
///         assert!(input.occasion() == Occasion::Request && !input.is_cold() && input.may_condense());
///         assert!(input.memory().get::<u32>().is_none() && input.ledger_heading().is_none());
///         Ok(input.builder_after(&self.pins(input), Plan::nothing()).into_plan()) // `builder` starts from nothing
///     }
/// }
///
/// let policy = PolicyKind::Custom(Arc::new(Onlooker));
/// let config = WindowConfig::new(Format::OpenAiChat, policy).with_budget(Budget::new(4_000, Some(1_000))?);
/// let mut window = Window::new(config)?;
/// for (role, text) in [("system", "Be brief."), ("user", "Fix it."), ("assistant", "Done.")] {
///     window.push_raw(&format!(r#"{{"role":"{role}","content":"{text}"}}"#))?;
/// }
/// assert!(!window.fit()?.is_cut());
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PolicyInput<'a> {
    pub(crate) format: Format,
    pub(crate) entries: &'a [Entry],
    pub(crate) units: &'a VecDeque<Unit>,
    pub(crate) synthetics: &'a [Synthetic],
    pub(crate) landmarks: &'a Landmarks,
    /// Where the head of the last plan ended.
    pub(crate) head_end: usize,
    pub(crate) kept_messages: usize,
    /// Kept messages alone.
    pub(crate) kept: Millitokens,
    pub(crate) overhead: Millitokens,
    /// What the caller's figure says beyond every count: no cut removes it.
    pub(crate) beyond_count: Millitokens,
    pub(crate) scale: Scale,
    /// What stood in the log before each message, as it came in, and in all.
    pub(crate) sums: &'a [u64],
    pub(crate) counter: &'a dyn Counter,
    pub(crate) calibration: &'a Calibration,
    pub(crate) budget: Option<Budget>,
    pub(crate) economy: &'a Economy,
    /// What one of our own markers costs.
    pub(crate) marker: Millitokens,
    pub(crate) thinking: ThinkingBinding,
    /// Messages with thinking that a change before them makes invalid, ascending.
    pub(crate) bound_thinking: &'a [BoundThinking],
    pub(crate) occasion: Occasion,
    /// Whether the condensing shell may be asked now.
    pub(crate) may_condense: bool,
    /// Whether the provider's cache has expired since the last request.
    pub(crate) is_cold: bool,
    pub(crate) memory: &'a Memory,
    pub(crate) ledger_heading: Option<&'a str>,
}

/// A message whose thinking is valid behind its exact prefix only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BoundThinking {
    pub(crate) index: usize,
    /// What the counter says of the message without it.
    pub(crate) stripped: Millitokens,
}

/// Why a policy is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Occasion {
    /// A request is about to be sent.
    Request,
    /// A summary has taken its place: only what the bound demands is to be done.
    Settling,
}

impl<'a> PolicyInput<'a> {
    /// How many messages the log has.
    pub fn log_len(&self) -> usize {
        self.entries.len()
    }

    /// How many of them are in the view.
    pub fn kept_messages(&self) -> usize {
        self.kept_messages
    }

    /// The units in the view, oldest first.
    pub fn units(&self) -> &'a VecDeque<Unit> {
        self.units
    }

    /// The budget, for policies that have one.
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// What the model's cache costs.
    pub fn economy(&self) -> &'a Economy {
        self.economy
    }

    /// Why the policy is asked.
    pub fn occasion(&self) -> Occasion {
        self.occasion
    }

    /// What the policy remembered when its last plan was applied.
    pub fn memory(&self) -> &'a Memory {
        self.memory
    }

    /// What the first line of a ledger says behind its title.
    pub fn ledger_heading(&self) -> Option<&'a str> {
        self.ledger_heading
    }

    /// Whether a summary may be asked for: condensing is not waiting for more history after a failure.
    pub fn may_condense(&self) -> bool {
        self.may_condense
    }

    /// Whether the provider's cache has expired since the last request, so that everything is written anew anyway.
    pub fn is_cold(&self) -> bool {
        self.is_cold
    }

    /// Where the leading instructions end: they never leave.
    pub fn instructions_end(&self) -> usize {
        self.landmarks.instructions_end
    }

    /// The first message of the model.
    pub fn first_answer(&self) -> Option<usize> {
        self.landmarks.first_answer
    }

    /// The last message in which the user says something.
    pub fn latest_request(&self) -> Option<usize> {
        self.landmarks.latest_request
    }

    /// Whether a unit may not leave under any policy.
    pub fn is_held(&self, unit: &Unit) -> bool {
        self.landmarks.holds(unit, self.thinking)
    }

    /// Whether the model does not see a unit, because a provider's compaction stands for it.
    pub fn is_unseen(&self, unit: &Unit) -> bool {
        self.landmarks.compaction.is_some_and(|compaction| unit.range.end <= compaction)
    }

    /// Everything that would be sent now: system, tools, messages.
    pub fn total(&self) -> Millitokens {
        self.kept + self.synthetics.iter().map(|ours| ours.amount).sum() + self.overhead + self.beyond_count
    }

    /// What sending everything would cost: system, tools, the whole log as it came in.
    pub fn log_total(&self) -> Millitokens {
        self.logged(0..self.log_len()) + self.overhead
    }

    /// What some messages cost as they came in. O(1).
    pub fn logged(&self, range: Range<usize>) -> Millitokens {
        let at = |index: usize| self.sums.get(index).or(self.sums.last()).copied().unwrap_or_default();
        Millitokens::new(at(range.end).saturating_sub(at(range.start)))
    }

    /// System and tools.
    pub fn overhead(&self) -> Millitokens {
        self.overhead
    }

    /// Whole tokens of an amount, corrected by what the provider reported.
    pub fn tokens(&self, amount: Millitokens) -> u64 {
        self.calibration.apply(amount).ceil_tokens()
    }

    /// Whether the present view is over the budget.
    pub fn is_over(&self) -> bool {
        self.budget.is_some_and(|budget| budget.is_exceeded_by(self.tokens(self.total())))
    }

    /// What some messages cost in the form they are sent in. O(messages).
    pub fn amount(&self, range: Range<usize>) -> Millitokens {
        self.entries[range].iter().map(|entry| entry.amount).sum()
    }

    /// A message in the form it is sent in.
    pub fn message(&self, index: usize) -> &'a Message {
        self.entries[index].current()
    }

    /// A message as it came in.
    pub fn original(&self, index: usize) -> &'a Message {
        &self.entries[index].message
    }

    /// Whether a message is sent in another form than it came in.
    pub fn is_edited(&self, index: usize) -> bool {
        !std::ptr::eq(self.message(index), self.original(index))
    }

    /// Whether a message is in the view.
    pub fn is_in_view(&self, index: usize) -> bool {
        !self.entries[index].is_evicted
    }

    /// What a message would cost after some edits; `None` if it cannot be edited so.
    pub fn amount_edited(&self, index: usize, edits: &[Edit]) -> Option<Millitokens> {
        let edited = edit_message(self.format, self.message(index), edits).ok()?;
        Some(self.scale.of(index, count_message(self.counter, &edited)))
    }

    /// What the ledger in the view costs.
    pub fn ledger_amount(&self) -> Millitokens {
        let ledgers = self.synthetics.iter().filter(|ours| ours.kind == crate::view::SyntheticKind::Ledger);
        ledgers.map(|ours| ours.amount).sum()
    }

    /// What a text costs.
    pub fn count_text(&self, text: &str) -> Millitokens {
        self.counter.text(text)
    }

    /// A plan in the making over the present view. O(units).
    pub fn builder(&'a self, pins: &Pins) -> PlanBuilder<'a> {
        PlanBuilder::new(self, pins, Plan::nothing())
    }

    /// The same over what another plan leaves.
    pub fn builder_after(&'a self, pins: &Pins, plan: Plan) -> PlanBuilder<'a> {
        PlanBuilder::new(self, pins, plan)
    }

    pub(crate) fn shape(&self, index: usize) -> &'a Shape {
        self.message(index).shape()
    }
}
