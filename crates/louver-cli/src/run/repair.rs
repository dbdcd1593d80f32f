//! `louver repair`: the smallest legal history.

use super::{Deliverable, Exit, Shell};
use crate::args::Repair;
use crate::printer::{plural, safe};
use anyhow::Context;
use louver::legality;
use louver::legality::RepairError;
use louver::wire::{Body, Fix};

pub(super) fn run(job: &Repair, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let source = job.input.to_string();
    let body = job.input.read(&mut shell.stdin)?;
    shell.warn_if_ambiguous(&body);
    let (repaired, left) = match legality::repair(&body) {
        Ok(repaired) => (repaired, Vec::new()),
        Err(RepairError::Unmended { repaired, left }) => (repaired, left),
        Err(error) => return Err(error).context(source),
    };
    shell.deliver(Deliverable::Json(&repaired.json), &job.output)?;
    for fix in &repaired.fixes {
        shell.printer.note(&safe(&line(&body, fix)));
    }
    // A repair that does not reach its goal must not look as if it had.
    if let Some(first) = left.first() {
        let (count, path) = (plural(left.len(), "violation"), first.path(body.history_path()));
        shell.printer.error(&format!("{source}: {count} cannot be mended, the first at {path}: {}", first.message));
        return Ok(Exit::Finding);
    }
    let source = safe(&source);
    match repaired.fixes.len() {
        0 => shell.printer.note(&format!("{source}: nothing to repair")),
        changes => shell.printer.note(&format!("{source}: legal after {}", plural(changes, "change"))),
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
