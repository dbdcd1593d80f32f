//! `louver inspect`: what fills the window?

use super::{Deliverable, Exit, Shell};
use crate::inspect::{Layout, Survey, table};
use crate::meaning::Inspect;

/// Rows that a terminal shows without being asked for more.
const TERMINAL_ROWS: usize = 200;
/// The width where nobody sits at a terminal.
const COLUMNS: usize = 100;

pub(super) fn run(job: &Inspect, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    let window = job.window.resolve(&body)?;
    shell.warn_if_ambiguous(&body);
    window.warnings.iter().for_each(|warning| shell.printer.warning(warning));
    let survey = Survey::of(&body, &window);
    if job.json {
        let mut json = serde_json::to_string(&survey)?;
        json.push('\n');
        shell.deliver(Deliverable::Json(&json), job.output.as_deref())?;
        return Ok(Exit::Done);
    }
    let is_seen = shell.stdout_is_terminal && job.output.is_none();
    let limit = job.limit.unwrap_or(if is_seen { TERMINAL_ROWS } else { 0 });
    let columns = shell.columns.filter(|_| is_seen).unwrap_or(COLUMNS);
    let layout = Layout::new(columns, limit);
    let text = table(&job.input.source.to_string(), &survey, &layout);
    shell.deliver(Deliverable::Text(&text), job.output.as_deref())?;
    Ok(Exit::Done)
}
