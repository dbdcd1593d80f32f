//! `louver replay`: what would each policy have cost and forgotten?

use super::{Exit, Shell};
use crate::args::Replay;
use crate::input::spoken;
use crate::output::Staged;
use crate::printer::{grouped, plural, safe};
use anyhow::{Context, ensure};
use louver_replay::input::{self, Client, MAX_BYTES, Source, clients};
use louver_replay::report::{page, session_table, table};
use louver_replay::{Options, Progress, Report, explain, replay_files};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How wide the progress bar is.
const BAR: usize = 30;
/// How often it is drawn.
const FRAME: Duration = Duration::from_millis(100);

pub(super) fn run(job: &Replay, options: &Options, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    ensure!(
        ![&job.json, &job.html].into_iter().all(|path| path.as_deref().is_some_and(is_stdout)),
        "--json - and --html - would both go to stdout: give one of them a file"
    );
    check_places(job)?;
    let sources = sources(job, shell)?;
    if let Some(turn) = job.explain {
        return explain_one(options, &sources, turn, shell);
    }
    let started = Instant::now();
    let mut report = replay(options, &sources, started, shell)?;
    report.command = Some(shell.command.clone());
    // A table of nothing would look like a finding.
    ensure!(!report.runs.is_empty(), "nothing to replay in {}{}{}", places(job), selected(job), obstacle(&report));
    for skipped in &report.skipped {
        shell.printer.warning(&format!("skipped {}: {}", skipped.file, skipped.reason));
    }
    warn(&report, shell);
    deliver(job, &report, shell)?;
    shell.printer.note(&rate(&report, started));
    Ok(if report.skipped.is_empty() { Exit::Done } else { Exit::Finding })
}

/// A mistyped place is said before the work, which would be lost with it.
fn check_places(job: &Replay) -> anyhow::Result<()> {
    for path in [&job.json, &job.html].into_iter().flatten().filter(|path| !is_stdout(path)) {
        ensure!(!path.is_dir(), "{}: is a folder", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        std::fs::metadata(folder.unwrap_or(Path::new(".")))
            .map_err(spoken)
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// What was looked through.
fn places(job: &Replay) -> String {
    let named: Vec<String> = match job.paths.is_empty() {
        true => known_clients().iter().map(|client| client.folder.display().to_string()).collect(),
        false => job.paths.iter().map(|path| path.display().to_string()).collect(),
    };
    named.join(", ")
}

/// Why nothing could be read.
fn obstacle(report: &Report) -> String {
    match report.skipped.as_slice() {
        [] => String::new(),
        [only] => format!(": {} {}", only.file, only.reason),
        [first, ..] => {
            let others = plural(report.skipped.len() - 1, "other file");
            format!(": {} {}, and {others} could not be read either", first.file, first.reason)
        }
    }
}

/// What else was asked for.
fn selected(job: &Replay) -> String {
    match (&job.project, job.since) {
        (None, None) => String::new(),
        (Some(project), None) => format!(" of project `{project}`"),
        (None, Some(_)) => " that is new enough for --since".to_owned(),
        (Some(project), Some(_)) => format!(" of project `{project}` that is new enough for --since"),
    }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// `-` is stdin, everything else a file or a folder; where nothing is named, what the clients recorded.
fn sources(job: &Replay, shell: &mut Shell<'_>) -> anyhow::Result<Vec<Source>> {
    if job.paths.is_empty() {
        return recorded_sessions(shell);
    }
    let mut sources = Vec::new();
    for path in &job.paths {
        if is_stdout(path) {
            let mut text = String::new();
            shell.stdin.reader.take(MAX_BYTES + 1).read_to_string(&mut text).context("stdin")?;
            sources.push(Source::Text { name: "stdin".to_owned(), text });
        } else {
            sources.extend(input::find(std::slice::from_ref(path)));
        }
    }
    ensure!(!sources.is_empty(), "nothing to replay: no .json or .jsonl file in {}", places(job));
    Ok(sources)
}

fn known_clients() -> Vec<Client> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    std::env::home_dir().map(|home| clients(&home, variable).to_vec()).unwrap_or_default()
}

/// The sessions of all clients, with a word about where they were found.
fn recorded_sessions(shell: &mut Shell<'_>) -> anyhow::Result<Vec<Source>> {
    let clients = known_clients();
    let mut sources = Vec::new();
    let (mut found, mut places) = (Vec::new(), Vec::new());
    for client in clients {
        let sessions = client.sessions();
        places.push(format!("{} ({})", client.folder.display(), client.name));
        if !sessions.is_empty() {
            found.push(format!("{} ({}, {})", client.folder.display(), client.name, plural(sessions.len(), "file")));
            sources.extend(sessions);
        }
    }
    ensure!(
        !sources.is_empty(),
        "nothing to replay: no session in {}; name a file or a folder",
        if places.is_empty() { "a home that is not known".to_owned() } else { places.join(", ") }
    );
    shell.printer.note(&safe(&format!("Replaying {}", found.join(", "))));
    Ok(sources)
}

fn explain_one(options: &Options, sources: &[Source], turn: usize, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    ensure!(sources.len() == 1, "--explain needs one file, but there are {}", sources.len());
    let source = &sources[0];
    let conversations = input::read(source).with_context(|| source.name())?;
    let text = explain(&conversations, options, turn)?;
    shell.printer.text(&safe_lines(&text))?;
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
    let outputs = [(&job.json, report.to_json()?), (&job.html, page(report))];
    let mut staged = Vec::new();
    let mut printed = None;
    for (path, text) in &outputs {
        match path.as_deref() {
            Some(path) if is_stdout(path) => printed = Some(text),
            Some(path) => staged.push(Staged::write(path, text.as_bytes())?),
            None => {}
        }
    }
    staged.into_iter().try_for_each(Staged::commit)?;
    match printed {
        Some(text) => shell.printer.data(text.as_bytes()),
        None => {
            // A list of one session would repeat the table.
            let top = if report.sessions.len() > 1 { job.top } else { 0 };
            shell.printer.text(&safe_lines(&format!("{}{}", session_table(report, top), table(report))))
        }
    }
}

/// Text of several lines with its other control characters spelled out.
fn safe_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", safe(line))).collect()
}
