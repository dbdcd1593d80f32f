//! Condensing a whole input in two steps: a prompt out, a summary in.
//!
//! Whoever has no window that lives on, such as a program in another language, has [`summary_job`] say what a summary
//! would need, asks a model of its own, and has [`put_summary`] put the answer in place. The job is a value that can wait
//! in a file. It carries what was decided, so both steps agree whatever the settings are by then.

use crate::condense::{Outcome, Summary};
use crate::plan::CondenseError;
use crate::trim::{TrimError, TrimOptions, Trimmed, fitted, written};
use crate::window::{Decision, Event, Fit, JobRecord, Log, Window, WindowConfig};
use crate::wire::{Body, Format, Message, Role};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// A summary to be had for a whole input. Its JSON is what `louver condense` prints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SummaryJob {
    /// The wire format of the history, and of `messages`.
    pub format: Format,
    /// What to send to the model: the prompt, as messages of the format.
    pub messages: Vec<serde_json::Value>,
    /// What the call has to keep to.
    pub bounds: SummaryBounds,
    /// The messages that the summary stands for, as indices into the input.
    pub covers: Vec<usize>,
    /// The history that it is about.
    pub history: HistoryPrefix,
    /// What was decided about that history, as a window records it.
    pub decisions: Vec<(usize, Event)>,
}

/// The bounds of a call for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SummaryBounds {
    /// The reply length to ask for.
    pub max_tokens: u64,
    /// What the prompt has, by the chosen counter.
    pub input_tokens: u64,
    /// What the summary takes the place of: a larger one is refused.
    pub replaced_tokens: u64,
}

/// The messages that a job was made from. A later history that begins with them is the same conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HistoryPrefix {
    /// How many.
    pub messages: usize,
    /// A check sum of what they say; white space and spelling make no difference.
    pub checksum: String,
}

/// Why there is no job, or why a summary could not be put in place.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SummaryJobError {
    /// Settings the policy cannot work with, or a history that cannot be made to fit.
    #[error(transparent)]
    Trim(#[from] TrimError),
    /// A policy that leaves out without a word.
    #[error("the policy `{0}` asks for no summaries: ladder, messages, tokens and both do")]
    NoSummaries(String),
    /// The job is about another conversation.
    #[error("the job is about another history: this one does not begin with the {messages} messages it was made from")]
    OtherHistory {
        /// How many it was made from.
        messages: usize,
    },
    /// The job asks for nothing, or for what is not there.
    #[error("the job cannot be used: {0}")]
    Unusable(String),
}

/// The summary that trimming this input would need, if it would need one: condensing is switched on, whatever the settings
/// say.
///
/// ```
/// use louver::policy::MessagesConfig;
/// use louver::summary_job::{put_summary, summary_job};
/// use louver::window::WindowConfig;
/// use louver::{Body, Format, PolicyKind, Summary};
///
/// let notes: Vec<String> =
///     (0..30).map(|n| format!(r#"{{"role":"user","content":"Note number {n}: nothing has to be done."}}"#)).collect();
/// let body = Body::parse(&format!("[{}]", notes.join(",")), None)?;
/// let cap = MessagesConfig { max_messages: 6, preserve_last_n: 2, ..MessagesConfig::default() };
/// let config = WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap));
///
/// let job = summary_job(&body, config.clone())?.expect("enough leaves");
/// assert!(job.messages[0]["content"].as_str().unwrap().contains("Note number 7"));
/// assert_eq!((job.covers.len(), job.bounds.max_tokens), (24, 1024));
///
/// let answer = Summary::new("Notes without consequence."); // from any model
/// let condensed = put_summary(&body, config, &job, answer)?;
/// assert_eq!(condensed.report.summary.as_deref(), Some("Notes without consequence."));
/// assert!(condensed.json.contains("[Conversation Summary]") && !condensed.json.contains("Note number 7"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// A policy that makes no summaries, and as [`trim`](crate::trim::trim).
pub fn summary_job(body: &Body, options: impl Into<TrimOptions>) -> Result<Option<SummaryJob>, SummaryJobError> {
    let options = condensing(options.into())?;
    let config = options.config.clone().with_frame(body);
    let (window, fit) = fitted(body, options).map_err(TrimError::from)?;
    fit.map_err(TrimError::from)?;
    let Some(asked) = window.open_job() else {
        return Ok(None);
    };
    let left: BTreeSet<usize> = window.evicted().map(|(index, _)| index).collect();
    let covered: BTreeSet<usize> = asked.covers.iter().cloned().flatten().chain(left.iter().copied()).collect();
    let covers: Vec<usize> = covered.into_iter().collect();
    // A job tells what has left from what leaves with the answer by the start of each range.
    let runs = covers.chunk_by(|a, b| a + 1 == *b && left.contains(a) == left.contains(b));
    let decisions = asking_last(window.events(), runs.map(|run| run[0]..run[0] + run.len()).collect());
    let log = Log { messages: body.messages().to_vec(), events: decisions.clone() };
    let window = Window::restore(config, log).map_err(|error| SummaryJobError::Unusable(error.to_string()))?;
    Ok(window.open_job().map(|job| {
        let prompt = body.format().wire().write(Role::User, &job.prompt);
        SummaryJob {
            format: body.format(),
            messages: serde_json::from_str(&prompt).into_iter().collect(),
            bounds: SummaryBounds {
                max_tokens: job.max_tokens,
                input_tokens: window.config().counter.text(&job.prompt).ceil_tokens(),
                replaced_tokens: covers.iter().filter_map(|index| window.tokens_of(*index)).sum(),
            },
            history: HistoryPrefix { messages: body.messages().len(), checksum: checksum(body.messages()) },
            covers,
            decisions,
        }
    }))
}

