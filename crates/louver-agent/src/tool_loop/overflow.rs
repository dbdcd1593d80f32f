//! When the provider counts more than we did.

use super::ToolLoop;
use crate::observer::RunEvent;
use crate::provider::ProviderError;
use crate::telemetry::Decision;
use louver::window::Metrics;
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
        let is_smaller = match self.conversation.tighten(context_window) {
            Ok(Ok(_)) => self.conversation.window().tokens() < own,
            Ok(Err(_)) | Err(_) => false,
        };
        self.warn(format!(
            "the provider refused {own} tokens as too many; the context window is taken to be {context_window} from here on"
        ));
        let after = self.conversation.window().metrics();
        self.report_overflow(error, (before, own), started.elapsed());
        if after.evicted_messages > before.evicted_messages {
            let messages = after.evicted_messages - before.evicted_messages;
            self.emit(&RunEvent::Truncated { messages });
        }
        is_smaller
    }

    fn report_overflow(&self, error: &ProviderError, before: (Metrics, u64), duration: Duration) {
        let (metrics, tokens_before) = before;
        let evicted = |metrics: Metrics| metrics.evicted_messages;
        let now = self.conversation.window().metrics();
        let decision = Decision {
            trigger: "ProviderOverflow".to_owned(),
            policy: &self.conversation.config().policy,
            task_id: &self.options.task_id,
            messages_before: metrics.preserved_messages,
            messages_after: now.preserved_messages,
            tokens_before,
            tokens_after: self.conversation.window().tokens(),
            // The log was lived through again, so what left is all that is not in the view now.
            evicted: format!("{} more", evicted(now).saturating_sub(evicted(metrics))),
            summary: None,
            cost_usd: 0.0,
            duration,
            error: Some(&error.to_string()),
        };
        decision.emit();
    }

    /// Whether anything bounds the view. Nothing happens where it is switched off.
    fn has_window(&self) -> bool {
        let config = self.conversation.config();
        match config.policy.as_str() {
            "everything" => false,
            "messages" => config.settings.messages.max_messages > 0,
            _ => true,
        }
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
