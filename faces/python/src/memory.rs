//! What was walked over before: a message whose parts are the same reads the same.
//!
//! Frameworks hand over their whole list at each turn, and nearly all of it is as it was. Texts, numbers and the like never
//! change in Python, so a message that still holds the same ones need not be written again. Its containers are looked into
//! each time: what was changed in place is noticed. Whether they are the same containers does not matter: some frameworks
//! make new ones for each call.

use crate::walk::MAX_DEPTH;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString};
use std::collections::HashMap;
use std::slice::Iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// For how many walks a message that is not seen again is remembered: as long as other conversations have their turn.
const KEPT_WALKS: u64 = 128;
/// Fewer messages than these are not worth looking for forgotten ones.
const FEW: usize = 1_024;

/// As many bytes of text are remembered in any case.
const SMALL_BYTES: usize = 32 << 20;
/// Where there are more, for how many walks.
const KEPT_WALKS_OF_MANY_BYTES: u64 = 2;

/// Messages by the object that they were, and by their place.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    seen: HashMap<usize, Arc<Seen>>,
    /// Those of this walk so far, and of the one before.
    now: Vec<Option<Arc<Seen>>>,
    before: Vec<Option<Arc<Seen>>>,
    walks: u64,
    /// The texts of all that are seen, and of this walk so far.
    bytes: usize,
    walk_bytes: usize,
}

#[derive(Debug)]
struct Seen {
    /// Held, so that no other object takes its place.
    message: Py<PyAny>,
    parts: Vec<Part>,
    raw: Arc<str>,
    walk: AtomicU64,
}

/// A value, in the order of the walk.
#[derive(Debug)]
pub(crate) enum Part {
    Dict(usize),
    List(usize),
    /// An object of this class whose attributes follow, and for a model of pydantic what it holds besides.
    Object {
        class: Py<PyAny>,
        is_model: bool,
    },
    /// A key, or something that never changes.
    Leaf(Py<PyAny>),
}

impl Memory {
    /// Begins a walk over so many messages; what was not seen for long is forgotten, and much of it sooner.
    pub(crate) fn begin(&mut self, len: usize) {
        self.walks += 1;
        self.before = std::mem::replace(&mut self.now, Vec::with_capacity(len));
        let last_bytes = std::mem::take(&mut self.walk_bytes);
        if self.bytes > SMALL_BYTES.max(2 * last_bytes) {
            self.forget(KEPT_WALKS_OF_MANY_BYTES);
        } else if self.seen.len() > 2 * len + FEW {
            self.forget(KEPT_WALKS);
        }
    }

    /// Keeps what was seen in the last so many walks.
    fn forget(&mut self, walks: u64) {
        let oldest = self.walks.saturating_sub(walks);
        self.seen.retain(|_, seen| seen.walk.load(Ordering::Relaxed) >= oldest);
        self.bytes = self.seen.values().map(|seen| seen.raw.len()).sum();
    }

    /// The text of a message that is as it was: at its place in the walk before, or wherever this object was seen.
    pub(crate) fn recall(
        &mut self,
        place: usize,
        message: &Bound<'_, PyAny>,
        reads: &[Bound<'_, PyString>],
    ) -> Option<Arc<str>> {
        let is_as_it_was = |seen: &&Arc<Seen>| is_same_message(message, reads, &seen.parts);
        let at_place = self.before.get(place).and_then(Option::as_ref).filter(is_as_it_was);
        let object = || self.seen.get(&(message.as_ptr() as usize)).filter(is_as_it_was);
        let seen = at_place.or_else(object)?.clone();
        seen.walk.store(self.walks, Ordering::Relaxed);
        let raw = seen.raw.clone();
        self.walk_bytes += raw.len();
        self.now.push(Some(seen));
        Some(raw)
    }

    /// Remembers what a message came to, where that can be told by its parts, and gives the text that is held then.
    pub(crate) fn note(&mut self, message: &Bound<'_, PyAny>, parts: Option<Vec<Part>>, raw: &str) -> Option<Arc<str>> {
        let seen = parts.map(|parts| {
            let walk = AtomicU64::new(self.walks);
            Arc::new(Seen { message: message.clone().unbind(), parts, raw: raw.into(), walk })
        });
        if let Some(seen) = &seen {
            let other = self.seen.insert(message.as_ptr() as usize, seen.clone());
            self.bytes = (self.bytes + raw.len()).saturating_sub(other.map_or(0, |other| other.raw.len()));
            self.walk_bytes += raw.len();
        }
        let raw = seen.as_ref().map(|seen| seen.raw.clone());
        self.now.push(seen);
        raw
    }

    /// Shows the collector what is held. What is remembered by its place only is held no longer than until the next walk.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.seen.values().try_for_each(|seen| {
            visit.call(&seen.message)?;
            seen.parts.iter().try_for_each(|part| match part {
                Part::Leaf(held) | Part::Object { class: held, .. } => visit.call(held),
                Part::Dict(_) | Part::List(_) => Ok(()),
            })
        })
    }
}

