//! A conversation in the form that it came in, to be given back in the same.

use crate::errors;
use crate::walk::{as_bytes, is_list, to_json};
use louver::{Body, Format};
use louver_face::functions::Output;
use louver_face::{Fault, Sent};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};

/// A conversation as the engine reads it, and how it came.
#[derive(Debug)]
pub(crate) struct Input<'py> {
    pub(crate) body: Body,
    form: Form<'py>,
}

#[derive(Debug)]
enum Form<'py> {
    Bytes,
    Text,
    /// A list or a tuple of messages.
    List(Bound<'py, PyAny>),
    /// A request, or a wrapper around a list.
    Body(Bound<'py, PyDict>),
}

impl<'py> Input<'py> {
    pub(crate) fn read(value: &Bound<'py, PyAny>, format: Option<Format>) -> PyResult<Self> {
        let py = value.py();
        let (read, form) = if let Some(bytes) = as_bytes(value)? {
            let bytes = bytes.as_bytes();
            (py.detach(|| Body::parse_bytes(bytes, format)), Form::Bytes)
        } else if let Ok(text) = value.cast::<PyString>() {
            let text = text.to_str()?;
            (py.detach(|| Body::parse(text, format)), Form::Text)
        } else {
            let form = match value.cast::<PyDict>() {
                Ok(body) => Form::Body(body.clone()),
                Err(_) if is_list(value) => Form::List(value.clone()),
                Err(_) => return Err(no_conversation(value)),
            };
            let text = to_json(value)?;
            (py.detach(|| Body::parse(&text, format)), form)
        };
        Ok(Self { body: read.map_err(|error| errors::raised(py, Fault::from(&error)))?, form })
    }

    /// The objects of the history, where they are any.
    fn objects(&self) -> PyResult<Vec<Bound<'py, PyAny>>> {
        match &self.form {
            Form::Bytes | Form::Text => Ok(Vec::new()),
            Form::List(list) => list.try_iter()?.collect(),
            Form::Body(body) => match body.get_item(self.history_key())? {
                Some(list) if is_list(&list) => list.try_iter()?.collect(),
                _ => Ok(Vec::new()),
            },
        }
    }

    fn history_key(&self) -> &'static str {
        self.body.history_path().trim_start_matches("$.")
    }

    /// A message of the history: the object itself where it came as one, else its JSON text as an object.
    pub(crate) fn message(&self, py: Python<'py>, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.objects()?.into_iter().nth(index) {
            Some(object) => Ok(Some(object)),
            None => self.body.messages().get(index).map(|message| from_json(py, message.raw())).transpose(),
        }
    }

    /// The same form with another history.
    pub(crate) fn give_back(&self, py: Python<'py>, output: &Output) -> PyResult<Bound<'py, PyAny>> {
        let Output { json, sent } = output;
        match &self.form {
            Form::Bytes => Ok(PyBytes::new(py, json.as_bytes()).into_any()),
            Form::Text => Ok(PyString::new(py, json).into_any()),
            Form::List(list) if list.is_instance_of::<PyTuple>() => {
                Ok(list_of(py, sent, &self.objects()?, None)?.to_tuple().into_any())
            }
            Form::List(_) => Ok(list_of(py, sent, &self.objects()?, None)?.into_any()),
            Form::Body(body) => {
                let copy = body.copy()?;
                copy.set_item(self.history_key(), list_of(py, sent, &self.objects()?, None)?)?;
                Ok(copy.into_any())
            }
        }
    }
}

fn no_conversation(value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "this".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("expected bytes, str, a list of messages or a request as a dict, found {kind}"))
}

/// The messages of a view as objects: the same for what came as one. The others are what `make` gives for the object that
/// they were, if any, and their JSON text as an object, where there is one.
pub(crate) fn list_of<'py>(
    py: Python<'py>,
    sent: &[Sent],
    objects: &[Bound<'py, PyAny>],
    make: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for message in sent {
        match message {
            Sent::Same(index) => list.append(&objects[*index])?,
            Sent::New { raw, like } => {
                let like = like.map(|index| &objects[index]);
                list.append(match make {
                    Some(make) => make.call1((like, from_json(py, raw)?))?,
                    None => rebuilt(py, raw, like, objects)?,
                })?;
            }
        }
    }
    Ok(list)
}

/// JSON text as an object of the kind that it stands for.
fn rebuilt<'py>(
    py: Python<'py>,
    raw: &str,
    like: Option<&Bound<'py, PyAny>>,
    objects: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    // A message of our own stands among others: as text, if they are.
    let kind = like.or(objects.first());
    if kind.is_some_and(|object| object.is_instance_of::<PyString>()) {
        return Ok(PyString::new(py, raw).into_any());
    }
    if kind.is_some_and(|object| object.is_instance_of::<PyBytes>()) {
        return Ok(PyBytes::new(py, raw.as_bytes()).into_any());
    }
    let value = from_json(py, raw)?;
    match like {
        Some(object) if object.hasattr("model_validate")? => object.get_type().call_method1("model_validate", (value,)),
        _ => Ok(value),
    }
}

/// JSON text as Python's own reader has it.
pub(crate) fn from_json<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (json,))
}
