//! When the provider counts more than we did.

use super::ToolLoop;
use crate::observer::RunEvent;
use crate::provider::ProviderError;
use crate::telemetry::{Decision, evicted_ids};
use std::time::Instant;

impl ToolLoop<'_> {
    /// Makes the window smaller by what the provider's error says; whether the view is smaller now.
    pub(super) fn tighten(&mut self, error: &ProviderError) -> bool {
        // Nothing happens where it is switched off.
        if self.conversation.window().is_off() {
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
        let said = error.to_string();
        let decision =
            self.decision("ProviderOverflow", before.preserved_messages, fit.tokens_before, started.elapsed());
        self.tell(Decision { evicted: evicted_ids(&fit), error: Some(said), ..decision });
        let messages: usize = fit.evicted.iter().map(ExactSizeIterator::len).sum();
        if messages > 0 {
            self.emit(&RunEvent::Truncated { messages });
        }
        is_smaller
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
