//! The engine's condense jobs, run with a model: within bounds of time and cost, and never in a turn's way.

use crate::provider::{Provider, Request};
use crate::tools::ToolDefinition;
use crate::usage::Usage;
use louver::Summary;
use louver::catalog::{Catalog, Cost};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// How summaries are had.
#[derive(Clone, Debug)]
pub struct CondenseOptions {
    /// Another model or API than the conversation's.
    pub handler: Option<CondenseHandler>,
    /// A summary that takes longer has failed.
    pub time_limit: Duration,
    /// A summary that would cost more is not asked for; without known prices there is no bound.
    pub max_cost: Option<Cost>,
    /// Whether the run waits.
    pub timing: CondenseTiming,
}

/// Another model for summaries.
#[derive(Clone, Debug)]
pub struct CondenseHandler {
    /// The API.
    pub provider: Arc<dyn Provider>,
    /// The model's name.
    pub model: String,
}

/// When a run waits for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CondenseTiming {
    /// Before the next request, up to the time limit.
    Immediate,
    /// Not at all where the summary is about what has left: requests go out without it, the window goes on being cut, and
    /// it takes its place when it arrives. Only where it would make the room that the next request lacks, one turn waits
    /// for it; after that the window is cut as without it.
    Background {
        /// The longest that one turn waits.
        max_wait: Duration,
    },
}

impl Default for CondenseOptions {
    fn default() -> Self {
        Self {
            handler: None,
            time_limit: Duration::from_secs(60),
            max_cost: None,
            timing: CondenseTiming::Background { max_wait: Duration::from_secs(5) },
        }
    }
}

/// A summary on its way. Dropping it ends the call.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) job: u64,
    pub(crate) started: Instant,
    /// Whether a turn has waited for it already: one does, no more.
    pub(crate) was_waited_for: bool,
    pub(crate) model: String,
    /// What it takes at most.
    pub(crate) expected: Usage,
    /// What it costs if nothing of it is cached and all of it is used.
    pub(crate) most_cost: Cost,
    task: AbortOnDropHandle<Attempt>,
}

/// What a call for a summary brought, and what it took.
#[derive(Debug, Default)]
pub(crate) struct Attempt {
    pub(crate) answer: Option<Result<Summary, String>>,
    pub(crate) usage: Usage,
    pub(crate) cost: Cost,
}

impl Attempt {
    fn failed(reason: String) -> Self {
        Self { answer: Some(Err(reason)), ..Self::default() }
    }

    pub(crate) fn late(patience: Duration) -> Self {
        Self::failed(format!("no summary within {} ms", patience.as_millis()))
    }

    pub(crate) fn into_answer(self) -> Result<Summary, String> {
        self.answer.unwrap_or_else(|| Err("the call for a summary ended without an answer".to_owned()))
    }
}

impl Pending {
    pub(crate) fn start(job: u64, call: SummaryCall) -> Self {
        let (model, expected, most_cost) = (call.model.clone(), call.expected(), call.most_cost());
        let task = AbortOnDropHandle::new(tokio::spawn(call.run()));
        Self { job, started: Instant::now(), was_waited_for: false, model, expected, most_cost, task }
    }

    /// Waits so long at most; nothing if it is still on its way then.
    pub(crate) async fn within(&mut self, patience: Duration) -> Option<Attempt> {
        match tokio::time::timeout(patience, &mut self.task).await.ok()? {
            Ok(attempt) => Some(attempt),
            Err(error) => Some(Attempt::failed(format!("the call for a summary broke: {error}"))),
        }
    }
}

/// One call for a summary, ready to be made.
#[derive(Debug)]
pub(crate) struct SummaryCall {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) model: String,
    pub(crate) max_tokens: u64,
    pub(crate) system: Option<String>,
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) extra: Map<String, Value>,
    /// The history, with the instruction at its end.
    pub(crate) messages: Vec<String>,
    /// How many of the messages the provider has in its cache.
    pub(crate) stable_messages: usize,
    /// The prompt's tokens, roughly.
    pub(crate) prompt_tokens: u64,
    pub(crate) time_limit: Duration,
    pub(crate) max_cost: Option<Cost>,
    pub(crate) is_streamed: bool,
    pub(crate) cancel: CancellationToken,
}

impl SummaryCall {
    async fn run(self) -> Attempt {
        if let Some(reason) = self.too_dear() {
            return Attempt::failed(reason);
        }
        let request = Request {
            system: self.system.as_deref(),
            tools: &self.tools,
            stable_messages: self.stable_messages,
            is_streamed: self.is_streamed,
            extra: Some(&self.extra),
            ..Request::new(&self.model, self.max_tokens, self.messages.iter().map(String::as_str).collect())
        };
        match tokio::time::timeout(self.time_limit, self.provider.send(&request, &self.cancel)).await {
            Err(_) => Attempt::late(self.time_limit),
            Ok(Err(error)) => Attempt::failed(error.to_string()),
            Ok(Ok(answer)) => {
                let usage = answer.usage;
                let cost = cost(&self.model, usage);
                let summary = Summary::new(answer.text).with_usage(usage.prompt_tokens(), usage.output_tokens);
                let summary = summary.with_cost(cost.usd());
                Attempt { answer: Some(Ok(summary)), usage, cost }
            }
        }
    }

    fn most_cost(&self) -> Cost {
        let (input_tokens, output_tokens) = (self.prompt_tokens, self.max_tokens);
        cost(&self.model, Usage { input_tokens, output_tokens, ..Usage::default() })
    }

    /// What it takes, by an estimate from above.
    fn expected(&self) -> Usage {
        let is_cached = self.stable_messages > 0;
        Usage {
            input_tokens: if is_cached { 0 } else { self.prompt_tokens },
            cache_read_tokens: if is_cached { self.prompt_tokens } else { 0 },
            output_tokens: self.max_tokens,
            cache_write_tokens: 0,
        }
    }

    /// Why it is not worth its price, by an estimate from above.
    fn too_dear(&self) -> Option<String> {
        let allowed = self.max_cost?;
        let expected = cost(&self.model, self.expected());
        let reason = || format!("a summary would cost {:.4} USD, more than {:.4}", expected.usd(), allowed.usd());
        (expected > allowed).then(reason)
    }
}

/// What a call costs; nothing where the model is unknown.
pub(crate) fn cost(model: &str, usage: Usage) -> Cost {
    Catalog::builtin().find(model).map_or(Cost::ZERO, |found| usage.cost(&found.model))
}
