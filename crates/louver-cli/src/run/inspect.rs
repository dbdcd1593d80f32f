//! `louver inspect`: what fills the window?

use super::{Deliverable, Exit, Shell};
use crate::args::Inspect;
use crate::inspect::{Layout, table};
use crate::window::WindowChoice;
use louver::inspect::Figures;

/// Rows that a terminal shows without being asked for more.
const TERMINAL_ROWS: usize = 200;
/// The width where nobody sits at a terminal.
const COLUMNS: usize = 100;

pub(super) fn run(job: &Inspect, choice: &WindowChoice<'_>, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    let window = choice.resolve(&body)?;
    shell.warn_if_ambiguous(&body);
    window.warning.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
    let figures = Figures::of(&body, window.subject());
    if job.json {
        let mut json = serde_json::to_string(&figures)?;
        json.push('\n');
        shell.deliver(Deliverable::Json(&json), &job.output)?;
        return Ok(Exit::Done);
    }
    let is_seen = shell.stdout_is_terminal && job.output.file().is_none();
    let limit = job.limit.unwrap_or(if is_seen { TERMINAL_ROWS } else { 0 });
    let columns = shell.columns.filter(|_| is_seen).unwrap_or(COLUMNS);
    let layout = Layout::new(columns, limit);
    let text = table(&job.input.to_string(), &figures, &layout);
    shell.deliver(Deliverable::Text(&text), &job.output)?;
    Ok(Exit::Done)
}
