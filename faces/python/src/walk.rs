//! From Python values to JSON text, in one walk.

use crate::errors;
use crate::memory::{self, Memory};
use louver_face::Texts;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyMemoryView, PyString, PyTuple,
};
use std::fmt::Write;

/// The engine reads no deeper; what goes on for ever ends here, too.
pub(crate) const MAX_DEPTH: usize = 512;

/// The messages of a history as JSON text, each with the object that it came from.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) texts: Texts,
    pub(crate) objects: Vec<Py<PyAny>>,
}

/// How messages of a framework become dicts.
#[derive(Debug, Default)]
pub(crate) struct Wire<'py> {
    /// Makes one of a message; without it they are what they are.
    pub(crate) make: Option<Bound<'py, PyAny>>,
    /// The attributes of a message that it reads; all where none is named.
    pub(crate) reads: Vec<Bound<'py, PyString>>,
}

impl Walked {
    /// Walks over a list of messages; of what is remembered only the containers. The others are written as they are on the
    /// wire.
    pub(crate) fn history(list: &Bound<'_, PyAny>, memory: &mut Memory, wire: &Wire<'_>) -> PyResult<Self> {
        let mut walked = Self::default();
        memory.begin(list.len().unwrap_or_default());
        for (index, message) in list.try_iter()?.enumerate() {
            let message = message?;
            if let Some(raw) = memory.recall(index, &message, &wire.reads) {
                walked.texts.share(raw);
                walked.objects.push(message.unbind());
                continue;
            }
            // Looked at before it is written: what changes meanwhile is noticed at the next walk.
            let parts = memory::parts_of(&message, &wire.reads);
            match &wire.make {
                Some(make) => walked.add(&make.call1((&message,))?, index)?,
                None => walked.add(&message, index)?,
            }
            walked.texts.share_last(|raw| memory.note(&message, parts, raw));
            walked.objects.push(message.unbind());
        }
        Ok(walked)
    }

    /// Walks over one message.
    pub(crate) fn message(message: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut walked = Self::default();
        walked.add(message, 0)?;
        walked.objects.push(message.clone().unbind());
        Ok(walked)
    }

    fn add(&mut self, message: &Bound<'_, PyAny>, index: usize) -> PyResult<()> {
        let written = self.texts.write(|text| write_message(text, message));
        written.map_err(|fault| fault.inside(format!("[{index}]")).raise(message.py()))
    }
}

/// A value that has no place in JSON, and where it stands.
#[derive(Debug)]
pub(crate) enum Fault {
    /// What Python raised on the way.
    Raised(PyErr),
    /// Ours: the innermost step of the path first.
    Found { message: String, path: Vec<String> },
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

impl Fault {
    fn found(message: impl Into<String>) -> Self {
        Self::Found { message: message.into(), path: Vec::new() }
    }

    fn inside(mut self, step: String) -> Self {
        if let Self::Found { path, .. } = &mut self {
            path.push(step);
        }
        self
    }

    pub(crate) fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Raised(error) => error,
            Self::Found { message, path } => {
                let path: String = std::iter::once("$").chain(path.iter().rev().map(String::as_str)).collect();
                errors::input(py, &format!("{path}: {message}"), &path)
            }
        }
    }
}

/// The whole of a request or list as JSON text. What stands in the list `history` may be JSON text already.
pub(crate) fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut text = String::new();
    let written = match is_list(value) {
        true => write_list(&mut text, value, &mut |text, message| write_message(text, message)),
        false => write_value(&mut text, value, 0),
    };
    written.map_err(|fault| fault.raise(value.py()))?;
    Ok(text)
}

/// A request without its history, as JSON text.
pub(crate) fn frame_to_json(body: &Bound<'_, PyDict>, history_key: &str) -> PyResult<String> {
    let mut text = String::from("{");
    for (key, value) in body {
        let name = key.cast::<PyString>()?.to_cow()?.into_owned();
        if name != history_key {
            write_string(&mut text, &name);
            text.push(':');
            write_value(&mut text, &value, 1).map_err(|fault| fault.inside(format!(".{name}")).raise(body.py()))?;
            text.push(',');
        }
    }
    write_string(&mut text, history_key);
    text.push_str(":[]}");
    Ok(text)
}

/// Whether this is a list of something.
pub(crate) fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>()
}

/// Bytes of any kind.
pub(crate) fn as_bytes<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyBytes>>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Some(bytes.clone()));
    }
    if value.is_instance_of::<PyByteArray>() || value.is_instance_of::<PyMemoryView>() {
        return Ok(Some(value.py().get_type::<PyBytes>().call1((value,))?.cast_into::<PyBytes>()?));
    }
    Ok(None)
}

/// A message may be its JSON text.
fn write_message(text: &mut String, message: &Bound<'_, PyAny>) -> Result<(), Fault> {
    if let Ok(raw) = message.cast::<PyString>() {
        text.push_str(raw.to_str()?.trim());
        return Ok(());
    }
    if let Some(raw) = as_bytes(message)? {
        let raw = std::str::from_utf8(raw.as_bytes()).map_err(|error| Fault::found(format!("not UTF-8: {error}")))?;
        text.push_str(raw.trim());
        return Ok(());
    }
    write_value(text, message, 0)
}

