//! Sees to it that every model request ends, once, however it ends.

use crate::brain::{Brain, Conversation, Decided, Tokens};
use crate::ending::{Answered, End, Said};
use crate::model_request::{Purpose, UpstreamName};
use crate::outcome::Outcome;
use http::StatusCode;
use louver::Format;
use std::sync::Arc;
use std::time::Instant;

/// A model request that has not ended yet. Dropping it ends it: the brain is told and a line is logged. A future that is
/// dropped in the middle, because its client went, is an end like any other.
#[derive(Debug)]
pub(crate) struct Closing<B: Brain> {
    brain: Arc<B>,
    ticket: Option<B::Ticket>,
    started: Instant,
    conversation: Option<Conversation>,
    tokens: Option<Tokens>,
    answered: Answered,
}

impl<B: Brain> Closing<B> {
    pub(crate) fn new(brain: Arc<B>, upstream: UpstreamName, format: Format, purpose: Purpose) -> Self {
        let started = Instant::now();
        let answered = Answered {
            upstream,
            format,
            purpose,
            outcome: Outcome::None,
            status: None,
            end: End::ClientGone,
            said: Said::default(),
            rescues: 0,
            first_byte: None,
            duration: started.elapsed(),
        };
        Self { brain, ticket: None, started, conversation: None, tokens: None, answered }
    }

    /// An attempt is about to be sent. What the brain wants sent is returned, what it wants to remember is kept.
    pub(crate) fn attempt(&mut self, decided: Decided<B::Ticket>) -> Attempt {
        let Decided { body, outcome, conversation, tokens, holds_leading_events, ticket } = decided;
        self.ticket = Some(ticket);
        self.conversation = conversation;
        self.tokens = tokens;
        Attempt { body, outcome, holds_leading_events }
    }

    pub(crate) fn brain(&self) -> &Arc<B> {
        &self.brain
    }

    pub(crate) fn ticket(&mut self) -> &mut Option<B::Ticket> {
        &mut self.ticket
    }

    pub(crate) fn note_rescue(&mut self) {
        self.answered.rescues += 1;
    }

    pub(crate) fn rescues(&self) -> u8 {
        self.answered.rescues
    }

    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        self.answered.outcome = outcome;
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.answered.outcome
    }

    pub(crate) fn conversation(&self) -> Option<&Conversation> {
        self.conversation.as_ref()
    }

    pub(crate) fn tokens(&self) -> Option<Tokens> {
        self.tokens
    }

    /// The answer begins with this status.
    pub(crate) fn note_first_byte(&mut self, status: StatusCode) {
        self.answered.status = Some(status);
        self.answered.first_byte = Some(self.started.elapsed());
    }

    /// The request ends with an answer of our own.
    pub(crate) fn end_with(mut self, status: StatusCode, outcome: Outcome, end: End) {
        self.note_first_byte(status);
        self.answered.outcome = outcome;
        self.answered.end = end;
    }

    /// The answer has ended.
    pub(crate) fn end(mut self, end: End, said: Said) {
        self.answered.end = end;
        self.answered.said = said;
    }

    fn log(&self) {
        let Answered { upstream, format, purpose, outcome, status, end, said, rescues, first_byte, duration } =
            &self.answered;
        let usage = said.usage;
        tracing::info!(
            target: "louver::request",
            %upstream,
            %format,
            purpose = ?purpose,
            %outcome,
            status = status.map(|status| status.as_u16()),
            end = ?end,
            conversation = self.conversation.as_ref().map(|conversation| &*conversation.id),
            tokens_sent = self.tokens.map(|tokens| tokens.sent),
            tokens_held = self.tokens.map(|tokens| tokens.held),
            rescues,
            first_byte_ms = first_byte.map(|first_byte| first_byte.as_secs_f64() * 1000.0),
            duration_ms = duration.as_secs_f64() * 1000.0,
            model = said.model,
            stop_reason = said.stop_reason,
            request_id = said.request_id,
            error = said.error.as_ref().map(|error| &*error.code),
            input_tokens = usage.map(|usage| usage.input_tokens),
            cache_read_tokens = usage.map(|usage| usage.cache_read_tokens),
            cache_write_tokens = usage.map(|usage| usage.cache_write_tokens),
            cache_write_long_tokens = usage.map(|usage| usage.cache_write_long_tokens),
            output_tokens = usage.map(|usage| usage.output_tokens),
            is_doubtful = said.is_doubtful,
            "model request"
        );
    }
}

/// What of a decision the data path carries out.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) body: Option<bytes::Bytes>,
    pub(crate) outcome: Outcome,
    pub(crate) holds_leading_events: bool,
}

impl<B: Brain> Drop for Closing<B> {
    fn drop(&mut self) {
        self.answered.duration = self.started.elapsed();
        self.log();
        let answered = self.answered.clone();
        let (brain, ticket) = (&self.brain, self.ticket.take());
        // A panic within a drop that a panic caused would end the process.
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| brain.answered(ticket, answered)));
        if told.is_err() {
            tracing::error!("the account of a request panicked");
        }
    }
}
