//! `louver replay`: what would each policy have cost and forgotten?

use super::{Exit, Shell};
use crate::args::Replay;
use crate::output::Staged;
use crate::printer::{grouped, plural, safe};
use anyhow::{Context, ensure};
use louver_replay::input::{self, MAX_BYTES, Source};
use louver_replay::report::{page, table};
use louver_replay::{Options, Progress, Report, explain, replay_files};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How wide the progress bar is.
const BAR: usize = 30;
/// How often it is drawn.
const FRAME: Duration = Duration::from_millis(100);

pub(super) fn run(job: &Replay, options: &Options, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let sources = sources(&job.paths, shell)?;
    if let Some(turn) = job.explain {
        return explain_one(options, &sources, turn, shell);
    }
    let started = Instant::now();
    let report = replay(options, &sources, started, shell)?;
    for skipped in &report.skipped {
        shell.printer.warning(&format!("skipped {}: {}", skipped.file, skipped.reason));
    }
    if report.runs.is_empty() && job.json.is_none() && job.html.is_none() {
        // A table of nothing would look like a finding.
        shell.printer.note("No conversation could be read, so there is nothing to compare.");
        return Ok(Exit::Finding);
    }
    warn(&report, shell);
    deliver(job, &report, shell)?;
    shell.printer.note(&rate(&report, started));
    Ok(if report.skipped.is_empty() { Exit::Done } else { Exit::Finding })
}

/// `-` is stdin, everything else a file or a folder.
fn sources(paths: &[PathBuf], shell: &mut Shell<'_>) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            let mut text = String::new();
            shell.stdin.reader.take(MAX_BYTES + 1).read_to_string(&mut text).context("stdin")?;
            sources.push(Source::Text { name: "stdin".to_owned(), text });
        } else {
            sources.extend(input::find(std::slice::from_ref(path)));
        }
    }
    ensure!(!sources.is_empty(), "no .json or .jsonl file there");
    Ok(sources)
}

fn explain_one(options: &Options, sources: &[Source], turn: usize, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    ensure!(sources.len() == 1, "--explain needs one file, but there are {}", sources.len());
    let source = &sources[0];
    let conversations = input::read(source).with_context(|| source.name())?;
    let text = explain(&conversations, options, turn)?;
    let lines: String = text.lines().map(|line| format!("{}\n", safe(line))).collect();
    shell.printer.text(&lines)?;
    Ok(Exit::Done)
}

/// Replays on other threads while this one draws how far it is.
fn replay(options: &Options, sources: &[Source], started: Instant, shell: &mut Shell<'_>) -> anyhow::Result<Report> {
    let (sender, receiver) = mpsc::channel::<Progress>();
    let report = std::thread::scope(|scope| {
        let work = scope.spawn(move || {
            let on_progress = |progress| {
                // The other end lives as long as this thread runs.
                let _ = sender.send(progress);
            };
            replay_files(sources, options, &on_progress)
        });
        let mut drawn = started;
        for progress in receiver {
            if drawn.elapsed() >= FRAME {
                shell.printer.progress(&bar(progress, started));
                drawn = Instant::now();
            }
        }
        work.join()
    });
    shell.printer.end_progress();
    match report {
        Ok(report) => Ok(report?),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn bar(progress: Progress, started: Instant) -> String {
    let filled = BAR * progress.files / progress.files_in_all.max(1);
    let (full, empty) = ("#".repeat(filled), "-".repeat(BAR - filled));
    let rate = per_second(progress.requests as u64, started);
    format!("[{full}{empty}] {}/{} files, {} requests/s", progress.files, progress.files_in_all, grouped(rate))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
fn per_second(requests: u64, started: Instant) -> u64 {
    (requests as f64 / started.elapsed().as_secs_f64().max(1e-3)) as u64
}

fn rate(report: &Report, started: Instant) -> String {
    let requests: u64 = report.runs.iter().map(|row| row.requests).sum();
    let seconds = started.elapsed().as_secs_f64();
    let rate = grouped(per_second(requests, started));
    format!(
        "{} in {seconds:.1} s, {rate} requests/s",
        plural(usize::try_from(requests).unwrap_or(usize::MAX), "request")
    )
}

/// Each warning once, with how many conversations it is about.
fn warn(report: &Report, shell: &mut Shell<'_>) {
    let first = report.totals.first().map(|totals| totals.policy.clone()).unwrap_or_default();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in report.runs.iter().filter(|row| row.policy == first).flat_map(|row| &row.warnings) {
        *counts.entry(warning).or_default() += 1;
    }
    for (warning, count) in counts {
        shell.printer.warning(&format!("{warning} ({})", plural(count, "conversation")));
    }
}

/// Files first, each whole or not at all; then stdout.
fn deliver(job: &Replay, report: &Report, shell: &mut Shell<'_>) -> anyhow::Result<()> {
    let json = report.to_json()?;
    let is_stdout = |path: &Path| path.as_os_str() == "-";
    let mut staged = Vec::new();
    if let Some(path) = job.json.as_deref().filter(|path| !is_stdout(path)) {
        staged.push(Staged::write(path, json.as_bytes())?);
    }
    if let Some(path) = &job.html {
        staged.push(Staged::write(path, page(report).as_bytes())?);
    }
    staged.into_iter().try_for_each(Staged::commit)?;
    match job.json.as_deref().is_some_and(is_stdout) {
        true => shell.printer.data(json.as_bytes()),
        false => shell.printer.text(&table(report)),
    }
}
