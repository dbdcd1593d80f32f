//! One JSON object per decision.

use crate::budget::Budget;
use crate::plan::{Bound, CondenseError, Trigger, Warning};
use crate::window::{Fit, Metrics, Origin, Window};
use crate::wire::Format;

/// What a window did, for people and for other tools.
///
/// ```
/// use louver::report::{Action, Report};
/// use louver::{Format, Window};
///
/// let mut window = Window::for_model(Format::OpenAiChat, "gpt-5").build()?;
/// window.push_raw(r#"{"role":"user","content":"Hello"}"#)?;
/// let fit = window.fit()?;
/// let report = Report::new(&window, &fit);
/// assert_eq!((report.action, report.kept), (Action::None, vec![0]));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The policy's name.
    pub policy: String,
    /// The wire format.
    pub format: Format,
    /// What was done.
    pub action: Action,
    /// Why.
    pub trigger: Option<Trigger>,
    /// The seeds' four figures.
    pub metrics: Metrics,
    /// Tokens by the chosen counter, system and tools included.
    pub tokens: TokenReport,
    /// Messages in the view, as indices into the input.
    pub kept: Vec<usize>,
    /// Messages that were left out.
    pub evicted: Vec<usize>,
    /// Messages that were changed inside; they are part of `kept`.
    pub edited: Vec<usize>,
    /// Tokens before the decision.
    pub prev_context_tokens: u64,
    /// Tokens after it.
    pub new_context_tokens: u64,
    /// The summary in the view.
    pub summary: Option<String>,
    /// What the summary cost, in USD, as far as the caller has said.
    pub cost: Option<f64>,
    /// What went wrong with condensing.
    pub error: Option<CondenseError>,
    /// What one should know; in JSON each is its sentence.
    pub warnings: Vec<Warning>,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Action {
    /// Nothing.
    None,
    /// Messages were left out or clipped.
    Truncate,
    /// A summary took the place of messages.
    Condense,
}

/// Tokens before and after, and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct TokenReport {
    /// Everything as it came.
    pub before: u64,
    /// What is sent.
    pub after: u64,
    /// The limit; null for policies without one.
    pub allowed: Option<u64>,
}

impl Report {
    /// Describes a window after a fit.
    pub fn new(window: &Window, fit: &Fit) -> Self {
        let origins: Vec<Origin> = window.view().iter().map(|sent| sent.origin).collect();
        let is_edited = |origin: &Origin| matches!(origin, Origin::Edited(_));
        let has_summary = origins.iter().any(|origin| origin.is_summary());
        // A policy that folds may have cut at an earlier request than the last.
        let is_changed = window.metrics().evicted_messages > 0 || origins.iter().any(is_edited);
        let action = match is_changed {
            _ if has_summary => Action::Condense,
            true => Action::Truncate,
            false => Action::None,
        };
        Self {
            policy: window.policy_name().to_owned(),
            format: window.format(),
            action,
            trigger: fit.trigger.filter(|_| action != Action::None),
            metrics: window.metrics(),
            tokens: TokenReport {
                before: fit.tokens_before,
                after: fit.tokens_after,
                allowed: window.budget().filter(|_| window.bound() == Bound::Tokens).map(Budget::allowed_tokens),
            },
            kept: origins.iter().filter_map(|origin| origin.index()).collect(),
            evicted: window.evicted().map(|(index, _)| index).collect(),
            edited: origins.iter().filter(|origin| is_edited(origin)).filter_map(|origin| origin.index()).collect(),
            prev_context_tokens: fit.tokens_before,
            new_context_tokens: fit.tokens_after,
            summary: window.summary().map(str::to_owned),
            cost: window.summary_in_view().and_then(|summary| summary.cost),
            error: fit.error.clone(),
            warnings: fit.warnings.clone(),
        }
    }
}
