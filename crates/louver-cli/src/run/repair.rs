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
    let source = safe(&source);
    match repaired.fixes.len() {
        0 => shell.printer.note(&format!("{source}: nothing to repair")),
        changes => shell.printer.note(&format!("{source}: repaired with {}", plural(changes, "change"))),
    }
    warn_of_leftovers(&repaired.json, &body, shell)?;
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

/// A repair that does not reach its goal must not look as if it had.
fn warn_of_leftovers(json: &str, body: &Body, shell: &mut Shell<'_>) -> anyhow::Result<()> {
    let left = legality::check(&Body::parse(json, Some(body.format()))?);
    if let Some(first) = left.first() {
        let more = plural(left.len(), "violation");
        let path = first.path(body.history_path());
        shell.printer.warning(&format!("{more} cannot be repaired, the first at {path}: {}", first.message));
    }
    Ok(())
}
