//! One decision over a whole input: the command line's, as functions.

use crate::errors;
use crate::input::{Input, Sent, from_json};
use crate::live::sent_of;
use crate::settings::{Resolved, Settings};
use louver::address::Address;
use louver::inspect::{Figures, Piece, pieces};
use louver::legality;
use louver::legality::{RepairError, Repaired};
use louver::report::Action;
use louver::search::{SearchIndex, passages};
use louver::trim::{TrimError, Trimmed, trimmed_window};
use louver::wire::{Fix, Violation};
use louver::{Body, Format, Role};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Leaves messages out until the conversation fits, and gives it back in the form it came in.
#[pyfunction]
#[pyo3(signature = (conversation, **settings))]
pub(crate) fn trim<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    Ok(decide(conversation, settings)?.0)
}

/// The same, with what was decided.
#[pyfunction]
#[pyo3(signature = (conversation, **settings))]
pub(crate) fn trim_report<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (output, trimmed) = decide(conversation, settings)?;
    Ok((output, shown(conversation.py(), &trimmed.report)?))
}

fn decide<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Trimmed)> {
    let py = conversation.py();
    let settings = Settings::read(settings)?;
    let input = Input::read(conversation, settings.format)?;
    let resolved = settings.resolve(py, &input.body)?;
    let options = resolved.trim_options();
    let trimmed = py.detach(|| louver::trim::trim(&input.body, options)).map_err(|error| errors::trim(py, &error))?;
    if trimmed.report.action == Action::None {
        return Ok((conversation.clone(), trimmed));
    }
    let sent: Vec<Sent> = trimmed.window.view().iter().map(|sent| sent_of(sent.origin, sent.message)).collect();
    Ok((input.give_back(py, &trimmed.json, &sent)?, trimmed))
}

/// A rule that the provider would refuse a conversation for.
#[derive(Serialize)]
struct Finding<'v> {
    path: String,
    rule: &'v str,
    index: usize,
    message: &'v str,
}

/// Every rule that the provider would refuse this conversation for, in its own words.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn check<'py>(conversation: &Bound<'py, PyAny>, format: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let py = conversation.py();
    let input = Input::read(conversation, named(py, format)?)?;
    let violations = py.detach(|| legality::check(&input.body));
    findings(py, &input.body, &violations)
}

fn findings<'py>(py: Python<'py>, body: &Body, violations: &[Violation]) -> PyResult<Bound<'py, PyAny>> {
    let findings: Vec<_> = violations
        .iter()
        .map(|violation| Finding {
            path: violation.path(body.history_path()),
            rule: violation.rule,
            index: violation.index,
            message: &violation.message,
        })
        .collect();
    shown(py, &findings)
}

/// The smallest legal history, in the form it came in.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn repair<'py>(conversation: &Bound<'py, PyAny>, format: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    Ok(repair_report(conversation, format)?.0)
}

/// One change that made a history legal.
#[derive(Serialize)]
struct Change<'f> {
    index: usize,
    change: &'static str,
    reason: &'f str,
}

/// The same, with each change.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn repair_report<'py>(
    conversation: &Bound<'py, PyAny>,
    format: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = conversation.py();
    let input = Input::read(conversation, named(py, format)?)?;
    match py.detach(|| legality::repair(&input.body)) {
        Ok(repaired) => {
            let changes: Vec<_> = repaired.fixes.iter().map(change).collect();
            Ok((mended(conversation, &input, &repaired)?, shown(py, &changes)?))
        }
        Err(RepairError::Unmended { repaired, left }) => {
            let reached = Body::parse(&repaired.json, Some(input.body.format()));
            let reached = reached.map_err(|error| errors::json(py, &error))?;
            let message = RepairError::Unmended { repaired: repaired.clone(), left: left.clone() }.to_string();
            let (output, left) = (mended(conversation, &input, &repaired)?, findings(py, &reached, &left)?);
            Err(errors::repair(py, &message, output.unbind(), left.unbind()))
        }
        Err(error) => Err(errors::settings(py, error)),
    }
}

fn change(fix: &Fix) -> Change<'_> {
    let change = match fix {
        Fix::Remove { .. } => "removed",
        Fix::Replace { .. } => "changed",
        Fix::Insert { .. } => "inserted before",
    };
    Change { index: fix.index(), change, reason: fix.reason() }
}

