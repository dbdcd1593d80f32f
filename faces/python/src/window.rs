//! A window, as Python sees it.

use crate::errors;
use crate::fit::{Fit, Job};
use crate::input::{from_json, list_of};
use crate::memory::Memory;
use crate::walk::{Walked, Wire, as_bytes, frame_to_json, is_list, to_json};
use louver::{Format, Usage};
use louver_face::{Fault, Frame, Live, Settings};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use serde_json::{Map, Value};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A conversation that is pushed to, fitted and viewed, and that can give back everything it left out.
#[pyclass(frozen, module = "louver")]
#[derive(Debug)]
pub(crate) struct Window {
    settings: Settings,
    kept: Mutex<Kept>,
    memory: Mutex<Memory>,
}

/// The window, and an object for each message of its log.
#[derive(Debug)]
struct Kept {
    live: Live,
    objects: Vec<Py<PyAny>>,
}

impl Kept {
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let objects: Vec<_> = self.objects.iter().map(|object| object.bind(py).clone()).collect();
        list_of(py, &self.live.sent(), &objects, None)
    }

    fn at<'py>(&self, py: Python<'py>, indices: Vec<usize>) -> Vec<(usize, Bound<'py, PyAny>)> {
        indices.into_iter().map(|index| (index, self.objects[index].bind(py).clone())).collect()
    }
}

impl Window {
    fn kept(&self, py: Python<'_>) -> MutexGuard<'_, Kept> {
        self.kept.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Something that the window alone does, without the interpreter's lock.
    fn detached<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Live) -> Result<T, Fault> + Send,
    ) -> PyResult<T> {
        let mut kept = self.kept(py);
        let live = &mut kept.live;
        py.detach(|| work(live)).map_err(|fault| errors::raised(py, fault))
    }

