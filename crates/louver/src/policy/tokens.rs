//! At most so many tokens: when the window is full, half of the messages after the first leave.

use super::draft::Draft;
use super::{Policy, Settings, SettingsError};
use crate::budget::Budget;
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;
use crate::tokens::{Factor, Millitokens};
use crate::unit::Unit;
use crate::wire::PartKind;
use std::collections::BTreeMap;

/// The lowest threshold a profile may set, in percent of the window.
pub const MIN_CONDENSE_THRESHOLD: i64 = 50;
/// The highest threshold a profile may set, in percent of the window.
pub const MAX_CONDENSE_THRESHOLD: i64 = 100;
/// How many messages at least stay behind a summary.
const KEPT_BEHIND_SUMMARY: usize = 3;
/// File-writing turns right before the kept end that stay with it.
const WRITES_KEPT: usize = 3;

/// The settings of the token window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokensConfig {
    /// What the provider reported for all but the last message, if it did.
    pub total_tokens: Option<u64>,
    /// Whether a summary is tried before anything is dropped.
    pub auto_condense_context: bool,
    /// The share of the window at which condensing starts, 1 to 100.
    pub auto_condense_context_percent: u8,
    /// Thresholds by profile: 50 to 100, or -1 for the global one.
    pub profile_thresholds: BTreeMap<String, i64>,
    /// The profile in use.
    pub current_profile_id: Option<String>,
}

impl Default for TokensConfig {
    fn default() -> Self {
        Self {
            total_tokens: None,
            auto_condense_context: false,
            auto_condense_context_percent: 75,
            profile_thresholds: BTreeMap::new(),
            current_profile_id: None,
        }
    }
}

/// The threshold that holds, and a warning where a profile's was unusable.
///
/// ```
/// use louver::policy::{TokensConfig, effective_threshold};
///
/// let mut config = TokensConfig::default();
/// config.profile_thresholds.insert("code".into(), 60);
/// config.current_profile_id = Some("code".into());
/// assert_eq!(effective_threshold(&config), (60, None));
/// ```
#[must_use]
pub fn effective_threshold(config: &TokensConfig) -> (u64, Option<String>) {
    let global = u64::from(config.auto_condense_context_percent);
    let profile = config.current_profile_id.as_deref().unwrap_or_default();
    match config.profile_thresholds.get(profile) {
        None | Some(-1) => (global, None),
        Some(own @ MIN_CONDENSE_THRESHOLD..=MAX_CONDENSE_THRESHOLD) => (own.unsigned_abs(), None),
        Some(other) => {
            let warning = format!(
                "profile `{profile}` has a threshold of {other}, outside {MIN_CONDENSE_THRESHOLD} to \
                 {MAX_CONDENSE_THRESHOLD}: the global {global} is used"
            );
            (global, Some(warning))
        }
    }
}

/// What the token window does about a history of a given size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing.
    Keep,
    /// Ask for a summary; if that fails, truncate where the history is over the limit.
    Condense(Trigger),
    /// Drop half.
    Truncate,
}

/// The decision alone, from numbers alone.
#[must_use]
pub fn decide(config: &TokensConfig, budget: Budget, context_tokens: u64) -> Decision {
    let (threshold, _) = effective_threshold(config);
    let is_over = budget.is_exceeded_by(context_tokens);
    let is_reached = context_tokens.saturating_mul(100) >= threshold.saturating_mul(budget.context_window());
    match (config.auto_condense_context, is_over, is_reached) {
        (true, true, _) => Decision::Condense(Trigger::TokenLimit),
        (true, false, true) => Decision::Condense(Trigger::CondenseThreshold),
        (false, true, _) => Decision::Truncate,
        _ => Decision::Keep,
    }
}

/// How many of `messages` a pass drops after the first: a fraction, rounded down to even.
///
/// ```
/// assert_eq!(louver::policy::messages_to_drop(7, 0.5), 2);
/// ```
#[must_use]
pub fn messages_to_drop(messages: usize, fraction: f64) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a fraction of a message count, rounded down on purpose"
    )]
    let dropped = (messages.saturating_sub(1) as f64 * fraction.clamp(0.0, 1.0)) as usize;
    dropped - dropped % 2
}

/// The policy `tokens`.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    config: TokensConfig,
    budget: Budget,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ok(Box::new(Tokens::new(settings.tokens.clone(), settings)?))
}

impl Policy for Tokens {
    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        self.plan_after(Plan::nothing(), sight)
    }
}

impl Tokens {
    pub(super) fn new(config: TokensConfig, settings: &Settings) -> Result<Self, SettingsError> {
        if !(1..=100).contains(&config.auto_condense_context_percent) {
            return Err(SettingsError::Percent(config.auto_condense_context_percent));
        }
        let budget = settings.budget.ok_or(SettingsError::NoBudget("tokens"))?;
        Ok(Self { config, budget })
    }