/// The conversation with a summary in place of what its job covers; what came since the job was made follows, trimmed if
/// need be. A summary that is empty or larger than what it replaces leaves plain eviction and an error in the report.
///
/// # Errors
///
/// A job of another history, and as [`summary_job`].
pub fn put_summary(
    body: &Body,
    options: impl Into<TrimOptions>,
    job: &SummaryJob,
    summary: Summary,
) -> Result<Trimmed, SummaryJobError> {
    let config = condensing(options.into())?.config.with_frame(body);
    let known = job.history.messages;
    let prefix = body.messages().get(..known).filter(|prefix| job.history.checksum == checksum(prefix));
    let prefix = prefix.filter(|_| body.format() == job.format);
    let prefix = prefix.ok_or(SummaryJobError::OtherHistory { messages: known })?;
    let mut window = reopened(config, prefix, job)?;
    let id = window.open_job().map(|open| open.id);
    let id = id.ok_or_else(|| SummaryJobError::Unusable("it asks for no summary".to_owned()))?;
    let outcome = window.answer(id, Ok(summary)).outcome;
    let mut fit = fit_rest(&mut window, &body.messages()[known..]).map_err(TrimError::from)?;
    if let Some(Outcome::Rejected(reason)) = outcome {
        fit.error = Some(CondenseError::Rejected(reason));
    }
    fit.tokens_before = window.log_tokens();
    Ok(written(body, window, &fit, false))
}

/// The same with condensing switched on.
fn condensing(mut options: TrimOptions) -> Result<TrimOptions, SummaryJobError> {
    let policy = &mut options.config.policy;
    if policy.start_condensing() { Ok(options) } else { Err(SummaryJobError::NoSummaries(policy.name().to_owned())) }
}

/// The window as it was when the job was made.
fn reopened(config: WindowConfig, prefix: &[Arc<Message>], job: &SummaryJob) -> Result<Window, SummaryJobError> {
    let log = Log { messages: prefix.to_vec(), events: job.decisions.clone() };
    Window::restore(config, log).map_err(|error| SummaryJobError::Unusable(error.to_string()))
}

/// Appends what came since, and fits at each point at which a request could have been sent.
fn fit_rest(window: &mut Window, rest: &[Arc<Message>]) -> Result<Fit, crate::plan::Overflow> {
    let requests = match window.config().policy.always_folds() {
        true => Log::of_transcript(rest.to_vec()).events,
        false => Log::decided_once(rest.to_vec()).events,
    };
    let mut pushed = 0;
    let mut last = Fit::default();
    for (at, _) in requests {
        for message in &rest[pushed..at] {
            window.push(Arc::clone(message));
        }
        pushed = at;
        last = window.fit()?;
    }
    Ok(last)
}

/// What was decided, with one job for everything that left, asked for with the last decision: a policy that folds asks at
/// its first cut already, and nobody answered.
fn asking_last(events: &[(usize, Event)], covers: Vec<Range<usize>>) -> Vec<(usize, Event)> {
    let mut decisions: Vec<(usize, Event)> =
        events.iter().filter(|(_, event)| !matches!(event, Event::Configured(_))).cloned().collect();
    let last = decisions.iter().rposition(|(_, event)| matches!(event, Event::Fitted(_)));
    for (_, event) in &mut decisions {
        if let Event::Fitted(Some(decision)) = event {
            decision.job = None;
        }
    }
    if let Some((_, Event::Fitted(decision))) = last.and_then(|last| decisions.get_mut(last)) {
        decision.get_or_insert_with(|| Box::new(Decision::default())).job = Some(JobRecord { id: 1, covers });
    }
    decisions
}

/// FNV-1a over the messages as serde_json writes them: it tells accidents, not attacks.
fn checksum(messages: &[Arc<Message>]) -> String {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for message in messages {
        let spelled = serde_json::from_str::<serde_json::Value>(message.raw()).map(|value| value.to_string());
        for byte in spelled.as_deref().unwrap_or(message.raw()).bytes().chain([b'\n']) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    format!("{sum:016x}")
}