    fn make(
        py: Python<'_>,
        model: Option<String>,
        settings: Option<&Bound<'_, PyDict>>,
        make: impl FnOnce(louver_face::Resolved) -> Result<Live, Fault> + Send,
    ) -> PyResult<(Settings, Live)> {
        let settings = settings_of(py, model, settings)?;
        let resolved = settings.wire_format().and_then(|format| settings.resolve_for(format, None, None));
        // Records may be many.
        let live = py.detach(|| resolved.and_then(make)).map_err(|fault| errors::raised(py, fault))?;
        Ok((settings, live))
    }
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (model=None, **settings))]
    fn new(py: Python<'_>, model: Option<String>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (settings, live) = Self::make(py, model, settings, |resolved| Live::new(resolved, None))?;
        Ok(Self { settings, kept: Mutex::new(Kept { live, objects: Vec::new() }), memory: Mutex::default() })
    }

    /// The window of some records: its recorded decisions hold, whatever is set here.
    #[classmethod]
    #[pyo3(signature = (records, model=None, **settings))]
    fn open(
        _class: &Bound<'_, PyType>,
        py: Python<'_>,
        records: Vec<String>,
        model: Option<String>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let (settings, live) = Self::make(py, model, settings, |resolved| Live::open(resolved, records))?;
        let messages = (0..live.window().len()).filter_map(|index| live.window().original(index));
        let objects = messages.map(|message| Ok(from_json(py, message.raw())?.unbind())).collect::<PyResult<_>>()?;
        Ok(Self { settings, kept: Mutex::new(Kept { live, objects }), memory: Mutex::default() })
    }

    /// Appends a message and returns its index in the log.
    fn push(&self, message: &Bound<'_, PyAny>) -> PyResult<usize> {
        let (py, walked) = (message.py(), Walked::message(message)?);
        let mut kept = self.kept(py);
        let live = &mut kept.live;
        let index = py.detach(|| live.push(walked.texts.raw(0))).map_err(|fault| errors::raised(py, fault))?;
        kept.objects.extend(walked.objects);
        Ok(index)
    }

    /// Appends messages; none where one of them cannot be read.
    fn extend(&self, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, walked) = (messages.py(), Walked::history(messages, &mut Memory::default(), &Wire::default())?);
        let mut kept = self.kept(py);
        let live = &mut kept.live;
        py.detach(|| live.extend(&walked.texts)).map_err(|fault| errors::raised(py, fault))?;
        kept.objects.extend(walked.objects);
        Ok(())
    }

    /// Makes the view keep the policy's promise. Call it before each request.
    fn fit(&self, py: Python<'_>) -> PyResult<Fit> {
        Ok(self.detached(py, Live::fit)?.into())
    }

    /// What is sent: the objects that were pushed, and messages of Louver's own.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.kept(py).view(py)
    }

    /// The view of a history that is handed over whole, as frameworks do: a list of messages, or a request as a dict.
    fn view_of<'py>(&self, history: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = history.py();
        // What is walked over may call back: the window is not held meanwhile.
        let format = self.kept(py).live.window().format();
        let (walked, frame) = walk_request(history, format, &self.memory, &Wire::default())?;
        let mut kept = self.kept(py);
        let live = &mut kept.live;
        let taken = py.detach(|| live.take(&self.settings, &walked.texts, frame.as_ref()));
        // Also where it cannot be made to fit, these are the messages of the log now.
        if matches!(taken, Ok(_) | Err(Fault::Overflow(_))) {
            kept.objects = walked.objects;
        }
        match taken.map_err(|fault| errors::raised(py, fault))? {
            Some(_) => with_history(history, format.history_key(), kept.view(py)?),
            None => Ok(history.clone()),
        }
    }

    /// Tells what the provider counted for the last request: a number, or its answer.
    fn report_usage(&self, usage: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let py = usage.py();
        let format = self.kept(py).live.window().format();
        let usage = usage_of(format, usage)?;
        Ok(usage.map(|usage| self.kept(py).live.report_usage(usage)))
    }

    /// Tells that the provider's cache has expired, so that a cut costs nothing.
    fn cache_expired(&self, py: Python<'_>) {
        self.kept(py).live.cache_expired();
    }

    /// Takes the text that a model wrote for a job, now or many turns later.
    #[pyo3(signature = (job, summary, *, input_tokens=0, output_tokens=0))]
    fn answer(
        &self,
        py: Python<'_>,
        job: &Bound<'_, Job>,
        summary: &str,
        input_tokens: u64,
        output_tokens: u64,
    ) -> Fit {
        self.kept(py).live.answer(job.get().id, summary, input_tokens, output_tokens).into()
    }

    /// Says that a job came to nothing; what it covers waits for the next.
    fn fail(&self, py: Python<'_>, job: &Bound<'_, Job>, reason: String) -> Fit {
        self.kept(py).live.fail(job.get().id, reason).into()
    }

    /// The job that waits for its answer.
    #[getter]
    fn open_job(&self, py: Python<'_>) -> Option<Job> {
        self.kept(py).live.open_job().map(Job::from)
    }

    /// What was appended since there were so many records: lines from which `open` gives the window back. A `RecordError`
    /// where the history was changed since: then all of them have to be saved again.
    #[pyo3(signature = (since=0))]
    fn records(&self, py: Python<'_>, since: usize) -> PyResult<Vec<String>> {
        self.detached(py, |live| live.records(since))
    }

    /// Everything that was left out or changed: index and object, as it came in.
    fn left_out<'py>(&self, py: Python<'py>) -> Vec<(usize, Bound<'py, PyAny>)> {
        let kept = self.kept(py);
        kept.at(py, kept.live.left_out())
    }

    /// The messages behind an address such as `12` or `[louver:3-17]`, as they came in.
    fn recall<'py>(&self, py: Python<'py>, address: &str) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let kept = self.kept(py);
        let found = kept.live.recall(address).map_err(|fault| errors::raised(py, fault))?;
        Ok(kept.at(py, found))
    }

    /// Every message that was pushed.
    #[getter]
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.kept(py).objects.iter().map(|object| object.bind(py)))
    }

    /// What is sent now, in tokens, system and tools included.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> u64 {
        self.kept(py).live.window().tokens()
    }

    /// What sending everything would come to.
    #[getter]
    fn log_tokens(&self, py: Python<'_>) -> u64 {
        self.kept(py).live.window().log_tokens()
    }

    /// What the budget allows, where the policy has one.
    #[getter]
    fn allowed_tokens(&self, py: Python<'_>) -> Option<u64> {
        self.kept(py).live.window().budget().map(louver::Budget::allowed_tokens)
    }

    #[getter]
    fn format(&self, py: Python<'_>) -> &'static str {
        self.kept(py).live.window().format().name()
    }

    #[getter]
    fn policy(&self, py: Python<'_>) -> String {
        self.kept(py).live.window().policy_name().to_owned()
    }

    /// The summary that stands in the view.
    #[getter]
    fn summary(&self, py: Python<'_>) -> Option<String> {
        self.kept(py).live.window().summary().map(str::to_owned)
    }

    /// What the catalogue did not know of the model.
    #[getter]
    fn warning(&self, py: Python<'_>) -> Option<String> {
        self.kept(py).live.warning().map(str::to_owned)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.kept(py).live.window().len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let kept = self.kept(py);
        let window = kept.live.window();
        let (policy, format) = (window.policy_name(), window.format());
        format!("<louver.Window: {format}, {policy}, {} messages, {} tokens>", window.len(), window.tokens())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A window in use is reachable anyway.
        let Ok(kept) = self.kept.try_lock() else { return Ok(()) };
        kept.objects.iter().try_for_each(|object| visit.call(object))?;
        let Ok(memory) = self.memory.try_lock() else { return Ok(()) };
        memory.traverse(&visit)
    }
}