    /// Decides about what another plan leaves. O(1) while the history fits.
    pub(super) fn plan_after(&self, first: Plan, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        let scale = self.scale(sight);
        let gone: Millitokens = first.evict.iter().map(|range| sight.amount(range.clone())).sum();
        let total = sight.total().saturating_sub(gone) + seam_of(&first, sight);
        let context_tokens = self.context_tokens(sight, scale, total);
        let (_, warning) = effective_threshold(&self.config);
        let mut draft = Draft::new(first, sight, total, scale, self.budget);
        if self.config.auto_condense_context {
            draft.plan.warnings.extend(warning);
        }
        match decide(&self.config, self.budget, context_tokens) {
            Decision::Keep => {}
            Decision::Truncate => draft.truncate()?,
            Decision::Condense(trigger) => {
                draft.plan.trigger = Some(trigger);
                draft.condense();
                if self.budget.is_exceeded_by(context_tokens) {
                    draft.truncate()?;
                }
            }
        }
        draft.plan.evict.sort_by_key(|range| range.start);
        Ok(draft.plan)
    }

    /// The caller's own figure counts for all but the last message; without one ours counts for everything.
    fn context_tokens(&self, sight: &Sight<'_>, scale: Factor, total: Millitokens) -> u64 {
        let is_untouched = total == sight.total();
        match (self.config.total_tokens, sight.log_len().checked_sub(1)) {
            (Some(reported), Some(last)) if is_untouched => {
                reported.saturating_add(sight.tokens(sight.amount(last..last + 1)))
            }
            (Some(_), _) => sight.tokens(total.scaled(scale)),
            _ => sight.tokens(total),
        }
    }

    /// After a cut our counts are scaled to the caller's figure.
    fn scale(&self, sight: &Sight<'_>) -> Factor {
        let Some(reported) = self.config.total_tokens else {
            return Factor::ONE;
        };
        let last = sight.log_len().checked_sub(1).map_or(Millitokens::ZERO, |last| sight.amount(last..last + 1));
        Sight::factor_of(reported, sight.total().saturating_sub(last))
    }
}

/// What has to stand where an earlier plan's one run of units leaves.
fn seam_of(plan: &Plan, sight: &Sight<'_>) -> Millitokens {
    match plan.evict.last() {
        Some(last) if last.end < sight.log_len() => sight.seam_amount(plan.head_end.checked_sub(1), last.end),
        _ => Millitokens::ZERO,
    }
}

/// What the token window does to a draft.
impl<'a> Draft<'a> {
    /// Keeps the first message and the newest units with at least three messages; a summary is to cover the rest.
    fn condense(&mut self) {
        let sight = self.sight;
        let units = self.left().clone();
        let mut kept_messages = 0;
        let mut tail = units.len();
        while tail > 1 && kept_messages < KEPT_BEHIND_SUMMARY {
            tail -= 1;
            kept_messages += units[tail].len();
        }
        let writes =
            units[1.min(tail)..tail].iter().rev().take(WRITES_KEPT).take_while(|unit| writes_file(sight, unit));
        tail -= writes.count();
        let covered: Vec<_> = units[1.min(tail)..tail].iter().map(|unit| unit.range.clone()).collect();
        self.plan.head_end = units.first().map_or(0, |unit| unit.range.end);
        if covered.is_empty() {
            self.plan.condense_error = Some("too few messages between the first and the last to condense".to_owned());
        } else if !sight.may_condense() {
            self.plan.condense_error = Some("condensing failed before and waits for more history".to_owned());
        } else {
            self.plan.condense.get_or_insert_default().extend(covered);
        }
    }

    /// Halves until it fits, then clips, then drops all but the first message and the last turn.
    fn truncate(&mut self) -> Result<(), Overflow> {
        self.plan.trigger.get_or_insert(Trigger::TokenLimit);
        self.plan.head_end = self.left().first().map_or(0, |unit| unit.range.end);
        // The decision was made by the caller's figure, so the first pass runs even where our own count would fit.
        while self.drop_fraction(0.5) > 0 && !self.fits() {}
        self.clip_until_it_fits();
        while !self.fits() && self.left().len() > 2 {
            self.drop_units(1..2);
        }
        if self.fits() { Ok(()) } else { Err(self.overflow()) }
    }

    /// Drops whole units right after the first message and returns how many messages left.
    fn drop_fraction(&mut self, fraction: f64) -> usize {
        let units = self.left();
        let messages: usize = units.iter().map(|unit| unit.len()).sum();
        let drop = messages_to_drop(messages, fraction);
        // The first message is position 0, so positions up to `drop` may go.
        let mut position = units.first().map_or(0, |unit| unit.len());
        let mut end = 1;
        while end < units.len() && position + units[end].len() <= drop + 1 {
            position += units[end].len();
            end += 1;
        }
        self.drop_units(1..end)
    }
}

/// Whether a unit is a tool call that wrote a file and did not fail.
fn writes_file(sight: &Sight<'_>, unit: &Unit) -> bool {
    let messages = unit.range.clone().map(|index| sight.message(index));
    let mut wrote = false;
    for message in messages {
        for part in &message.shape().parts {
            match part.kind {
                PartKind::ToolResult if part.is_error => return false,
                PartKind::ToolCall => wrote |= is_write(&message.name_of(part)),
                _ => {}
            }
        }
    }
    wrote
}

fn is_write(tool: &str) -> bool {
    let tool = tool.to_ascii_lowercase();
    ["write", "edit", "patch", "create_file", "str_replace"].iter().any(|word| tool.contains(word))
}