fn is_same_message(message: &Bound<'_, PyAny>, reads: &[Bound<'_, PyString>], parts: &[Part]) -> bool {
    let parts = &mut parts.iter();
    if reads.is_empty() {
        return is_same(message, parts);
    }
    let is_class = matches!(parts.next(), Some(Part::Object { class, .. }) if message.get_type().is(class));
    is_class && read(message, reads).is_some_and(|mut values| values.all(|value| is_same(&value, parts)))
}

fn is_same(value: &Bound<'_, PyAny>, parts: &mut Iter<'_, Part>) -> bool {
    match parts.next() {
        Some(Part::Leaf(known)) => value.is(known) || is_same_text(value, known),
        Some(Part::Dict(len)) => value.cast_exact::<PyDict>().is_ok_and(|dict| {
            let mut members = dict.iter();
            dict.len() == *len && members.all(|(key, value)| is_same(&key, parts) && is_same(&value, parts))
        }),
        Some(Part::List(len)) => value
            .cast_exact::<PyList>()
            .is_ok_and(|list| list.len() == *len && list.iter().all(|item| is_same(&item, parts))),
        Some(Part::Object { class, is_model }) => {
            value.get_type().is(class)
                && attributes(value).is_ok_and(|attributes| is_same(&attributes, parts))
                && (!is_model || more(value).is_ok_and(|more| is_same(&more, parts)))
        }
        None => false,
    }
}

/// Whether both are texts, and read the same. Other values that are equal may be written differently.
fn is_same_text(value: &Bound<'_, PyAny>, known: &Py<PyAny>) -> bool {
    let is_text = |value: &Bound<'_, PyAny>| value.is_exact_instance_of::<PyString>();
    let known = known.bind(value.py());
    is_text(value) && is_text(known) && value.eq(known).unwrap_or_default()
}

/// The parts of a message, of an object those that are read; nothing where one may change without being replaced.
pub(crate) fn parts_of(message: &Bound<'_, PyAny>, reads: &[Bound<'_, PyString>]) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    if !reads.is_empty() {
        parts.push(Part::Object { class: message.get_type().into_any().unbind(), is_model: false });
        read(message, reads)?.try_for_each(|value| take_apart(&value, &mut parts, 0))?;
        return Some(parts);
    }
    // A message that is a text costs no more to read than to recall.
    if never_changes(message) {
        return None;
    }
    take_apart(message, &mut parts, 0)?;
    Some(parts)
}

fn take_apart(value: &Bound<'_, PyAny>, parts: &mut Vec<Part>, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    if let Ok(dict) = value.cast_exact::<PyDict>() {
        parts.push(Part::Dict(dict.len()));
        return dict.iter().try_for_each(|(key, value)| {
            take_apart(&key, parts, depth + 1)?;
            take_apart(&value, parts, depth + 1)
        });
    }
    if let Ok(list) = value.cast_exact::<PyList>() {
        parts.push(Part::List(list.len()));
        return list.iter().try_for_each(|item| take_apart(&item, parts, depth + 1));
    }
    if never_changes(value) {
        parts.push(Part::Leaf(value.clone().unbind()));
        return Some(());
    }
    let class = value.get_type();
    let is_model = class.hasattr(intern!(value.py(), "__pydantic_extra__")).ok()?;
    if !is_model && !class.hasattr(intern!(value.py(), "__dataclass_fields__")).ok()? {
        return None;
    }
    let attributes = attributes(value).ok()?;
    parts.push(Part::Object { class: class.into_any().unbind(), is_model });
    take_apart(&attributes, parts, depth + 1)?;
    if is_model { take_apart(&more(value).ok()?, parts, depth + 1) } else { Some(()) }
}

/// Some attributes of an object; nothing in place of those that it does not have.
fn read<'r, 'py>(
    message: &Bound<'py, PyAny>,
    reads: &'r [Bound<'py, PyString>],
) -> Option<impl Iterator<Item = Bound<'py, PyAny>> + use<'r, 'py>> {
    let attributes = attributes(message).ok()?.cast_into::<PyDict>().ok()?;
    let none = message.py().None().into_bound(message.py());
    Some(reads.iter().map(move |name| attributes.get_item(name).ok().flatten().unwrap_or_else(|| none.clone())))
}

/// What an object of a dataclass or a model consists of.
fn attributes<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value.getattr(intern!(value.py(), "__dict__"))
}

/// What a model was given beyond its fields.
fn more<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    value.getattr(intern!(value.py(), "__pydantic_extra__"))
}

fn never_changes(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_none()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBytes>()
        || is_constant(value).unwrap_or_default()
}

/// Whether this is a member of an enumeration, or a moment.
fn is_constant(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = value.py();
    let enumeration = py.import(intern!(py, "enum"))?.getattr(intern!(py, "Enum"))?;
    let moment = py.import(intern!(py, "datetime"))?.getattr(intern!(py, "datetime"))?;
    Ok(value.is_instance(&enumeration)? || value.get_type().is(&moment))
}
