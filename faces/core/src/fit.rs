//! What a fit did, in plain values.

use louver::condense::{CondenseJob, Outcome};
use serde::Serialize;

/// What a fit, or the arrival of a summary, did.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fit {
    /// Why, if anything was done or asked for.
    pub trigger: Option<String>,
    /// What would have been sent, in tokens.
    pub tokens_before: u64,
    /// What is sent, in tokens.
    pub tokens_after: u64,
    /// Messages that left now, as indices of the log.
    pub evicted: Vec<usize>,
    /// Messages that were changed now.
    pub edited: Vec<usize>,
    /// Whether the view changed.
    pub is_cut: bool,
    /// A summary to be had, if one is wanted.
    pub job: Option<Job>,
    /// Why a summary was not taken; nothing where it was, or where none arrived.
    pub rejected: Option<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
    /// What went wrong with condensing.
    pub error: Option<String>,
}

/// A summary to be had: nothing has been called yet.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// By which the answer is told apart.
    pub id: u64,
    /// The whole prompt.
    pub prompt: String,
    /// The reply length to ask for.
    pub max_tokens: u64,
    /// The messages that it covers, as indices of the log.
    pub covers: Vec<usize>,
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
