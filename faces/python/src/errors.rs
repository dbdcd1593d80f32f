//! The engine's errors as Python's: the classes are in `louver/_errors.py`, and carry what the engine says.

use louver::plan::Overflow;
use louver::trim::TrimError;
use louver::{Error, JsonError};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::fmt::Display;

/// Text that cannot be read, or a value that is no message.
pub(crate) fn input(py: Python<'_>, message: &str, path: &str, offset: Option<usize>) -> PyErr {
    raise(py, "InputError", (message, path, offset))
}

pub(crate) fn json(py: Python<'_>, error: &JsonError) -> PyErr {
    input(py, &error.to_string(), &error.path(), Some(error.offset()))
}

/// Settings that nothing can be done with.
pub(crate) fn settings(py: Python<'_>, error: impl Display) -> PyErr {
    raise(py, "SettingsError", (error.to_string(),))
}

/// A history that cannot be made to fit.
pub(crate) fn overflow(py: Python<'_>, error: &Overflow) -> PyErr {
    let largest = error.largest.map(|largest| (largest.index, largest.tokens));
    raise(py, "WindowOverflow", (error.to_string(), error.floor_tokens, error.allowed_tokens, largest))
}

/// A history that cannot be made legal: as far as it could be, and what is left.
pub(crate) fn repair(py: Python<'_>, message: &str, repaired: Py<PyAny>, left: Py<PyAny>) -> PyErr {
    raise(py, "RepairError", (message, repaired, left))
}

pub(crate) fn trim(py: Python<'_>, error: &TrimError) -> PyErr {
    match error {
        TrimError::Overflow(error) => overflow(py, error),
        other => settings(py, other),
    }
}

pub(crate) fn window(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Json(error) => json(py, error),
        Error::Overflow(error) => overflow(py, error),
        Error::Record(_) => raise(py, "RecordError", (error.to_string(),)),
        _ => settings(py, error),
    }
}

pub(crate) fn record(py: Python<'_>, error: impl Display) -> PyErr {
    raise(py, "RecordError", (format!("this is no record: {error}"),))
}

fn raise<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let raised = py.import("louver._errors").and_then(|module| module.getattr(class)?.call1(arguments));
    raised.map_or_else(|error| error, PyErr::from_value)
}