fn mended<'py>(
    conversation: &Bound<'py, PyAny>,
    input: &Input<'py>,
    repaired: &Repaired,
) -> PyResult<Bound<'py, PyAny>> {
    if repaired.fixes.is_empty() {
        return Ok(conversation.clone());
    }
    let own = |index: usize, raw: &str| input.body.messages().get(index).is_some_and(|message| message.raw() == raw);
    let sent = |(origin, raw): (Option<usize>, &str)| match origin {
        Some(index) if own(index, raw) => Sent::Same(index),
        like => Sent::New { raw: raw.to_owned(), like },
    };
    let sent: Vec<Sent> = repaired.messages(&input.body).map(sent).collect();
    input.give_back(conversation.py(), &repaired.json, &sent)
}

/// What fills the window: a row per message, and totals.
#[pyfunction]
#[pyo3(signature = (conversation, **settings))]
pub(crate) fn inspect<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = conversation.py();
    let settings = Settings::read(settings)?;
    let input = Input::read(conversation, settings.format)?;
    let resolved = settings.resolve(py, &input.body)?;
    let figures = py.detach(|| Figures::of(&input.body, resolved.subject()));
    shown(py, &figures)
}

/// A message that was had back.
#[derive(Serialize)]
struct Row {
    index: usize,
    role: Role,
    parts: Vec<Piece>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What was left out: by its address, or by words that stand in it.
#[pyfunction]
#[pyo3(signature = (wanted, conversation, *, limit=5, **settings))]
pub(crate) fn recall<'py>(
    wanted: &str,
    conversation: &Bound<'py, PyAny>,
    limit: usize,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyList>> {
    let py = conversation.py();
    let settings = Settings::read(settings)?;
    let input = Input::read(conversation, settings.format)?;
    let found = match wanted.parse::<Address>() {
        Ok(address) => {
            address.indices().filter(|index| *index < input.body.messages().len()).map(|index| (index, None)).collect()
        }
        Err(error) if Address::is_meant_by(wanted) => return Err(errors::settings(py, error)),
        Err(_) => {
            let resolved = settings.taken_as_known().resolve(py, &input.body)?;
            py.detach(|| search(&input.body, &resolved, wanted, limit)).map_err(|error| errors::trim(py, &error))?
        }
    };
    rows(py, &input, found)
}

/// Message and passage of the best hits in what was left out; where the policy cannot decide, in everything.
fn search(
    body: &Body,
    resolved: &Resolved,
    query: &str,
    limit: usize,
) -> Result<Vec<(usize, Option<String>)>, TrimError> {
    let all = || (0..body.messages().len()).collect();
    let left_out: HashSet<usize> = match resolved.lacks_window() {
        true => all(),
        false => match trimmed_window(body, resolved.trim_options()) {
            Ok(window) => window.left_out().map(|(index, _)| index).collect(),
            Err(TrimError::Overflow(_)) => all(),
            Err(error) => return Err(error),
        },
    };
    let index: SearchIndex = body.messages().iter().map(|message| &**message).collect();
    let found = index.among(|message| left_out.contains(&message)).search(query, limit);
    let text = |message: usize, passage| passages(body.messages().get(message)?).into_iter().nth(passage);
    Ok(found.hits.iter().map(|hit| (hit.message, text(hit.message, hit.passage))).collect())
}

fn rows<'py>(py: Python<'py>, input: &Input<'py>, found: Vec<(usize, Option<String>)>) -> PyResult<Bound<'py, PyList>> {
    let mut tools = HashMap::new();
    let parts: Vec<_> = input.body.messages().iter().map(|message| pieces(message, &mut tools)).collect();
    let rows = PyList::empty(py);
    for (index, text) in found {
        let Some((message, parts)) = input.body.messages().get(index).zip(parts.get(index)) else { continue };
        let by_address = text.is_none();
        let row = shown(py, &Row { index, role: message.shape().role, parts: parts.clone(), text })?;
        if by_address {
            row.set_item("message", input.message(py, index)?)?;
        }
        rows.append(row)?;
    }
    Ok(rows)
}

fn named(py: Python<'_>, format: Option<&str>) -> PyResult<Option<Format>> {
    format.map(|name| name.parse().map_err(|error| errors::settings(py, error))).transpose()
}

/// A value of the engine's as dicts and lists, as the command line's JSON has it.
fn shown<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(value).map_err(|error| errors::settings(py, error))?;
    from_json(py, &json)
}
