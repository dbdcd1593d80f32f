//! What became of requests, in figures.

use super::by_upstream::{ByUpstream, Counted};
use super::ticket::{Open, Ticket};
use super::{Keeper, money};
use crate::archive::Archive;
use crate::ending::{AnswerUsage, Answered};
use crate::outcome::Outcome;
use louver_store::{NanoUsd, RequestEntry, Tokens};
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the start of the process.
#[derive(Debug, Default)]
pub(super) struct Meters {
    outcomes: [AtomicU64; Outcome::ALL.len()],
    prompt_tokens: AtomicU64,
    cached_tokens: AtomicU64,
    output_tokens: AtomicU64,
    cost: AtomicU64,
    baseline: AtomicU64,
    by_upstream: ByUpstream,
}

impl Meters {
    fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Ordering::Relaxed);
    }

    fn request(&self, outcome: Outcome, usage: Option<AnswerUsage>, cost: Option<NanoUsd>, baseline: Option<NanoUsd>) {
        let index = Outcome::ALL.iter().position(|known| *known == outcome).unwrap_or_default();
        Self::add(&self.outcomes[index], 1);
        if let Some(usage) = usage {
            Self::add(&self.prompt_tokens, usage.prompt_tokens());
            Self::add(&self.cached_tokens, usage.cache_read_tokens);
            Self::add(&self.output_tokens, usage.output_tokens);
        }
        let nano = |amount: Option<NanoUsd>| amount.map_or(0, |amount| u64::try_from(amount.0).unwrap_or(0));
        Self::add(&self.cost, nano(cost));
        Self::add(&self.baseline, nano(baseline));
    }
}

impl Keeper {
    pub(super) fn account_for(&self, ticket: Option<Ticket>, answered: &Answered) {
        let open = ticket.and_then(|ticket| ticket.0);
        let Some(open) = open.filter(|open| open.is_counted) else {
            self.meters.request(answered.outcome, answered.said.usage, None, None);
            return;
        };
        let usage = answered.said.usage;
        let model = open.figures.model.as_deref();
        let cost = model.zip(usage).map(|(model, usage)| money::cost(model, usage));
        let baseline = usage.and_then(|usage| baseline(&open, usage));
        self.meters.request(answered.outcome, usage, cost, baseline);
        let counted = Counted {
            tokens: tokens(&open, usage),
            is_cache_break: open.cache_break.is_some(),
            saved: cost.zip(baseline).map(|(cost, baseline)| NanoUsd(baseline.0.saturating_sub(cost.0))),
        };
        self.meters.by_upstream.note(answered, &counted);
        log(&open, cost, baseline);
        let mut entry =
            RequestEntry::new(open.at, &open.scope.served.upstream, &open.scope.served.model, answered.outcome);
        entry.is_repeat = open.is_repeat;
        entry.status = answered.status.map(|status| status.as_u16());
        entry.usage = usage.map(money::usage);
        (entry.cost, entry.baseline) = (cost, baseline);
        entry.tokens = counted.tokens;
        entry.observed = open.observed;
        entry.cut_reason.clone_from(&open.cut_reason);
        entry.cache_break.clone_from(&open.cache_break);
        entry.duration_ms = u64::try_from(answered.duration.as_millis()).unwrap_or(u64::MAX);
        self.pages.events.note(&open.conversation, &entry);
        if self.settings.archive != Archive::Off {
            // A full queue is counted by the store.
            let _ = self.store.record_request(&open.conversation, entry);
        }
        self.learn_from(&open, usage);
    }

    /// An accepted input raises a learned limit, a long answer the reserve.
    fn learn_from(&self, open: &Open, usage: Option<AnswerUsage>) {
        let Some(usage) = usage.filter(|usage| usage.prompt_tokens() > 0) else { return };
        let is_above = open.figures.limit.is_some_and(|limit| usage.prompt_tokens() > limit);
        let is_long = usage.output_tokens > open.figures.reserve;
        if !is_above && !is_long {
            return;
        }
        let (store, scope) = (std::sync::Arc::clone(&self.store), open.scope.clone());
        self.forget_facts(&scope);
        tokio::spawn(async move {
            let served = scope.served.clone();
            let learned = async {
                if is_above {
                    store.learn_accepted(scope, usage.prompt_tokens()).await?;
                }
                store.learn_answer(served, usage.output_tokens).await
            };
            if let Err(error) = learned.await {
                tracing::warn!(%error, "what an answer taught could not be kept");
            }
        });
    }

