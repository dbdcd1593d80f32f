//! Recorded conversations under any policy, as a table.

use crate::columns::{batch, schema};
use crate::errors;
use crate::functions::shown;
use crate::walk::as_bytes;
use crate::window::named;
use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_schema::ffi::FFI_ArrowSchema;
use louver_face::{Fault, replay};
use louver_replay::Report;
use louver_replay::input::Source;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyMapping, PyString};
use std::path::PathBuf;

/// A row per conversation and policy: whatever reads Arrow reads it (`__arrow_c_stream__`).
#[pyclass(frozen, module = "louver")]
#[derive(Debug)]
pub(crate) struct Replay {
    report: Report,
}

/// Replays recorded conversations: a path or several, or texts by their names.
#[pyfunction]
#[pyo3(name = "replay", signature = (conversations, **settings))]
pub(crate) fn replay_all(conversations: &Bound<'_, PyAny>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Replay> {
    let py = conversations.py();
    let options = replay::read(named(settings)?).map_err(|fault| errors::raised(py, fault))?;
    let sources = sources(conversations)?;
    let report = py.detach(|| replay::replay(&sources, &options));
    Ok(Replay { report: report.map_err(|fault| errors::raised(py, fault))? })
}

fn sources(given: &Bound<'_, PyAny>) -> PyResult<Vec<Source>> {
    if let Ok(texts) = given.cast::<PyMapping>() {
        return texts.items()?.iter().map(|item| item.extract().and_then(|(name, text)| source(name, &text))).collect();
    }
    let paths = match given.extract::<PathBuf>() {
        Ok(path) => vec![path],
        Err(_) => given.try_iter()?.map(|path| path?.extract()).collect::<PyResult<_>>()?,
    };
    replay::files(&paths).map_err(|fault| errors::raised(given.py(), fault))
}

/// A conversation in memory.
fn source(name: String, text: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Some(bytes) = as_bytes(text)? {
        return Ok(Source::Bytes { name, bytes: bytes.as_bytes().to_vec() });
    }
    Ok(Source::Text { name, text: text.cast::<PyString>()?.to_str()?.to_owned() })
}

#[pymethods]
impl Replay {
    /// The rows as an Arrow stream.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Whoever asks for another schema casts: the interface allows to give what is there.
        let _ = requested_schema;
        let batch = batch(&self.report.runs).map_err(|error| errors::raised(py, Fault::settings(error)))?;
        let schema = batch.schema();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The columns, which are the same for every replay.
    #[expect(clippy::unused_self, reason = "the interface asks an object")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&schema());
        let schema = schema.map_err(|error| errors::raised(py, Fault::settings(error)))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The same as `louver replay --json` writes.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.report.to_json().map_err(|error| errors::raised(py, Fault::settings(error)))
    }

    /// A row per conversation and policy, as dicts.
    fn rows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.report.runs)
    }

    /// A row per policy.
    #[getter]
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.report.totals)
    }

    /// What could not be read or measured: files with reasons.
    #[getter]
    fn skipped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        shown(py, &self.report.skipped)
    }

    /// How many conversations are counted in others from start to end.
    #[getter]
    fn copies(&self) -> usize {
        self.report.copies
    }

    /// What was assumed and what was recorded.
    #[getter]
    fn assumed(&self) -> &str {
        &self.report.assumed
    }

    fn __len__(&self) -> usize {
        self.report.runs.len()
    }

    fn __repr__(&self) -> String {
        let Report { runs, totals, skipped, .. } = &self.report;
        format!("<louver.Replay: {} rows, {} policies, {} skipped>", runs.len(), totals.len(), skipped.len())
    }
}
