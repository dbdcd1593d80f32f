//! `louver check`: is this history legal?

use super::{Deliverable, Exit, Shell};
use crate::args::Check;
use crate::output::json_list;
use crate::printer::{plural, safe};
use anstyle::{AnsiColor, Style};
use louver::legality;
use louver::wire::{Body, Violation};
use std::fmt::Write;

const PATH: Style = Style::new().bold();
const RULE: Style = AnsiColor::Yellow.on_default();

/// What `--json` prints of a violation.
#[derive(Debug, serde::Serialize)]
struct Finding<'v> {
    path: String,
    rule: &'v str,
    index: usize,
    message: &'v str,
}

pub(super) fn run(job: &Check, shell: &mut Shell<'_>) -> anyhow::Result<Exit> {
    let body = job.input.read(&mut shell.stdin)?;
    shell.warn_if_ambiguous(&body);
    let violations = legality::check(&body);
    if job.json {
        shell.deliver(Deliverable::Json(&json_list(&findings(&body, &violations))?), &job.output)?;
    } else {
        shell.deliver(Deliverable::Text(&lines(&body, &violations)), &job.output)?;
    }
    warn_of(&body, shell);
    let source = safe(&job.input.to_string());
    let messages = plural(body.messages().len(), "message");
    let format = body.format();
    if violations.is_empty() {
        shell.printer.note(&format!("{source}: legal ({format}, {messages})"));
        return Ok(Exit::Done);
    }
    let count = plural(violations.len(), "violation");
    shell.printer.note(&format!("{source}: {count} ({format}, {messages}); louver repair makes it legal"));
    Ok(Exit::Finding)
}

/// One line for each kind of advice, however often it is gone against: it changes no exit code.
fn warn_of(body: &Body, shell: &mut Shell<'_>) {
    let mut advice = legality::advise(body);
    advice.sort_by_key(|advice| advice.rule);
    for kind in advice.chunk_by(|a, b| a.rule == b.rule) {
        let (path, rule) = (kind[0].path(body.history_path()), kind[0].rule);
        let more = match kind.len() - 1 {
            0 => String::new(),
            more => format!(" and {}", plural(more, "more place")),
        };
        shell.printer.warning(&format!("{rule} at {path}{more}: {}", kind[0].message));
    }
}

fn lines(body: &Body, violations: &[Violation]) -> String {
    let mut text = String::new();
    for violation in violations {
        let path = safe(&violation.path(body.history_path()));
        let (rule, message) = (violation.rule, safe(&violation.message));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{PATH}{path}{PATH:#}: {RULE}{rule}{RULE:#}: {message}");
    }
    text
}

fn findings<'v>(body: &Body, violations: &'v [Violation]) -> Vec<Finding<'v>> {
    let finding = |violation: &'v Violation| Finding {
        path: violation.path(body.history_path()),
        rule: violation.rule,
        index: violation.index,
        message: &violation.message,
    };
    violations.iter().map(finding).collect()
}
