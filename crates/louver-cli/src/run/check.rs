//! `louver check`: is this history legal?

use super::explain::counted;
use super::{Deliverable, Exit, Shell};
use crate::args::Check;
use crate::output::json_list;
use crate::printer::{plural, safe};
use anstyle::{AnsiColor, Style};
use anyhow::bail;
use louver::legality;
use louver::window::Builder;
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
    let mut violations = legality::check(&body);
    let is_legal = violations.is_empty();
    let too_long = too_long(job, &body, shell)?;
    let fits = too_long.is_none();
    violations.extend(too_long);
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
    let advice = match (is_legal, fits) {
        (true, _) => "louver trim makes it fit",
        (false, true) => "louver repair makes it legal",
        (false, false) => "louver repair makes it legal, louver trim makes it fit",
    };
    shell.printer.note(&format!("{source}: {count} ({format}, {messages}); {advice}"));
    Ok(Exit::Finding)
}

/// Whether it is more than its model's window holds, where that is known. Part of a history that the provider keeps cannot
/// be counted.
fn too_long(job: &Check, body: &Body, shell: &mut Shell<'_>) -> anyhow::Result<Option<Violation>> {
    let mut builder = Builder::new(body.format()).counter(job.counter);
    if let Some(model) = job.model.as_deref().or(body.model()) {
        builder = builder.model(model);
    }
    if let Some(tokens) = job.context_window {
        builder = builder.context_window(tokens);
    }
    let assembled = builder.assemble();
    let Some(window) = assembled.context_window.filter(|_| !body.is_server_side()) else {
        match &job.model {
            Some(typed) if assembled.model.is_none() => bail!("--model: `{typed}` is not in the catalogue"),
            _ => return Ok(None),
        }
    };
    let counter = &assembled.config.counter;
    let too_long = legality::check_window(body, counter, window);
    if too_long.is_some() {
        assembled.model_warning.iter().for_each(|warning| shell.printer.warning(&warning.to_string()));
        if counter.stated_error() > 0.0 {
            shell.printer.warning(&format!("tokens are counted {}", counted(&**counter)));
        }
    }
    Ok(too_long)
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
