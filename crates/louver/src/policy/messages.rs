//! At most so many messages: head and tail stay, the oldest between leave.

use super::{Policy, Settings, SettingsError};
use crate::plan::{Bound, Overflow, Plan, Trigger};
use crate::sight::Sight;

/// The settings of the message window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessagesConfig {
    /// The cap; 0 switches trimming off.
    pub max_messages: usize,
    /// How many messages at the start always stay.
    pub preserve_first_n: usize,
    /// How many messages at the end always stay.
    pub preserve_last_n: usize,
    /// Whether what leaves is to be summarised.
    pub summarize_on_trim: bool,
}

impl Default for MessagesConfig {
    fn default() -> Self {
        Self { max_messages: 100, preserve_first_n: 1, preserve_last_n: 20, summarize_on_trim: false }
    }
}

/// The policy `messages`.
#[derive(Clone, Debug)]
pub(super) struct Messages {
    config: MessagesConfig,
}

pub(super) fn build(settings: &Settings) -> Result<Box<dyn Policy>, SettingsError> {
    Ok(Box::new(Messages { config: settings.messages }))
}

impl Policy for Messages {
    fn bound(&self) -> Bound {
        if self.config.max_messages == 0 { Bound::None } else { Bound::Messages }
    }

    fn plan(&mut self, sight: &Sight<'_>) -> Result<Plan, Overflow> {
        Ok(plan(&self.config, sight))
    }
}

/// O(head + evicted); O(1) below the cap.
pub(super) fn plan(config: &MessagesConfig, sight: &Sight<'_>) -> Plan {
    let MessagesConfig { max_messages, preserve_first_n, preserve_last_n, summarize_on_trim } = *config;
    let log_len = sight.log_len();
    if max_messages == 0 || log_len <= max_messages {
        return Plan::nothing();
    }
    let pinned = preserve_first_n.saturating_add(preserve_last_n);
    let is_overpinned = pinned >= max_messages;
    let kept_at_end = if is_overpinned { preserve_last_n } else { max_messages - preserve_first_n };
    // Everything before this goes, the head apart; a unit across the line stays whole.
    let boundary = log_len.saturating_sub(kept_at_end);
    let head_units = sight.units().iter().take_while(|unit| unit.range.start < preserve_first_n).count();
    let evict: Vec<_> = sight
        .units()
        .range(head_units..)
        .take_while(|unit| unit.range.end <= boundary)
        .filter(|unit| unit.owner.is_none())
        .map(|unit| unit.range.clone())
        .collect();
    let head_end = match head_units.checked_sub(1) {
        Some(last) => sight.units()[last].range.end,
        None => 0,
    };
    let warnings = if is_overpinned { vec![overpinned(config)] } else { Vec::new() };
    let condense = (summarize_on_trim && !evict.is_empty()).then(|| evict.clone());
    Plan { trigger: Some(Trigger::MessageCap), evict, head_end, condense, warnings, ..Plan::nothing() }
}

fn overpinned(config: &MessagesConfig) -> String {
    format!(
        "preserve_first_n {} and preserve_last_n {} reach the cap of {} messages: only these are kept",
        config.preserve_first_n, config.preserve_last_n, config.max_messages
    )
}
