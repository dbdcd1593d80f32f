//! At most so many messages: head and tail stay, the oldest between leave.

use crate::plan::{Bound, Overflow, Pins, Plan, Trigger, Warning};
use crate::policy::{Policy, PolicyInput};

/// The settings of the message window.
///
/// ```
/// use louver::policy::MessagesConfig;
///
/// let config = MessagesConfig { max_messages: 30, ..MessagesConfig::default() };
/// assert_eq!((config.preserve_first_n, config.preserve_last_n), (1, 20));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MessagesConfig {
    /// The cap; 0 switches trimming off.
    pub max_messages: usize,
    /// How many messages at the start always stay, leading instructions not counted: those stay anyway.
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
#[derive(Debug)]
pub(super) struct Messages(pub(super) MessagesConfig);

impl Policy for Messages {
    fn name(&self) -> &str {
        "messages"
    }

    fn bound(&self) -> Bound {
        if self.is_off() { Bound::None } else { Bound::Messages }
    }

    fn is_off(&self) -> bool {
        self.0.max_messages == 0
    }

    fn max_messages(&self) -> Option<usize> {
        Some(self.0.max_messages).filter(|cap| *cap > 0)
    }

    fn pins(&self, input: &PolicyInput<'_>) -> Pins {
        let head_end = input.instructions_end().saturating_add(self.0.preserve_first_n);
        Pins { tail_start: input.log_len().saturating_sub(self.0.preserve_last_n), ..Pins::head(head_end) }
    }

    fn heeds_counts(&self, _: &PolicyInput<'_>) -> bool {
        false
    }

    fn plan(&self, input: &PolicyInput<'_>) -> Result<Plan, Overflow> {
        Ok(self.capped(input))
    }
}

impl Messages {
    /// O(head + evicted); O(1) below the cap.
    pub(super) fn capped(&self, input: &PolicyInput<'_>) -> Plan {
        let MessagesConfig { max_messages, preserve_first_n, preserve_last_n, summarize_on_trim } = self.0;
        let log_len = input.log_len();
        if max_messages == 0 || log_len <= max_messages {
            return Plan::nothing();
        }
        let head_end = input.instructions_end().saturating_add(preserve_first_n);
        let is_overpinned = head_end.saturating_add(preserve_last_n) >= max_messages;
        let kept_at_end = if is_overpinned { preserve_last_n } else { max_messages - head_end };
        // Everything before this goes, the head apart; a unit across the line stays whole.
        let boundary = log_len.saturating_sub(kept_at_end);
        let units = input.units();
        let head_units = units.iter().take_while(|unit| unit.range.start < head_end).count();
        let evict: Vec<_> = units
            .range(head_units..)
            .take_while(|unit| unit.range.end <= boundary)
            .filter(|unit| unit.owner.is_none() && !input.is_held(unit))
            .map(|unit| unit.range.clone())
            .collect();
        let head_end = head_units.checked_sub(1).map_or(0, |last| units[last].range.end);
        let condense = (summarize_on_trim && !evict.is_empty()).then(|| evict.clone());
        let warnings = is_overpinned.then_some(Warning::Overpinned { preserve_first_n, preserve_last_n, max_messages });
        Plan {
            trigger: (!evict.is_empty()).then_some(Trigger::MessageCap),
            evict,
            head_end,
            condense,
            warnings: warnings.into_iter().collect(),
            ..Plan::nothing()
        }
    }
}