    /// Figures for Prometheus.
    pub(super) fn metrics(&self) -> String {
        let mut text = String::new();
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let _ = writeln!(
            text,
            "# HELP louver_requests_total Model requests by how they ended.\n# TYPE louver_requests_total counter"
        );
        for (outcome, counter) in Outcome::ALL.iter().zip(&self.meters.outcomes) {
            let _ = writeln!(text, "louver_requests_total{{outcome=\"{outcome}\"}} {}", load(counter));
        }
        let (conversations, bytes) = self.lives.size();
        let status = self.store.status();
        let rows = [
            (
                "louver_input_tokens_total",
                "Prompt tokens that providers counted.",
                load(&self.meters.prompt_tokens),
                "counter",
            ),
            (
                "louver_cache_read_tokens_total",
                "Prompt tokens that providers read from their caches.",
                load(&self.meters.cached_tokens),
                "counter",
            ),
            ("louver_output_tokens_total", "Tokens of answers.", load(&self.meters.output_tokens), "counter"),
            ("louver_live_conversations", "Conversations in memory.", conversations as u64, "gauge"),
            ("louver_live_bytes", "Bytes of conversations in memory.", bytes as u64, "gauge"),
            ("louver_store_waiting", "Entries that wait to be written.", status.waiting as u64, "gauge"),
            ("louver_store_lost_total", "Entries that could not be written.", status.lost, "counter"),
            (
                "louver_store_failing",
                "Whether the store could not be written when it was last tried.",
                u64::from(status.is_failing),
                "gauge",
            ),
            (
                "louver_store_waits",
                "Requests that wait for the store.",
                (self.settings.max_waiting.saturating_sub(self.waiting.available_permits())) as u64,
                "gauge",
            ),
        ];
        for (name, help, value, kind) in rows {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
        }
        let usd = |nano: u64| nano as f64 / 1e9;
        let money = [
            (
                "louver_cost_usd_total",
                "What the requests cost at the catalogue's prices.",
                usd(load(&self.meters.cost)),
            ),
            ("louver_baseline_usd_total", "What they would have cost uncut.", usd(load(&self.meters.baseline))),
        ];
        for (name, help, value) in money {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter\n{name} {value}");
        }
        self.meters.by_upstream.write(&mut text);
        text
    }
}

/// What was sent and what is held; where nothing was counted, all was sent, and the provider says how much that is.
fn tokens(open: &Open, usage: Option<AnswerUsage>) -> Option<Tokens> {
    let counted = Tokens { sent: open.tokens.sent, held: open.tokens.held };
    let told = usage.map(|usage| Tokens { sent: usage.prompt_tokens(), held: usage.prompt_tokens() });
    Some(counted).filter(|tokens| tokens.held > 0).or(told).filter(|tokens| tokens.held > 0)
}

/// What the practical baseline would have cost, by the provider's own count of what was sent.
fn baseline(open: &Open, usage: AnswerUsage) -> Option<NanoUsd> {
    let model = open.figures.model.as_deref()?;
    let (sent, held) = (open.tokens.sent, open.tokens.held);
    // Where nothing was counted, all was sent.
    let held = match sent {
        0 => usage.prompt_tokens(),
        _ => u64::try_from(u128::from(held) * u128::from(usage.prompt_tokens()) / u128::from(sent)).ok()?,
    };
    let limit = open.figures.limit.unwrap_or(model.context_window).saturating_sub(open.figures.reserve);
    let is_cold = open.cache_break.as_deref().is_some_and(|reason| !reason.contains("was cut"));
    let mut baseline = open.baseline.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Some(baseline.request(model, held, limit, is_cold, usage))
}

/// What the data path does not know of a request, where anything happened to it; money alone is in the account.
fn log(open: &Open, cost: Option<NanoUsd>, baseline: Option<NanoUsd>) {
    if open.cut_reason.is_none() && open.cache_break.is_none() {
        return;
    }
    tracing::info!(
        conversation = %open.conversation.id,
        cost_usd = cost.map(NanoUsd::usd),
        baseline_usd = baseline.map(NanoUsd::usd),
        cut = open.cut_reason,
        cache_break = open.cache_break,
        "account"
    );
}