fn write_value(text: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
    if depth > MAX_DEPTH {
        return Err(Fault::found(format!("nested deeper than {MAX_DEPTH} levels")));
    }
    if let Ok(string) = value.cast::<PyString>() {
        match string.to_str() {
            Ok(plain) => write_string(text, plain),
            Err(_) => write_surrogates(text, string)?,
        }
    } else if let Ok(dict) = value.cast::<PyDict>() {
        write_object(text, dict.iter().map(Ok), depth)?;
    } else if is_list(value) {
        write_list(text, value, &mut |text, item| write_value(text, item, depth + 1))?;
    } else if let Ok(flag) = value.cast::<PyBool>() {
        text.push_str(if flag.is_true() { "true" } else { "false" });
    } else if value.is_none() {
        text.push_str("null");
    } else if value.is_instance_of::<PyInt>() {
        write_integer(text, value)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        write_float(text, number)?;
    } else {
        write_other(text, value, depth)?;
    }
    Ok(())
}

fn write_list(text: &mut String, list: &Bound<'_, PyAny>, write: WriteItem<'_>) -> Result<(), Fault> {
    text.push('[');
    for (index, item) in list.try_iter()?.enumerate() {
        if index > 0 {
            text.push(',');
        }
        write(text, &item?).map_err(|fault| fault.inside(format!("[{index}]")))?;
    }
    text.push(']');
    Ok(())
}

/// Writes one item of a list.
type WriteItem<'w> = &'w mut dyn FnMut(&mut String, &Bound<'_, PyAny>) -> Result<(), Fault>;

type Member<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

fn write_object<'py>(
    text: &mut String,
    members: impl Iterator<Item = PyResult<Member<'py>>>,
    depth: usize,
) -> Result<(), Fault> {
    text.push('{');
    for (index, member) in members.enumerate() {
        let (key, value) = member?;
        if index > 0 {
            text.push(',');
        }
        let Ok(name) = key.cast::<PyString>() else {
            return Err(Fault::found(format!("a key is {}, not a string", key.repr()?)));
        };
        let name = name.to_str()?;
        write_string(text, name);
        text.push(':');
        write_value(text, &value, depth + 1).map_err(|fault| fault.inside(format!(".{name}")))?;
    }
    text.push('}');
    Ok(())
}

/// What has `model_dump()` is written as that gives it; a mapping of any kind as an object.
fn write_other(text: &mut String, value: &Bound<'_, PyAny>, depth: usize) -> Result<(), Fault> {
    if value.hasattr("model_dump")? {
        let options = PyDict::new(value.py());
        options.set_item("mode", "json")?;
        options.set_item("by_alias", true)?;
        options.set_item("exclude_none", true)?;
        return write_value(text, &value.call_method("model_dump", (), Some(&options))?, depth + 1);
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        let items = mapping.items()?;
        return write_object(text, items.iter().map(|item| item.extract::<Member<'_>>()), depth);
    }
    let kind = value.get_type().name()?.to_string();
    Err(Fault::found(format!("a value of type {kind} is no part of a message")))
}

fn write_integer(text: &mut String, value: &Bound<'_, PyAny>) -> Result<(), Fault> {
    match value.extract::<i64>() {
        // Writing to a string cannot fail.
        Ok(number) => drop(write!(text, "{number}")),
        Err(_) => text.push_str(
            value
                .py()
                .get_type::<PyInt>()
                .call_method1("__repr__", (value,))?
                .cast::<PyString>()
                .map_err(PyErr::from)?
                .to_str()?,
        ),
    }
    Ok(())
}

fn write_float(text: &mut String, value: &Bound<'_, PyFloat>) -> Result<(), Fault> {
    if !value.value().is_finite() {
        return Err(Fault::found(format!("{} is no number of JSON", value.value())));
    }
    text.push_str(value.repr()?.to_str()?);
    Ok(())
}

/// A text with halves of a surrogate pair in it: those are written as escapes, as they came.
fn write_surrogates(text: &mut String, string: &Bound<'_, PyString>) -> Result<(), Fault> {
    let units = string.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    let units = units.cast::<PyBytes>().map_err(PyErr::from)?;
    let units = units.as_bytes().chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    text.push('"');
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(letter) => escape(text, letter.encode_utf8(&mut [0; 4])),
            Err(half) => drop(write!(text, "\\u{:04x}", half.unpaired_surrogate())),
        }
    }
    text.push('"');
    Ok(())
}

fn write_string(text: &mut String, string: &str) {
    text.push('"');
    escape(text, string);
    text.push('"');
}

fn escape(text: &mut String, string: &str) {
    let mut start = 0;
    for (at, byte) in string.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        text.push_str(&string[start..at]);
        text.push_str(short);
        if short.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\u{byte:04x}");
        }
        start = at + 1;
    }
    text.push_str(&string[start..]);
}
