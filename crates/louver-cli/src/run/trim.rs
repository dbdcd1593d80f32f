//! `louver trim`: leave messages out until the conversation fits.

use super::explain::explain;
use super::{Deliverable, Exit, Shell};
use crate::args::Trim;
use crate::output::Staged;
use crate::printer::{grouped, plural};
use crate::window::{Window, WindowChoice};
use anyhow::Context;
use louver::policy::CutWhen;
use louver::report::Report;
use louver::trim::{Trimmed, trim};
use std::path::Path;

pub(super) fn run(job: &Trim, choice: &WindowChoice<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    let window = choice.resolve(&body)?;
    // Whoever wants to know more wants counts.
    let takes_bounds = job.report.is_none() && !job.explain;
    let decide = || anyhow::Ok(trim(&body, window.trim_options()?.with_bounds(takes_bounds))?);
    let mut trimmed = decide().with_context(|| job.input.to_string())?;
    trimmed.report.warnings.splice(0..0, window.warning.iter().cloned().map(Into::into));
    hand_over(job, &trimmed, shell)?;
    shell.warn_of_idle_settings(&window);
    let report = &trimmed.report;
    report.warnings.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
    if let Some(error) = &report.error {
        shell.printer.warning(&format!("condensing: {error}"));
    }
    shell.printer.note(&format!("{}{}", summary(&trimmed), choice_made(&window, &trimmed)));
    if job.explain {
        shell.printer.answer(&explain(&body, &window, &trimmed));
    }
    Ok(Exit::Done)
}

/// All files are written before the first one is put in its place, so an error leaves none behind.
fn hand_over(job: &Trim, trimmed: &Trimmed, shell: &mut Shell<'_>) -> anyhow::Result<()> {
    let report = job.report.as_deref().map(|path| stage_report(path, &trimmed.report)).transpose()?;
    let output = job.output.file().map(|path| Staged::write(path, trimmed.json.as_bytes())).transpose()?;
    let is_written = output.is_some();
    for staged in report.into_iter().chain(output) {
        staged.commit()?;
    }
    if !is_written {
        shell.show(&Deliverable::Json(&trimmed.json))?;
    }
    Ok(())
}

fn stage_report(path: &Path, report: &Report) -> anyhow::Result<Staged> {
    let mut json = serde_json::to_string(report)?;
    json.push('\n');
    Staged::write(path, json.as_bytes())
}

/// What surprises who did not expect a cut: the ladder makes some that it need not.
fn choice_made(window: &Window, trimmed: &Trimmed) -> &'static str {
    let ladder = window.config.policy.ladder().filter(|ladder| ladder.when == CutWhen::Pays);
    match ladder.filter(|_| !trimmed.report.evicted.is_empty()) {
        Some(_) => "; the ladder cuts where it pays (ladder.when: full in a config.yml: only where it must)",
        None => "",
    }
}

/// The line for people. Its tokens are the counter's where they decide, or their bound, else the seeds' estimate.
pub(super) fn summary(trimmed: &Trimmed) -> String {
    let report = &trimmed.report;
    let metrics = report.metrics;
    let at_most = if trimmed.is_bound { "at most " } else { "" };
    let tokens = match report.tokens.allowed {
        None => format!("~{} tokens", grouped(metrics.estimated_tokens)),
        Some(allowed) => format!("{at_most}~{} tokens of {} allowed", grouped(report.tokens.after), grouped(allowed)),
    };
    if report.evicted.is_empty() && report.edited.is_empty() {
        return format!("Nothing to trim: {} kept ({tokens})", plural(metrics.preserved_messages, "message"));
    }
    let removed = plural(metrics.evicted_messages, "message");
    let kept = grouped(metrics.preserved_messages as u64);
    let shortened = match report.edited.len() {
        0 => String::new(),
        edited => format!(", {} of them shortened", grouped(edited as u64)),
    };
    format!("Trimmed conversation: {removed} removed, {kept} kept{shortened} ({tokens})")
}
