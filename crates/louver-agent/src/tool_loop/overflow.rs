//! When the provider counts more than we did.

use super::ToolLoop;
use crate::observer::RunEvent;
use crate::provider::{Answer, OverflowFigures, ProviderError, StopReason};
use crate::telemetry::{Decision, evicted_ids};
use std::time::Instant;

/// How often one request is made smaller.
const MAX_STEPS: u32 = 4;

/// What is said where an answer broke off because the window was full.
const BROKE_OFF: &str = "the context window was full before the answer was whole";

/// A view that left too little room, by the provider's word.
struct TooLong {
    figures: OverflowFigures,
    /// The provider's words, or ours for an answer that broke off.
    said: String,
    /// What an answer that broke off had said by then; nothing where the view was refused.
    broken_off: Option<String>,
}

impl TooLong {
    fn of(sent: &Result<Answer, ProviderError>) -> Option<Self> {
        match sent {
            Err(error) if error.is_context_overflow() => {
                Some(Self { figures: error.overflow_figures(), said: error.to_string(), broken_off: None })
            }
            Ok(answer) if answer.stop == StopReason::WindowFull => Some(Self {
                figures: OverflowFigures::default(),
                said: BROKE_OFF.to_owned(),
                broken_off: Some(answer.text.clone()),
            }),
            _ => None,
        }
    }
}

impl ToolLoop<'_> {
    /// Sends the view. If it is too long after all, the window is tightened, and the view is sent again, a few times at
    /// most. Nothing is answered where the money does not suffice for it.
    pub(super) async fn ask(&mut self) -> Result<Option<Answer>, ProviderError> {
        for step in 0.. {
            let Some(reply) = self.affordable_reply() else {
                return Ok(None);
            };
            let sent = self.send(reply).await;
            match TooLong::of(&sent) {
                Some(too_long) if step < MAX_STEPS && self.ease(&too_long, reply, step) => {
                    if let Some(text) = too_long.broken_off {
                        self.emit(&RunEvent::Discarded { text, reason: too_long.said });
                    }
                }
                _ => {
                    sent.iter().for_each(|answer| self.tell_answer(answer));
                    return sent.map(Some);
                }
            }
        }
        Ok(None)
    }

    fn tell_answer(&self, answer: &Answer) {
        let sent = self.conversation.metrics();
        self.emit(&RunEvent::Answered {
            text: answer.text.clone(),
            calls: answer.calls.len(),
            message_count: sent.message_count,
            evicted_messages: sent.evicted_messages,
            prompt_tokens: answer.usage.prompt_tokens(),
        });
    }

    /// Asks for a shorter reply where that is what did not fit, else for less of the history; whether there is a reason to
    /// try again.
    fn ease(&mut self, too_long: &TooLong, reply: u64, step: u32) -> bool {
        // Nothing happens where it is switched off.
        if self.conversation.window().is_off() {
            return false;
        }
        let own = self.conversation.window().tokens();
        let figures = apart(too_long.figures, own, reply);
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
        self.tighten(smaller_window(own, figures, step), too_long)
    }

    /// Makes the window smaller; whether the view is smaller now.
    fn tighten(&mut self, context_window: u64, too_long: &TooLong) -> bool {
        let started = Instant::now();
        let before = self.conversation.window().metrics();
        let own = self.conversation.window().tokens();
        let fit = self.conversation.tighten(context_window);
        let is_smaller = self.conversation.window().tokens() < own;
        let why = match too_long.broken_off {
            Some(_) => format!("{BROKE_OFF}, with {own} tokens sent"),
            None => format!("the provider refused {own} tokens as too many"),
        };
        self.warn(format!("{why}; the context window is taken to be {context_window} from here on"));
        let fit = fit.unwrap_or_default();
        let decision =
            self.decision("ProviderOverflow", before.preserved_messages, fit.tokens_before, started.elapsed());
        self.tell(Decision { evicted: evicted_ids(&fit), error: Some(too_long.said.clone()), ..decision });
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
