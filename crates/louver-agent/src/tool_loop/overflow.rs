//! When the provider counts more than we did.

use super::ToolLoop;
use crate::observer::RunEvent;
use crate::provider::{Answer, OverflowFigures, ProviderError, StopReason};
use crate::telemetry::{Decision, evicted_ids};
use std::time::Instant;

/// How often one request is made smaller.
const MAX_STEPS: u32 = 4;

/// What is said where an answer broke off because the window was full.
const BROKE_OFF: &str = "the answer broke off because the context window was full";

impl ToolLoop<'_> {
    /// Sends the view. If it is too long after all, the window is tightened, and the view is sent again, a few times at
    /// most. Nothing is answered where the money does not suffice for it.
    pub(super) async fn ask(&mut self) -> Result<Option<Answer>, ProviderError> {
        for step in 0.. {
            let Some(reply) = self.affordable_reply() else {
                return Ok(None);
            };
            let sent = self.send(reply).await;
            let refused = match &sent {
                Err(error) if error.is_context_overflow() => Some((error.overflow_figures(), error.to_string())),
                Ok(answer) if answer.stop == StopReason::WindowFull => {
                    Some((OverflowFigures::default(), BROKE_OFF.to_owned()))
                }
                _ => None,
            };
            match refused {
                Some((figures, said)) if step < MAX_STEPS && self.ease(figures, &said, reply, step) => {}
                _ => return sent.map(Some),
            }
        }
        Ok(None)
    }

    /// Asks for a shorter reply where that is what did not fit, else for less of the history; whether there is a reason to
    /// try again.
    fn ease(&mut self, figures: OverflowFigures, said: &str, reply: u64, step: u32) -> bool {
        // Nothing happens where it is switched off.
        if self.conversation.window().is_off() {
            return false;
        }
        let own = self.conversation.window().tokens();
        let figures = apart(figures, own, reply);
        if let (Some(input), Some(limit), Some(_)) = (figures.input_tokens, figures.limit_tokens, figures.reply_tokens)
        {
            let room = limit.saturating_sub(input);
            let shorter = room.max(limit / 4).min(reply);
            self.conversation.reply_limit = Some(shorter);
            if room >= limit / 4 && shorter < reply {
                self.warn(format!(
                    "the provider has no room for replies of {reply} tokens; they get {shorter} from here on"
                ));
                return true;
            }
        }
        self.tighten(smaller_window(own, figures, step), said)
    }

    /// Makes the window smaller; whether the view is smaller now.
    fn tighten(&mut self, context_window: u64, said: &str) -> bool {
        let started = Instant::now();
        let before = self.conversation.window().metrics();
        let own = self.conversation.window().tokens();
        let fit = self.conversation.tighten(context_window);
        let is_smaller = self.conversation.window().tokens() < own;
        self.warn(format!(
            "the provider refused {own} tokens as too many; the context window is taken to be {context_window} from here on"
        ));
        let fit = fit.unwrap_or_default();
        let decision =
            self.decision("ProviderOverflow", before.preserved_messages, fit.tokens_before, started.elapsed());
        self.tell(Decision { evicted: evicted_ids(&fit), error: Some(said.to_owned()), ..decision });
        let messages: usize = fit.evicted.iter().map(ExactSizeIterator::len).sum();
        if messages > 0 {
            self.emit(&RunEvent::Truncated { messages });
        }
        is_smaller
    }
}

/// The figures with the reply apart from the input. Some providers count the reply that was asked for with the input and do
/// not say so: what is nearer to our own count is the input.
fn apart(figures: OverflowFigures, own: u64, reply: u64) -> OverflowFigures {
    match (figures.input_tokens, figures.reply_tokens) {
        (Some(both), None) if both > reply && (both - reply).abs_diff(own) < both.abs_diff(own) => {
            OverflowFigures { input_tokens: Some(both - reply), reply_tokens: Some(reply), ..figures }
        }
        _ => figures,
    }
}

/// The provider's limit in our own tokens, less the room for a reply where the error counts it. Where the error names no
/// figures, a fifth less than was sent, then half of it each time.
fn smaller_window(own: u64, figures: OverflowFigures, step: u32) -> u64 {
    let for_input =
        figures.limit_tokens.map(|limit| limit.saturating_sub(limit / 4 * u64::from(figures.reply_tokens.is_some())));
    let (scaled, share) = match (figures.input_tokens, for_input) {
        (Some(input), Some(limit)) if input > 0 => (own.saturating_mul(limit.min(input)) / input, (4, 5)),
        _ if step == 0 => (own, (4, 5)),
        _ => (own, (1, 2)),
    };
    scaled.min(own.saturating_mul(share.0) / share.1).max(16)
}
