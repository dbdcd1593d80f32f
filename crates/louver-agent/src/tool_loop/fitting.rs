//! Fitting the window before a request, and having summaries made.

use super::ToolLoop;
use crate::condensing::{Attempt, Pending, SummaryCall};
use crate::telemetry::{Decision, evicted_ids, milliseconds};
use crate::{CondenseTiming, ExecutionError, RunEvent};
use louver::catalog::Catalog;
use louver::condense::{CondenseJob, Outcome, SUMMARY_PROMPT};
use louver::plan::Warning;
use louver::{Fit, Role};
use serde_json::Map;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What the model is told when the history is the conversation itself.
const RIDING: &str = "The conversation history is everything above this message. Answer with the summary alone, in plain \
    text, and call no tool.";

/// Tokens that the instruction of a riding request has at most.
const INSTRUCTION_TOKENS: u64 = 512;

/// How long a cached prefix lives where the catalogue does not know the model.
const USUAL_CACHE_LIFETIME: Duration = Duration::from_secs(300);

fn cache_lifetime(model: &str) -> Duration {
    let found = Catalog::builtin().find(model);
    found.map_or(USUAL_CACHE_LIFETIME, |found| Duration::from_secs(found.model.traits.cache_ttl_seconds))
}

impl ToolLoop<'_> {
    /// Makes the view keep its bound.
    pub(super) async fn fit(&mut self) -> Result<(), ExecutionError> {
        self.settle().await?;
        let started = Instant::now();
        let messages_before = self.conversation.window().metrics().preserved_messages;
        self.conversation.note_time(cache_lifetime(&self.options.model));
        let fit = self.conversation.fit()?;
        self.check_file()?;
        self.report(&fit, messages_before, started.elapsed());
        // Asked for by this fit, or by one before that the run was stopped behind.
        if self.conversation.pending.is_none()
            && let Some(job) = self.conversation.window().open_job().cloned()
        {
            self.condense(&job).await?;
        }
        Ok(())
    }

    /// Takes the summary that is on its way, if it has arrived or makes room that this turn lacks and comes in time.
    async fn settle(&mut self) -> Result<(), ExecutionError> {
        let Some(mut pending) = self.conversation.pending.take() else {
            return Ok(());
        };
        let patience = self.patience(&pending);
        pending.was_waited_for |= !patience.is_zero();
        self.wait_for_summary(pending, patience).await
    }

    /// How long this turn waits for a summary.
    fn patience(&self, pending: &Pending) -> Duration {
        let is_worth_waiting = self.conversation.window().is_over() && self.conversation.window().awaits_room();
        match self.options.condense.timing {
            // The call has the time limit itself; this one is for a call that does not keep it.
            CondenseTiming::Immediate => self.options.condense.time_limit + Duration::from_secs(1),
            CondenseTiming::Background { max_wait } if is_worth_waiting && !pending.was_waited_for => max_wait,
            CondenseTiming::Background { .. } => Duration::ZERO,
        }
    }

    async fn wait_for_summary(&mut self, mut pending: Pending, patience: Duration) -> Result<(), ExecutionError> {
        let attempt = self.options.cancel.run_until_cancelled(pending.within(patience)).await;
        match attempt.unwrap_or_else(|| Some(Attempt::default())) {
            Some(attempt) => self.take_summary(&pending, attempt),
            None if self.options.condense.timing == CondenseTiming::Immediate => {
                self.take_summary(&pending, Attempt::late(patience))
            }
            None => {
                self.conversation.pending = Some(pending);
                Ok(())
            }
        }
    }

    fn take_summary(&mut self, pending: &Pending, attempt: Attempt) -> Result<(), ExecutionError> {
        let cost = attempt.cost;
        self.conversation.bill_summary(&pending.model, attempt.usage, cost);
        self.emit(&RunEvent::Billed { cost });
        let answer = attempt.into_answer();
        let text = answer.as_ref().map(|summary| summary.text.clone()).unwrap_or_default();
        let before = self.conversation.window().metrics().preserved_messages;
        let tokens_before = self.conversation.window().tokens();
        let fit = self.conversation.answer(pending.job, answer);
        self.check_file()?;
        let rejection = match fit.outcome {
            Some(Outcome::Rejected(reason)) => Some(reason),
            _ => None,
        };
        let error = rejection.as_ref().map(ToString::to_string);
        let decision = self.decision("SummaryArrived", before, tokens_before, pending.started.elapsed());
        let summary = error.is_none().then(|| text.clone());
        self.tell(Decision { summary, cost_usd: cost.usd(), error, ..decision });
        match rejection {
            None => {
                self.conversation.condensing.accepted += 1;
                self.emit(&RunEvent::Condensed { summary: text });
            }
            Some(reason) => {
                self.conversation.condensing.failed += 1;
                self.warn(Warning::NotCondensed(reason).to_string());
            }
        }
        Ok(())
    }

    async fn condense(&mut self, job: &CondenseJob) -> Result<(), ExecutionError> {
        self.conversation.condensing.asked += 1;
        let pending = Pending::start(job.id, self.summary_call(job));
        if self.options.condense.timing == CondenseTiming::Immediate {
            let patience = self.patience(&pending);
            return self.wait_for_summary(pending, patience).await;
        }
        self.conversation.pending = Some(pending);
        Ok(())
    }

    /// The request for a summary: the last request and one instruction, which the provider has cached but for the
    /// instruction, or else the job's own prompt.
    fn summary_call(&mut self, job: &CondenseJob) -> SummaryCall {
        let options = self.options;
        let handler = options.condense.handler.as_ref();
        let provider = handler.map_or(&self.provider, |handler| &handler.provider);
        let rides = handler.is_none() && self.can_ride(&job.covers);
        let wire = provider.format().wire();
        let (messages, prompt_tokens) = if rides {
            let mut messages = std::mem::take(&mut self.conversation.last_sent.messages);
            messages.push(wire.write(Role::User, &self.riding_instruction()));
            (messages, self.conversation.last_sent.prompt_tokens + INSTRUCTION_TOKENS)
        } else {
            let tokens = self.conversation.window().config().counter.text(&job.prompt).ceil_tokens();
            (vec![wire.write(Role::User, &job.prompt)], tokens)
        };
        SummaryCall {
            provider: std::sync::Arc::clone(provider),
            model: handler.map_or(&options.model, |handler| &handler.model).clone(),
            max_tokens: job.max_tokens,
            system: options.system_prompt.clone().filter(|_| rides),
            tools: if rides { self.definitions.clone() } else { Vec::new() },
            extra: if rides { options.extra.clone() } else { Map::new() },
            stable_messages: if rides { messages.len() - 1 } else { 0 },
            messages,
            prompt_tokens,
            time_limit: options.condense.time_limit,
            max_cost: options.condense.max_cost.into_iter().chain(self.money_left()).min(),
            is_streamed: options.is_streamed,
            cancel: options.cancel.child_token(),
        }
    }

    fn riding_instruction(&self) -> String {
        let custom = self.conversation.window().config().custom_condensing_prompt.as_deref();
        format!("{}\n\n{RIDING}", custom.unwrap_or(SUMMARY_PROMPT))
    }

    /// Whether everything to be covered was in the last request, and one instruction and the summary still fit behind it.
    fn can_ride(&self, covers: &[Range<usize>]) -> bool {
        let last = &self.conversation.last_sent;
        let was_sent = |index: usize| last.indices.binary_search(&index).is_ok();
        let window = Catalog::builtin().find(&self.options.model).map(|found| found.model.context_window);
        let window = self.conversation.window().budget().map(|budget| budget.context_window()).or(window);
        let room = last.prompt_tokens + INSTRUCTION_TOKENS + louver::condense::SUMMARY_MAX_TOKENS;
        !last.messages.is_empty()
            && window.is_some_and(|window| room <= window)
            && covers.iter().cloned().flatten().all(was_sent)
    }

    /// Says what a fit did, if it did anything.
    fn report(&mut self, fit: &Fit, messages_before: usize, duration: Duration) {
        let told = fit.warnings.iter().map(ToString::to_string).chain(fit.error.iter().map(ToString::to_string));
        for warning in told.collect::<Vec<_>>() {
            self.warn(warning);
        }
        if !fit.is_cut() && fit.job.is_none() && fit.error.is_none() {
            return;
        }
        let metrics = self.conversation.window().metrics();
        let error = fit.error.as_ref().map(ToString::to_string);
        let trigger = fit.trigger.map(|trigger| format!("{trigger:?}")).unwrap_or_default();
        let decision = self.decision(&trigger, messages_before, fit.tokens_before, duration);
        self.tell(Decision { evicted: evicted_ids(fit), error, ..decision });
        let evicted: usize = fit.evicted.iter().map(Range::len).sum();
        if evicted > 0 {
            tracing::debug!(
                "Trimmed conversation: {evicted} messages removed, {} kept (~{} tokens)",
                metrics.preserved_messages,
                metrics.estimated_tokens
            );
            self.emit(&RunEvent::Truncated { messages: evicted });
        }
    }

    /// Tells a decision to the log and to whoever watches.
    pub(super) fn tell(&self, decision: Decision) {
        decision.log();
        self.emit(&RunEvent::Decided(Box::new(decision)));
    }

    /// What is told of any decision: what stood before it, and what stands now.
    pub(super) fn decision(
        &self,
        trigger: &str,
        messages_before: usize,
        tokens_before: u64,
        duration: Duration,
    ) -> Decision {
        let window = self.conversation.window();
        Decision {
            trigger: trigger.to_owned(),
            policy: window.policy_name().to_owned(),
            task_id: self.options.task_id.clone(),
            messages_before,
            messages_after: window.metrics().preserved_messages,
            tokens_before,
            tokens_after: window.tokens(),
            duration_ms: milliseconds(duration),
            ..Decision::default()
        }
    }
}
