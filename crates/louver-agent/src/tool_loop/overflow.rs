//! When the provider counts more than we did.

use super::ToolLoop;
use crate::observer::RunEvent;
use crate::provider::ProviderError;
use crate::telemetry::{Decision, evicted_ids};
use louver::policy::PolicyKind;
use louver::window::Fit;
use std::time::{Duration, Instant};

impl ToolLoop<'_> {
    /// Makes the window smaller by what the provider's error says; whether the view is smaller now.
    pub(super) fn tighten(&mut self, error: &ProviderError) -> bool {
        if !self.has_window() {
            return false;
        }
        let started = Instant::now();
        let before = self.conversation.window().metrics();
        let own = self.conversation.window().tokens();
        let context_window = smaller_window(own, error);
        let fit = self.conversation.tighten(context_window);
        let is_smaller = self.conversation.window().tokens() < own;
        self.warn(format!(
            "the provider refused {own} tokens as too many; the context window is taken to be {context_window} from here on"
        ));
        let fit = fit.unwrap_or_default();
        self.report_overflow(error, &fit, before.preserved_messages, started.elapsed());
        let messages: usize = fit.evicted.iter().map(ExactSizeIterator::len).sum();
        if messages > 0 {
            self.emit(&RunEvent::Truncated { messages });
        }
        is_smaller
    }

    fn report_overflow(&self, error: &ProviderError, fit: &Fit, messages_before: usize, duration: Duration) {
        let decision = Decision {
            trigger: "ProviderOverflow".to_owned(),
            policy: self.conversation.window().policy_name(),
            task_id: &self.options.task_id,
            messages_before,
            messages_after: self.conversation.window().metrics().preserved_messages,
            tokens_before: fit.tokens_before,
            tokens_after: self.conversation.window().tokens(),
            evicted: evicted_ids(fit),
            summary: None,
            cost_usd: 0.0,
            duration,
            error: Some(&error.to_string()),
        };
        decision.emit();
    }

    /// Whether anything bounds the view. Nothing happens where it is switched off.
    fn has_window(&self) -> bool {
        let policy = &self.conversation.config().policy;
        let is_switched_off = policy.messages().is_some_and(|config| config.max_messages == 0);
        !matches!(policy, PolicyKind::Everything) && !is_switched_off
    }
}

/// The provider's limit in our own tokens, less the room for a reply where the error counts it; a fifth less than was sent
/// where the error names no figures.
fn smaller_window(own: u64, error: &ProviderError) -> u64 {
    let figures = error.overflow_figures();
    let scaled = match (figures.input_tokens, figures.limit_tokens) {
        (Some(input), Some(limit)) if input > 0 => own.saturating_mul(limit.min(input)) / input,
        _ => own,
    };
    scaled.min(own.saturating_mul(4) / 5).max(16)
}
