//! What a fit did, as Python sees it.

use louver::condense::{CondenseJob, Outcome};
use pyo3::prelude::*;

/// What a fit, or the arrival of a summary, did.
#[pyclass(frozen, get_all, module = "louver")]
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// Why, if anything was done or asked for.
    trigger: Option<String>,
    tokens_before: u64,
    tokens_after: u64,
    /// Messages that left now, as indices of the log.
    evicted: Vec<usize>,
    /// Messages that were changed now.
    edited: Vec<usize>,
    /// Whether the view changed.
    is_cut: bool,
    /// A summary to be had, if one is wanted.
    job: Option<Job>,
    /// Why a summary was not taken; nothing where it was, or where none arrived.
    rejected: Option<String>,
    warnings: Vec<String>,
    /// What went wrong with condensing.
    error: Option<String>,
}

/// A summary to be had: nothing has been called yet.
#[pyclass(frozen, get_all, module = "louver")]
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) id: u64,
    /// The whole prompt.
    prompt: String,
    /// The reply length to ask for.
    max_tokens: u64,
    /// The messages that it covers, as indices of the log.
    covers: Vec<usize>,
}

impl From<CondenseJob> for Job {
    fn from(job: CondenseJob) -> Self {
        let covers = job.covers.into_iter().flatten().collect();
        Self { id: job.id, prompt: job.prompt, max_tokens: job.max_tokens, covers }
    }
}

impl From<louver::Fit> for Fit {
    fn from(fit: louver::Fit) -> Self {
        let trigger = fit.trigger.and_then(|trigger| serde_json::to_value(trigger).ok());
        let rejected = fit.outcome.as_ref().and_then(|outcome| match outcome {
            Outcome::Rejected(reason) => Some(reason.to_string()),
            _ => None,
        });
        Self {
            trigger: trigger.and_then(|trigger| trigger.as_str().map(str::to_owned)),
            tokens_before: fit.tokens_before,
            tokens_after: fit.tokens_after,
            is_cut: fit.is_cut(),
            evicted: fit.evicted.into_iter().flatten().collect(),
            edited: fit.edited,
            job: fit.job.map(Job::from),
            rejected,
            warnings: fit.warnings.iter().map(ToString::to_string).collect(),
            error: fit.error.map(|error| error.to_string()),
        }
    }
}

#[pymethods]
impl Fit {
    fn __repr__(&self) -> String {
        let Self { tokens_before, tokens_after, evicted, edited, .. } = self;
        let (evicted, edited) = (evicted.len(), edited.len());
        format!("<louver.Fit: {tokens_before} -> {tokens_after} tokens, {evicted} left, {edited} changed>")
    }
}

#[pymethods]
impl Job {
    fn __repr__(&self) -> String {
        format!("<louver.Job {}: {} messages>", self.id, self.covers.len())
    }
}
