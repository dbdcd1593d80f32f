//! Old tool results become a placeholder: `mask` does it at every request, `clear-tools` from a certain size on.

use crate::edit::{Change, Edit};
use crate::plan::{Bound, Memory, Overflow, Pins, Plan, Trigger};
use crate::policy::{Policy, PolicyInput};
use crate::wire::{Part, PartKind};
use std::ops::Range;

/// What stands in the place of a tool result.
const PLACEHOLDER: &str = "[Old tool result cleared]";
/// A result up to this many times as long as the placeholder stays: replacing it saves next to nothing and has
/// everything behind it rewritten. On real conversations this alone is a third of what `mask` costs.
const WORTH_REPLACING: usize = 5;

/// When old tool results are replaced, and how many stay.
///
/// ```
/// use louver::policy::ObservationsConfig;
///
/// assert_eq!((ObservationsConfig::CLEAR_TOOLS.keep, ObservationsConfig::MASK.trigger_tokens), (3, 0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ObservationsConfig {
    /// Tokens of the whole history, nothing replaced, beyond which it starts.
    pub trigger_tokens: u64,
    /// The newest tool results stay as they are.
    pub keep: usize,
}

impl ObservationsConfig {
    /// Anthropic's context editing as it is by default.
    pub const CLEAR_TOOLS: Self = Self { trigger_tokens: 100_000, keep: 3 };
    /// Observation masking as it was published.
    pub const MASK: Self = Self { trigger_tokens: 0, keep: 10 };
}

/// The policies `mask` and `clear-tools`.
#[derive(Debug)]
pub(super) struct Observations {
    pub(super) name: &'static str,
    pub(super) config: ObservationsConfig,
}

/// How far the log was looked at, and how far its results were replaced.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    seen: usize,
    /// Results in the log so far, and how many of them are old.
    results: usize,
    replaced: usize,
    /// The first message whose results are not all old, and how many of them are.
    message: usize,
    of_message: usize,
}

impl Progress {
    /// O(new messages).
    fn look_at_new(&mut self, input: &PolicyInput<'_>) {
        let new = self.seen..input.log_len();
        self.results += new.map(|index| results(input, index)).sum::<usize>();
        self.seen = input.log_len();
    }

    /// The next so many results, oldest first: message, and which of its results. Not which of its parts: replacing one
    /// result takes the parts nested in it away and moves those behind it. O(messages passed).
    fn take(&mut self, input: &PolicyInput<'_>, count: usize) -> Vec<(usize, usize)> {
        let mut taken = Vec::with_capacity(count);
        while taken.len() < count && self.message < input.log_len() {
            let all = results(input, self.message);
            let end = all.min(self.of_message + count - taken.len());
            taken.extend((self.of_message..end).map(|result| (self.message, result)));
            (self.message, self.of_message) = if end == all { (self.message + 1, 0) } else { (self.message, end) };
        }
        self.replaced += taken.len();
        taken
    }
}

/// As they came in: a replaced result stands where the result stood.
fn results(input: &PolicyInput<'_>, index: usize) -> usize {
    input.original(index).shape().parts_of(PartKind::ToolResult).count()
}

impl Observations {
    fn old(&self, progress: &Progress) -> usize {
        progress.results.saturating_sub(self.config.keep + progress.replaced)
    }
}

impl Policy for Observations {
    fn name(&self) -> &str {
        self.name
    }

    fn bound(&self) -> Bound {
        Bound::None
    }

    fn pins(&self, _: &PolicyInput<'_>) -> Pins {
        Pins::everything()
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        let trigger_tokens = self.config.trigger_tokens;
        trigger_tokens > 0 && at_most.tokens(at_most.log_total()) > trigger_tokens
    }

    /// O(new messages + results replaced).
    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let mut progress = input.memory().get::<Progress>().copied().unwrap_or_default();
        progress.look_at_new(input);
        let old = self.old(&progress);
        if old == 0 || input.tokens(input.log_total()) <= self.config.trigger_tokens {
            return Ok(Plan::remembering(Memory::new(progress)));
        }
        let taken = progress.take(input, old);
        let edits: Vec<Edit> =
            taken.into_iter().filter_map(|(index, result)| replacement(input, index, result)).collect();
        let trigger = (!edits.is_empty()).then_some(Trigger::OldResults);
        Ok(Plan { trigger, edits, ..Plan::remembering(Memory::new(progress)) })
    }

    /// What was replaced stays so, whoever did it; the next plan looks at all that is old again.
    fn remember(&self, input: &PolicyInput<'_>, _: &[Range<usize>], _: Option<Trigger>) -> Memory {
        let mut progress = input.memory().get::<Progress>().copied().unwrap_or_default();
        progress.look_at_new(input);
        Memory::new(progress)
    }
}

/// A result that is hardly larger than the placeholder, or that takes no text, stays.
fn replacement(input: &PolicyInput<'_>, index: usize, result: usize) -> Option<Edit> {
    let parts = &input.shape(index).parts;
    let is_result = |(_, part): &(usize, &Part)| part.kind == PartKind::ToolResult;
    let (part, _) = parts.iter().enumerate().filter(is_result).nth(result)?;
    let chars: u32 = std::iter::once(&parts[part]).chain(nested(parts, part)).map(|part| part.chars).sum();
    let has_media = nested(parts, part).any(|part| matches!(part.kind, PartKind::Media(_)));
    let is_worth_it = has_media || chars as usize > WORTH_REPLACING * PLACEHOLDER.len();
    let is_possible = !parts[part].text.is_empty() && input.is_in_view(index);
    (is_worth_it && is_possible).then(|| Edit { index, part, change: Change::Stub(PLACEHOLDER.to_owned()) })
}

fn nested(parts: &[Part], part: usize) -> impl Iterator<Item = &Part> {
    parts[part + 1..].iter().take_while(|part| part.nested)
}
