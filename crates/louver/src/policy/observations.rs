//! Old tool results become a placeholder: `mask` does it at every request, `clear-tools` from a certain size on.

use super::{Policy, Settings, SettingsError};
use crate::edit::{Change, Edit};
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::wire::{Part, PartKind};
use std::collections::VecDeque;

/// What stands in the place of a tool result.
const PLACEHOLDER: &str = "[Old tool result cleared]";
/// A result up to this many times as long as the placeholder stays: replacing it saves next to nothing and has
/// everything behind it rewritten. On real conversations this alone is a third of what `mask` costs.
const WORTH_REPLACING: usize = 5;

/// When old tool results are replaced, and how many stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
struct Observations {
    config: ObservationsConfig,
    /// How much of the log was looked at.
    seen: usize,
    /// Results that stand as they came, oldest first: message, and which of its results. Not which of its parts:
    /// replacing one result takes the parts nested in it away and moves those behind it.
    raw: VecDeque<(usize, usize)>,
}

pub(super) fn build_mask(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ok(Observations::boxed(settings.mask))
}

pub(super) fn build_clear_tools(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ok(Observations::boxed(settings.clear_tools))
}

impl Observations {
    fn boxed(config: ObservationsConfig) -> Box<dyn Policy> {
        Box::new(Self { config, seen: 0, raw: VecDeque::new() })
    }

    fn look_at_new(&mut self, sight: &Sight<'_>) {
        for index in self.seen..sight.log_len() {
            let results = sight.message(index).shape().parts_of(PartKind::ToolResult).count();
            self.raw.extend((0..results).map(|result| (index, result)));
        }
        self.seen = sight.log_len();
    }
}

impl Policy for Observations {
    fn bound(&self) -> Bound {
        Bound::None
    }

    /// O(new messages + results replaced).
    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        self.look_at_new(sight);
        let old = self.raw.len().saturating_sub(self.config.keep);
        if old == 0 || sight.tokens(sight.log_total()) <= self.config.trigger_tokens {
            return Ok(Plan::nothing());
        }
        let edits: Vec<Edit> =
            self.raw.drain(..old).filter_map(|(index, result)| replacement(sight, index, result)).collect();
        Ok(Plan { trigger: Some(Trigger::OldResults), edits, ..Plan::nothing() })
    }
}

/// A result that is hardly larger than the placeholder, or that takes no text, stays.
fn replacement(sight: &Sight<'_>, index: usize, result: usize) -> Option<Edit> {
    let parts = &sight.message(index).shape().parts;
    let is_result = |(_, part): &(usize, &Part)| part.kind == PartKind::ToolResult;
    let (part, _) = parts.iter().enumerate().filter(is_result).nth(result)?;
    let chars: u32 = std::iter::once(&parts[part]).chain(nested(parts, part)).map(|part| part.chars).sum();
    let has_media = nested(parts, part).any(|part| matches!(part.kind, PartKind::Media(_)));
    let is_worth_it = has_media || chars as usize > WORTH_REPLACING * PLACEHOLDER.len();
    let is_possible = !parts[part].text.is_empty();
    (is_worth_it && is_possible).then(|| Edit { index, part, change: Change::Stub(PLACEHOLDER.to_owned()) })
}

fn nested(parts: &[Part], part: usize) -> impl Iterator<Item = &Part> {
    parts[part + 1..].iter().take_while(|part| part.nested)
}
