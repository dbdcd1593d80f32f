//! One decision over a whole input: the command line's, as functions.

use crate::errors;
use crate::input::{Input, from_json};
use crate::window::settings_of;
use louver::report::Report;
use louver_face::functions::{self, Mended, Output};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::Serialize;

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
    let (output, report) = decide(conversation, settings)?;
    Ok((output, shown(conversation.py(), &report)?))
}

fn decide<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Bound<'py, PyAny>, Report)> {
    let py = conversation.py();
    let settings = settings_of(py, None, settings)?;
    let input = Input::read(conversation, settings.format())?;
    let decided = py.detach(|| functions::trim(&input.body, &settings));
    let (output, report) = decided.map_err(|fault| errors::raised(py, fault))?;
    Ok((given_back(conversation, &input, output.as_ref())?, report))
}

fn given_back<'py>(
    conversation: &Bound<'py, PyAny>,
    input: &Input<'py>,
    output: Option<&Output>,
) -> PyResult<Bound<'py, PyAny>> {
    match output {
        Some(output) => input.give_back(conversation.py(), output),
        None => Ok(conversation.clone()),
    }
}

/// Every rule that the provider would refuse this conversation for, in its own words.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn check<'py>(conversation: &Bound<'py, PyAny>, format: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    let py = conversation.py();
    let input = read_as(conversation, format)?;
    shown(py, &py.detach(|| functions::check(&input.body)))
}

/// The smallest legal history, in the form it came in.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn repair<'py>(conversation: &Bound<'py, PyAny>, format: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
    Ok(repair_report(conversation, format)?.0)
}

/// The same, with each change.
#[pyfunction]
#[pyo3(signature = (conversation, *, format=None))]
pub(crate) fn repair_report<'py>(
    conversation: &Bound<'py, PyAny>,
    format: Option<&str>,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let py = conversation.py();
    let input = read_as(conversation, format)?;
    let mended = py.detach(|| functions::repair(&input.body));
    let Mended { output, changes, left } = mended.map_err(|fault| errors::raised(py, fault))?;
    let output = given_back(conversation, &input, output.as_ref())?;
    match left {
        None => Ok((output, shown(py, &changes)?)),
        Some((message, left)) => Err(errors::repair(py, &message, output.unbind(), shown(py, &left)?.unbind())),
    }
}

/// What fills the window: a row per message, and totals.
#[pyfunction]
#[pyo3(signature = (conversation, **settings))]
pub(crate) fn inspect<'py>(
    conversation: &Bound<'py, PyAny>,
    settings: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = conversation.py();
    let settings = settings_of(py, None, settings)?;
    let input = Input::read(conversation, settings.format())?;
    let figures = py.detach(|| functions::inspect(&input.body, &settings));
    shown(py, &figures.map_err(|fault| errors::raised(py, fault))?)
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
    let settings = settings_of(py, None, settings)?;
    let input = Input::read(conversation, settings.format())?;
    let found = py.detach(|| functions::recall(&input.body, wanted, limit, settings));
    let rows = PyList::empty(py);
    for row in found.map_err(|fault| errors::raised(py, fault))? {
        let shown = shown(py, &row)?;
        if row.text.is_none() {
            shown.set_item("message", input.message(py, row.index)?)?;
        }
        rows.append(shown)?;
    }
    Ok(rows)
}

fn read_as<'py>(conversation: &Bound<'py, PyAny>, format: Option<&str>) -> PyResult<Input<'py>> {
    let named = functions::format_named(format);
    Input::read(conversation, named.map_err(|fault| errors::raised(conversation.py(), fault))?)
}

/// A value of the engine's as dicts and lists, as the command line's JSON has it.
pub(crate) fn shown<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(value);
    from_json(py, &json.map_err(|error| errors::raised(py, louver_face::Fault::settings(error)))?)
}
