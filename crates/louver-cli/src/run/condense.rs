//! `louver condense`: a prompt out, a summary in.

use super::trim::summary as cut_line;
use super::{Deliverable, Exit, Shell};
use crate::args::Condense;
use crate::input::{read_file, spoken};
use crate::printer::{grouped, plural};
use crate::window::WindowChoice;
use anyhow::{Context, bail};
use louver::summary_job::{SummaryJob, put_summary, summary_job};
use louver::trim::{TrimOptions, Trimmed};
use louver::{Body, Summary};
use std::path::Path;

/// No job or summary is larger; what is, is not one.
const MAX_BYTES: u64 = 64_000_000;

pub(super) fn run(job: &Condense, choice: &WindowChoice<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    let window = choice.resolve(&body)?;
    shell.warn_if_ambiguous(&body);
    window.warning.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
    shell.warn_of_idle_settings(&window);
    let options = window.trim_options().with_context(|| job.input.to_string())?;
    match (&job.job, &job.summary) {
        (Some(asked), Some(answer)) => put(job, &body, options, (asked, answer), shell),
        _ => ask(job, &body, options, shell),
    }
}

/// What a model has to be asked.
fn ask(job: &Condense, body: &Body, options: TrimOptions, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let asked = summary_job(body, options).with_context(|| job.input.to_string())?;
    let mut json = serde_json::to_string(&asked)?;
    json.push('\n');
    shell.deliver(Deliverable::Json(&json), &job.output)?;
    shell.printer.note(&match &asked {
        Some(asked) => format!(
            "A summary would take the place of {} (~{} tokens); the prompt has ~{}.",
            plural(asked.covers.len(), "message"),
            grouped(asked.bounds.replaced_tokens),
            grouped(asked.bounds.input_tokens)
        ),
        None => "Nothing to condense yet: a summary is worth its price once ten messages leave.".to_owned(),
    });
    Ok(Exit::Done)
}

/// The conversation with the model's answer in place.
fn put(
    job: &Condense,
    body: &Body,
    options: TrimOptions,
    (asked, answer): (&Path, &Path),
    shell: &mut Shell<'_>,
) -> anyhow::Result<Exit> {
    let about = |path: &Path| path.display().to_string();
    let bytes = read_file(asked, MAX_BYTES).with_context(|| about(asked))?;
    let asked: SummaryJob = match serde_json::from_slice::<Option<SummaryJob>>(&bytes) {
        Ok(Some(asked)) => asked,
        Ok(None) => bail!("{}: nothing was to be condensed, so there is no summary to put in place", about(asked)),
        Err(error) => bail!("{}: not a job as `louver condense` prints it ({error})", about(asked)),
    };
    let text = std::fs::read_to_string(answer).map_err(spoken).with_context(|| about(answer))?;
    let condensed = put_summary(body, options, &asked, Summary::new(text.trim()));
    let condensed = condensed.with_context(|| job.input.to_string())?;
    shell.deliver(Deliverable::Json(&condensed.json), &job.output)?;
    condensed.report.warnings.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
    if let Some(error) = &condensed.report.error {
        shell.printer.warning(&format!("condensing: {error}"));
        shell.printer.note(&cut_line(&condensed));
        return Ok(Exit::Finding);
    }
    shell.printer.note(&line(&asked, &condensed));
    Ok(Exit::Done)
}

fn line(asked: &SummaryJob, condensed: &Trimmed) -> String {
    let metrics = condensed.report.metrics;
    format!(
        "Condensed conversation: {} in a summary, {} kept (~{} tokens)",
        plural(asked.covers.len(), "message"),
        grouped(metrics.preserved_messages as u64),
        grouped(condensed.report.tokens.after)
    )
}
