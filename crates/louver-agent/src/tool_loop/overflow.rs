//! When the provider counts more than we did.

use super::ToolLoop;
use crate::provider::ProviderError;

impl ToolLoop<'_> {
    /// Makes the window smaller by what the provider's error says; whether the view is smaller now.
    pub(super) fn tighten(&mut self, error: &ProviderError) -> bool {
        if !self.has_window() {
            return false;
        }
        let own = self.conversation.window().tokens();
        let context_window = smaller_window(own, error);
        let is_smaller = match self.conversation.tighten(context_window) {
            Ok(Ok(_)) => self.conversation.window().tokens() < own,
            Ok(Err(_)) | Err(_) => false,
        };
        self.warn(format!(
            "the provider refused {own} tokens as too many; the context window is taken to be {context_window} from here on"
        ));
        is_smaller
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
