//! Many conversations under many policies.

use crate::conversation::Conversation;
use crate::error::ReplayError;
use crate::input::{Kind, Source, read, read_text};
use crate::measure::measure;
use crate::once::{Met, Names, Share};
use crate::options::{Options, Selection};
use crate::prepared::Prepared;
use crate::report::{Report, RunRow, Skipped, assumed};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Replays files. Conversations run in parallel, the largest file first; the report does not depend on it. Requests that
/// stand in several conversations are counted once, in the first.
///
/// # Errors
///
/// Options that nothing can be replayed with. A file that cannot be read is named in the report and skipped.
pub fn replay_files(sources: &[Source], options: &Options, on_progress: OnProgress<'_>) -> Result<Report, ReplayError> {
    let pool = pool(options)?;
    let surveys: Vec<_> = pool.install(|| sources.par_iter().map(|source| survey(source, options)).collect());
    let shares = shares(&surveys);
    let files: Vec<(&Source, Vec<Share>)> = sources.iter().zip(shares).collect();
    let work = |(source, shares): &(&Source, Vec<Share>)| match read(source) {
        Ok(mut conversations) => {
            // A file that is no session is new or a copy as a whole.
            let share = |at: usize| shares.get(at).or(shares.first()).copied().unwrap_or(Share::From(0));
            let replayed = conversations.iter_mut().enumerate().map(|(at, one)| match is_taken(one, source, options) {
                true => replay_share(one, share(at), options),
                false => Ok(Outcome::NotSelected),
            });
            replayed.collect()
        }
        Err(error) => Ok(vec![Outcome::skipped(&source.name(), crate::input::sentence(&error))]),
    };
    let sizes: Vec<u64> = sources.iter().map(Source::bytes).collect();
    run_all(&pool, &Inputs { all: &files, sizes: &sizes }, options, on_progress, &work)
}

/// Whether somebody asked for a conversation of a file.
fn is_taken(conversation: &Conversation, source: &Source, options: &Options) -> bool {
    options.selection.takes(conversation, || source.modified_millis())
}

/// What the requests of each conversation of a file are called, where somebody asked for it. A file that cannot be read
/// is reported when it is to be replayed.
fn survey(source: &Source, options: &Options) -> Vec<Option<Names>> {
    let Ok(text) = source.text() else {
        return Vec::new();
    };
    let is_session = Kind::of(&text).is_session();
    if !is_session && options.selection == Selection::default() {
        return vec![Some(Names::of_text(&text))];
    }
    let Ok(found) = read_text(&source.name(), &text) else {
        return Vec::new();
    };
    match is_session {
        true => found.iter().map(|one| is_taken(one, source, options).then(|| Names::of(one))).collect(),
        false => {
            let is_any_taken = found.iter().any(|one| is_taken(one, source, options));
            vec![is_any_taken.then(|| Names::of_text(&text))]
        }
    }
}

/// What is new in each conversation of each file, in their order. What stands in one that nobody asked for is new where
/// it comes again.
fn shares(surveys: &[Vec<Option<Names>>]) -> Vec<Vec<Share>> {
    let mut met = Met::default();
    let mut share = |names: &Option<Names>| names.as_ref().map_or(Share::From(0), |names| met.meet(names));
    surveys.iter().map(|names| names.iter().map(&mut share).collect()).collect()
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
    let mut met = Met::default();
    let shared: Vec<(&Conversation, Share)> =
        conversations.iter().map(|one| (one, met.meet(&Names::of(one)))).collect();
    let work = |(one, share): &(&Conversation, Share)| {
        let mut own = (*one).clone();
        Ok(vec![replay_share(&mut own, *share, options)?])
    };
    let sizes: Vec<u64> = conversations.iter().map(|conversation| conversation.messages.len() as u64).collect();
    run_all(&pool(options)?, &Inputs { all: &shared, sizes: &sizes }, options, on_progress, &work)
}

fn pool(options: &Options) -> Result<rayon::ThreadPool, ReplayError> {
    let threads = options.threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(ReplayError::Threads)
}

/// What became of one conversation.
enum Outcome {
    /// A row for each policy.
    Rows(Vec<RunRow>),
    /// Why there is none.
    Skipped(Skipped),
    /// All of it is counted elsewhere.
    Copy,
    /// Nobody asked for it.
    NotSelected,
}

impl Outcome {
    fn skipped(file: &str, reason: String) -> Self {
        Self::Skipped(Skipped { file: file.to_owned(), reason })
    }

    fn requests(&self) -> usize {
        match self {
            Self::Rows(rows) => rows.iter().map(|row| usize::try_from(row.requests).unwrap_or(usize::MAX)).sum(),
            _ => 0,
        }
    }
}

type Work<'a, T> = &'a (dyn Fn(&T) -> Result<Vec<Outcome>, ReplayError> + Sync);

/// What is worked through, with how large each is.
struct Inputs<'a, T> {
    all: &'a [T],
    sizes: &'a [u64],
}

fn run_all<T: Sync>(
    pool: &rayon::ThreadPool,
    inputs: &Inputs<'_, T>,
    options: &Options,
    on_progress: OnProgress<'_>,
    work: Work<'_, T>,
) -> Result<Report, ReplayError> {
    let mut order: Vec<usize> = (0..inputs.all.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(inputs.sizes[*at]));
    let (files, requests) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = |at: usize| {
        let outcomes = work(&inputs.all[at])?;
        let replayed = outcomes.iter().map(Outcome::requests).sum();
        let requests = requests.fetch_add(replayed, Ordering::Relaxed) + replayed;
        on_progress(Progress {
            files: files.fetch_add(1, Ordering::Relaxed) + 1,
            files_in_all: inputs.all.len(),
            requests,
        });
        Ok((at, outcomes))
    };
    // Handed out one by one, so that the largest is never behind others in one thread's queue.
    let done: Result<Vec<_>, ReplayError> = pool.install(|| order.into_iter().par_bridge().map(one).collect());
    let mut done = done?;
    done.sort_by_key(|(at, _)| *at);
    Ok(gather(done.into_iter().flat_map(|(_, outcomes)| outcomes), options))
}

fn gather(outcomes: impl Iterator<Item = Outcome>, options: &Options) -> Report {
    let (mut rows, mut skipped, mut copies) = (Vec::new(), Vec::new(), 0);
    for outcome in outcomes {
        match outcome {
            Outcome::Rows(more) => rows.extend(more),
            Outcome::Skipped(one) => skipped.push(one),
            Outcome::Copy => copies += 1,
            Outcome::NotSelected => {}
        }
    }
    Report { copies, assumed: assumed(&rows, options), ..Report::of(rows, skipped) }
}

/// Replays what is a conversation's own.
fn replay_share(conversation: &mut Conversation, share: Share, options: &Options) -> Result<Outcome, ReplayError> {
    match share {
        Share::Copy => Ok(Outcome::Copy),
        Share::From(first) => {
            conversation.counted_elsewhere = conversation.counted_elsewhere.max(first);
            replay_one(conversation, options)
        }
    }
}

fn replay_one(conversation: &Conversation, options: &Options) -> Result<Outcome, ReplayError> {
    if conversation.turns().len() <= conversation.counted_elsewhere {
        let reason = "no answer of a model stands behind a request".to_owned();
        return Ok(Outcome::skipped(&conversation.file, reason));
    }
    let mut prepared = Prepared::new(conversation, options)?;
    let baseline = prepared.baseline(options)?;
    let rows = options.contenders.iter().map(|contender| measure(&mut prepared, contender, &baseline, options));
    Ok(Outcome::Rows(rows.collect::<Result<_, _>>()?))
}
