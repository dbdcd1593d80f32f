//! What a face refuses, as Python's exceptions: the classes are in `louver/_errors.py`.

use louver_face::Fault;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A fault as the exception that says it.
pub(crate) fn raised(py: Python<'_>, fault: Fault) -> PyErr {
    match fault {
        Fault::Input { message, path, offset } => raise(py, "InputError", (message, path, offset)),
        Fault::Settings(message) => raise(py, "SettingsError", (message,)),
        Fault::Usage(message) => PyTypeError::new_err(message),
        Fault::Record(message) => raise(py, "RecordError", (message,)),
        Fault::Overflow(error) => {
            let largest = error.largest.map(|largest| (largest.index, largest.tokens));
            let message = error.to_string();
            raise(py, "WindowOverflow", (message, error.floor_tokens, error.allowed_tokens, largest))
        }
    }
}

/// A value that is no message, at this path.
pub(crate) fn input(py: Python<'_>, message: &str, path: &str) -> PyErr {
    raise(py, "InputError", (message, path, None::<usize>))
}

/// A history that cannot be made legal: as far as it could be, and what is left.
pub(crate) fn repair(py: Python<'_>, message: &str, repaired: Py<PyAny>, left: Py<PyAny>) -> PyErr {
    raise(py, "RepairError", (message, repaired, left))
}

fn raise<'py>(py: Python<'py>, class: &str, arguments: impl PyCallArgs<'py>) -> PyErr {
    let raised = py.import("louver._errors").and_then(|module| module.getattr(class)?.call1(arguments));
    raised.map_or_else(|error| error, PyErr::from_value)
}
