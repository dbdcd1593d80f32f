//! `louver repair`: the smallest legal history.

use super::{Deliverable, Exit, Shell};
use crate::meaning::Repair;
use crate::printer::{plural, safe};
use anyhow::Context;
use louver::legality;
use louver::wire::{Body, Fix};

pub(super) fn run(job: &Repair, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let source = job.input.source.to_string();
    let body = job.input.read(&mut shell.stdin)?;
    shell.warn_if_ambiguous(&body);
    let repaired = legality::repair(&body).with_context(|| source.clone())?;
    shell.deliver(Deliverable::Json(&repaired.json), job.output.as_deref())?;
    for fix in &repaired.fixes {
        shell.printer.note(&safe(&line(&body, fix)));
    }
    let left = legality::check(&Body::parse(&repaired.json, Some(body.format()))?);
    let source = safe(&source);
    match (repaired.fixes.len(), left.first()) {
        // A repair that does not reach its goal must not look as if it had.
        (_, Some(first)) => shell.printer.warning(&format!(
            "{} cannot be repaired, the first at {}: {}",
            plural(left.len(), "violation"),
            first.path(body.history_path()),
            first.message
        )),
        (0, None) => shell.printer.note(&format!("{source}: nothing to repair")),
        (changes, None) => shell.printer.note(&format!("{source}: legal after {}", plural(changes, "change"))),
    }
    Ok(Exit::Done)
}

fn line(body: &Body, fix: &Fix) -> String {
    let what = match fix {
        Fix::Remove { .. } => "removed",
        Fix::Replace { .. } => "changed",
        Fix::Insert { .. } => "inserted before",
    };
    format!("{}[{}]: {what}: {}", body.history_path(), fix.index(), fix.reason())
}
