//! At most so many tokens: when the window is full, half of the messages after the first leave.

use crate::budget::Budget;
use crate::plan::{Bound, CondenseError, Overflow, Pins, Plan, Trigger, Warning};
use crate::policy::{PlanBuilder, Policy, PolicyInput};
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
///
/// ```
/// use louver::policy::TokensConfig;
///
/// let config = TokensConfig { auto_condense_context: true, ..TokensConfig::default() };
/// assert_eq!(config.auto_condense_context_percent, 75);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TokensConfig {
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
pub fn effective_threshold(config: &TokensConfig) -> (u64, Option<Warning>) {
    let global = u64::from(config.auto_condense_context_percent);
    let profile = config.current_profile_id.as_deref().unwrap_or_default();
    match config.profile_thresholds.get(profile) {
        None | Some(-1) => (global, None),
        Some(own @ MIN_CONDENSE_THRESHOLD..=MAX_CONDENSE_THRESHOLD) => (own.unsigned_abs(), None),
        Some(other) => {
            let warning = Warning::Threshold { profile: profile.to_owned(), threshold: *other, global };
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
///
/// ```
/// use louver::Budget;
/// use louver::policy::{Decision, TokensConfig, decide};
///
/// let budget = Budget::new(10_000, Some(1_000))?;
/// assert_eq!(decide(&TokensConfig::default(), budget, 8_000), Decision::Keep);
/// assert_eq!(decide(&TokensConfig::default(), budget, 8_001), Decision::Truncate);
/// # Ok::<(), louver::Error>(())
/// ```
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
#[derive(Debug)]
pub(super) struct Tokens(pub(super) TokensConfig);

impl Policy for Tokens {
    fn name(&self) -> &str {
        "tokens"
    }

    fn bound(&self) -> Bound {
        Bound::Tokens
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        Pins::head(input.instructions_end() + 1)
    }

    fn heeds_counts(&self, at_most: &PolicyInput<'_>) -> bool {
        let context_tokens = at_most.tokens(at_most.total());
        at_most.budget().is_some_and(|budget| decide(&self.0, budget, context_tokens) != Decision::Keep)
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        self.plan_after(Plan::nothing(), input)
    }
}

impl Tokens {
    /// Decides about what another plan leaves. O(1) while the history fits.
    pub(super) fn plan_after(&self, first: Plan, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        let Some(budget) = input.budget() else {
            return Ok(first);
        };
        let is_untouched = first.keeps_everything();
        let mut context_tokens = input.tokens(input.total());
        if is_untouched && decide(&self.0, budget, context_tokens) == Decision::Keep {
            return Ok(first);
        }
        let mut builder = input.builder_after(&first_message(&first, input), first);
        if !is_untouched {
            context_tokens = builder.tokens();
        }
        let (_, warning) = effective_threshold(&self.0);
        if self.0.auto_condense_context {
            builder.plan_mut().warnings.extend(warning);
        }
        match decide(&self.0, budget, context_tokens) {
            Decision::Keep => Ok(builder.into_plan()),
            Decision::Truncate => truncated(builder, input, budget),
            Decision::Condense(trigger) => {
                builder.plan_mut().trigger = Some(trigger);
                condense(&mut builder, input);
                match budget.is_exceeded_by(context_tokens) {
                    true => truncated(builder, input, budget),
                    false => Ok(builder.into_plan()),
                }
            }
        }
    }
}

/// The first message that is left behind the instructions.
pub(super) fn first_message(plan: &Plan, input: &PolicyInput<'_>) -> Pins {
    let is_first = |unit: &&Unit| unit.range.end > input.instructions_end() && !plan.evicts(unit.range.start);
    let first = input.units().iter().find(is_first).map(|unit| unit.range.start);
    Pins { others: first.into_iter().collect(), ..Pins::head(input.instructions_end()) }
}

/// Keeps the first message and the newest units with at least three messages; a summary is to cover the rest.
fn condense(builder: &mut PlanBuilder<'_>, input: &PolicyInput<'_>) {
    let units: Vec<(&Unit, bool)> = builder.units().collect();
    let first = units.iter().take_while(|(unit, _)| unit.range.end <= input.instructions_end()).count();
    let first = (first + 1).min(units.len());
    let mut kept_messages = 0;
    let mut tail = units.len();
    while tail > first && kept_messages < KEPT_BEHIND_SUMMARY {
        tail -= 1;
        kept_messages += units[tail].0.len();
    }
    let writes = units[first.min(tail)..tail].iter().rev().take(WRITES_KEPT);
    tail -= writes.take_while(|(unit, _)| writes_file(input, unit)).count();
    let between = units[first.min(tail)..tail].iter().filter(|(_, may_leave)| *may_leave);
    let covered: Vec<_> = between.map(|(unit, _)| unit.range.clone()).collect();
    let plan = builder.plan_mut();
    plan.head_end = first.checked_sub(1).map_or(0, |first| units[first].0.range.end);
    if covered.is_empty() {
        plan.condense_error = Some(CondenseError::TooFew);
    } else if !input.may_condense() {
        plan.condense_error = Some(CondenseError::Waiting);
    } else {
        plan.condense.get_or_insert_default().extend(covered);
    }
}

/// Halves until it fits, then clips, then drops all but the first message and the last turn.
fn truncated(mut builder: PlanBuilder<'_>, input: &PolicyInput<'_>, budget: Budget) -> Result<Plan, Overflow> {
    let head = builder.units().find(|(unit, _)| unit.range.end > input.instructions_end());
    let head_end = head.map_or(input.instructions_end(), |(unit, _)| unit.range.end);
    let plan = builder.plan_mut();
    plan.trigger.get_or_insert(Trigger::TokenLimit);
    plan.head_end = head_end;
    builder.evict_unseen();
    evict_fraction(&mut builder, input, 0.5);
    let once = builder.plan_mut().clone();
    while !builder.fits() && evict_fraction(&mut builder, input, 0.5) > 0 {}
    builder.clip_until_it_fits();
    let overflow = match builder.finish() {
        Ok(plan) => return Ok(plan),
        Err(overflow) => overflow,
    };
    // The caller's figure may be beyond anything that the messages can have: then no cut makes it good.
    let beyond_tokens = input.tokens(input.beyond_count);
    if budget.is_exceeded_by(overflow.floor_tokens.saturating_sub(beyond_tokens)) {
        return Err(overflow);
    }
    let mut once = once;
    once.evict.sort_by_key(|range| range.start);
    once.warnings.push(Warning::BeyondCount { beyond_tokens });
    Ok(once)
}

/// Drops whole units right after the first message and returns how many messages left.
fn evict_fraction(builder: &mut PlanBuilder<'_>, input: &PolicyInput<'_>, fraction: f64) -> usize {
    let instructions_end = input.instructions_end();
    let units: Vec<&Unit> =
        builder.units().map(|(unit, _)| unit).filter(|unit| unit.range.end > instructions_end).collect();
    let messages: usize = units.iter().map(|unit| unit.len()).sum();
    let drop = messages_to_drop(messages, fraction);
    // The first message is position 0, so positions up to `drop` may go.
    let mut position = units.first().map_or(0, |unit| unit.len());
    let mut end = 0;
    for unit in units.iter().skip(1) {
        position += unit.len();
        if position > drop + 1 {
            break;
        }
        end = unit.range.end;
    }
    builder.evict_where(|unit| unit.range.end <= end)
}

/// Whether a unit is a tool call that wrote a file and did not fail.
fn writes_file(input: &PolicyInput<'_>, unit: &Unit) -> bool {
    let messages = unit.range.clone().map(|index| input.message(index));
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
