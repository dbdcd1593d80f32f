//! Many conversations under many policies.

use crate::assumptions::{Assumptions, AssumptionsError};
use crate::conversation::Conversation;
use crate::input::{Source, read};
use crate::measure::measure;
use crate::options::Options;
use crate::prepared::Prepared;
use crate::report::{Report, RunRow, Skipped};
use louver::policy::SettingsError;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Why nothing could be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Settings that a policy cannot work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A model or window that cannot be used.
    #[error(transparent)]
    Assumptions(#[from] AssumptionsError),
    /// A request that is not there.
    #[error("{file} has {requests} requests, so there is no request {turn} to explain")]
    NoSuchRequest {
        /// The file.
        file: String,
        /// The request asked for, counted from 1.
        turn: usize,
        /// How many there are.
        requests: usize,
    },
    /// The threads could not be started.
    #[error("cannot start the threads")]
    Threads(#[source] rayon::ThreadPoolBuildError),
}

/// How far a replay is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Files done.
    pub files: usize,
    /// Files in all.
    pub files_in_all: usize,
    /// Requests replayed so far, each policy's counted.
    pub requests: usize,
}

/// What is told how far a replay is; it is called from several threads.
pub type OnProgress<'a> = &'a (dyn Fn(Progress) + Sync);

/// Replays files. Conversations run in parallel, the largest file first; the report does not depend on it.
///
/// # Errors
///
/// Options that nothing can be replayed with. A file that cannot be read is named in the report and skipped.
pub fn replay_files(sources: &[Source], options: &Options, on_progress: OnProgress<'_>) -> Result<Report, ReplayError> {
    let work = |source: &Source| match read(source) {
        Ok(conversations) => conversations.iter().map(|one| replay_one(one, options)).collect(),
        Err(error) => Ok(vec![Err(Skipped { file: source.name(), reason: crate::input::sentence(&error) })]),
    };
    let sizes: Vec<u64> = sources.iter().map(Source::bytes).collect();
    run_all(sources, &sizes, options, on_progress, &work)
}

/// Replays conversations that are in memory already.
///
/// # Errors
///
/// As [`replay_files`].
pub fn replay(
    conversations: &[Conversation],
    options: &Options,
    on_progress: OnProgress<'_>,
) -> Result<Report, ReplayError> {
    let work = |one: &Conversation| Ok(vec![replay_one(one, options)?]);
    let sizes: Vec<u64> = conversations.iter().map(|conversation| conversation.messages.len() as u64).collect();
    run_all(conversations, &sizes, options, on_progress, &work)
}

/// What became of one conversation: a row for each policy, or why there is none.
type Outcome = Result<Vec<RunRow>, Skipped>;

type Work<'a, T> = &'a (dyn Fn(&T) -> Result<Vec<Outcome>, ReplayError> + Sync);

fn run_all<T: Sync>(
    inputs: &[T],
    sizes: &[u64],
    options: &Options,
    on_progress: OnProgress<'_>,
    work: Work<'_, T>,
) -> Result<Report, ReplayError> {
    let threads = options.threads.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(ReplayError::Threads)?;
    let mut order: Vec<usize> = (0..inputs.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(sizes[*at]));
    let (files, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = |at: usize| {
        let outcomes = work(&inputs[at])?;
        let rows = outcomes.iter().flatten().flatten();
        let replayed = rows.map(|row| usize::try_from(row.requests).unwrap_or(usize::MAX)).sum();
        let requests = requests.fetch_add(replayed, Ordering::Relaxed) + replayed;
        on_progress(Progress {
            files: files.fetch_add(1, Ordering::Relaxed) + 1,
            files_in_all: inputs.len(),
            requests,
        });
        Ok((at, outcomes))
    };
    // Handed out one by one, so that the largest is never behind others in one thread's queue.
    let done: Result<Vec<_>, ReplayError> = pool.install(|| order.into_iter().par_bridge().map(one).collect());
    let mut done = done?;
    done.sort_by_key(|(at, _)| *at);
    Ok(gather(done.into_iter().flat_map(|(_, outcomes)| outcomes)))
}

fn gather(outcomes: impl Iterator<Item = Outcome>) -> Report {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(more) => rows.extend(more),
            Err(one) => skipped.push(one),
        }
    }
    Report::of(rows, skipped)
}

fn replay_one(conversation: &Conversation, options: &Options) -> Result<Outcome, ReplayError> {
    if conversation.turns().is_empty() {
        let reason = "no answer of a model stands behind a request".to_owned();
        return Ok(Err(Skipped { file: conversation.file.clone(), reason }));
    }
    let assumptions = Assumptions::of(conversation, options)?;
    let mut prepared = Prepared::new(conversation, options, assumptions);
    let baseline = prepared.baseline();
    let rows = options.contenders.iter().map(|contender| measure(&mut prepared, contender, &baseline, options));
    Ok(Ok(rows.collect::<Result<_, _>>()?))
}
