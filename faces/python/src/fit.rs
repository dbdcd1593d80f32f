//! What a fit did, as Python sees it.

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

impl From<louver_face::Job> for Job {
    fn from(job: louver_face::Job) -> Self {
        let louver_face::Job { id, prompt, max_tokens, covers } = job;
        Self { id, prompt, max_tokens, covers }
    }
}

impl From<louver_face::Fit> for Fit {
    fn from(fit: louver_face::Fit) -> Self {
        let louver_face::Fit { trigger, tokens_before, tokens_after, evicted, edited, is_cut, .. } = fit;
        let louver_face::Fit { job, rejected, warnings, error, .. } = fit;
        let job = job.map(Job::from);
        Self { trigger, tokens_before, tokens_after, evicted, edited, is_cut, job, rejected, warnings, error }
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