/// A list of messages, or a request with what stands around its history.
pub(crate) fn walk_request(
    history: &Bound<'_, PyAny>,
    format: Format,
    memory: &Mutex<Memory>,
    wire: &Wire<'_>,
) -> PyResult<(Walked, Option<Frame>)> {
    let key = format.history_key();
    if is_list(history) {
        return Ok((walk_history(history, memory, wire)?, None));
    }
    let Ok(body) = history.cast::<PyDict>() else {
        let hint = if as_bytes(history)?.is_some() { " (`louver.trim` takes bytes)" } else { "" };
        return Err(PyTypeError::new_err(format!("expected a list of messages, or a request as a dict{hint}")));
    };
    let frame = Frame::read(frame_to_json(body, key)?, format);
    let frame = frame.map_err(|fault| errors::raised(history.py(), fault))?;
    let walked = match body.get_item(key)? {
        Some(list) if is_list(&list) => walk_history(&list, memory, wire)?,
        _ => Walked::default(),
    };
    Ok((walked, Some(frame)))
}

/// What is walked over may call back, and threads share a window: the memory is taken out meanwhile. Whoever comes without
/// one walks over everything.
fn walk_history(list: &Bound<'_, PyAny>, memory: &Mutex<Memory>, wire: &Wire<'_>) -> PyResult<Walked> {
    let lock = || memory.lock_py_attached(list.py()).unwrap_or_else(PoisonError::into_inner);
    let mut taken = std::mem::take(&mut *lock());
    let walked = Walked::history(list, &mut taken, wire);
    *lock() = taken;
    walked
}

/// The same form with another history.
pub(crate) fn with_history<'py>(
    history: &Bound<'py, PyAny>,
    key: &str,
    view: Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyAny>> {
    if let Ok(body) = history.cast::<PyDict>() {
        let copy = body.copy()?;
        if body.get_item(key)?.is_some_and(|list| is_list(&list)) {
            copy.set_item(key, view)?;
        }
        return Ok(copy.into_any());
    }
    if history.is_instance_of::<PyTuple>() {
        return Ok(view.to_tuple().into_any());
    }
    Ok(view.into_any())
}

/// Keyword arguments as settings.
pub(crate) fn settings_of(
    py: Python<'_>,
    model: Option<String>,
    given: Option<&Bound<'_, PyDict>>,
) -> PyResult<Settings> {
    let settings = Settings::read(named(given)?).map_err(|fault| errors::raised(py, fault))?;
    Ok(settings.or_model(model))
}

/// Keyword arguments by their names.
pub(crate) fn named(given: Option<&Bound<'_, PyDict>>) -> PyResult<Map<String, Value>> {
    let Some(given) = given else { return Ok(Map::new()) };
    serde_json::from_str(&to_json(given)?).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// What a provider counted: a number of tokens, or the provider's own answer.
pub(crate) fn usage_of(format: Format, given: &Bound<'_, PyAny>) -> PyResult<Option<Usage>> {
    if let Ok(tokens) = given.extract::<u64>() {
        return Ok(Some(Usage::of_input(tokens)));
    }
    Ok(Usage::from_response(format, Walked::message(given)?.texts.raw(0)))
}
