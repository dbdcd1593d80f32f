//! A window, as Python sees it.

use crate::errors;
use crate::fit::{Fit, Job};
use crate::input::from_json;
use crate::live::{Frame, Live, usage_of};
use crate::settings::Settings;
use crate::walk::{Walked, as_bytes, frame_to_json, is_list};
use louver::{Record, Summary};
use pyo3::exceptions::PyTypeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A conversation that is pushed to, fitted and viewed, and that can give back everything it left out.
#[pyclass(frozen, module = "louver")]
#[derive(Debug)]
pub(crate) struct Window {
    settings: Settings,
    live: Mutex<Live>,
}

impl Window {
    fn live(&self, py: Python<'_>) -> MutexGuard<'_, Live> {
        self.live.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings the log in line with a history that was handed over whole: what stands as before is taken over, the rest is
    /// read. Where it differs, the window goes back to there.
    fn follow(py: Python<'_>, live: &mut Live, walked: Walked) -> PyResult<()> {
        let common = py.detach(|| live.common(&walked));
        if common < live.window.len() {
            let mut rewound = live.rewound(py, common).map_err(|error| errors::window(py, &error))?;
            rewound.append(py, walked, common)?;
            *live = rewound;
            return Ok(());
        }
        live.append(py, walked, common)
    }

    fn make(py: Python<'_>, model: Option<String>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<(Settings, Live)> {
        let settings = Settings::read(settings)?.or_model(model);
        let resolved = settings.resolve_for(py, settings.wire_format(py)?, None, None)?;
        let live = Live::new(py, resolved, None)?;
        Ok((settings, live))
    }
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (model=None, **settings))]
    fn new(py: Python<'_>, model: Option<String>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (settings, live) = Self::make(py, model, settings)?;
        Ok(Self { settings, live: Mutex::new(live) })
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
        let (settings, mut live) = Self::make(py, model, settings)?;
        let records =
            records.into_iter().map(|line| serde_json::from_str::<Record>(&line)).collect::<Result<Vec<_>, _>>();
        let records = records.map_err(|error| errors::record(py, error))?;
        let config = live.window.config().clone();
        let opened = py.detach(|| louver::Window::open(config, records));
        live.window = opened.map_err(|error| errors::window(py, &error))?;
        let messages = (0..live.window.len()).filter_map(|index| live.window.original(index));
        live.objects = messages.map(|message| Ok(from_json(py, message.raw())?.unbind())).collect::<PyResult<_>>()?;
        Ok(Self { settings, live: Mutex::new(live) })
    }

    /// Appends a message and returns its index in the log.
    fn push(&self, message: &Bound<'_, PyAny>) -> PyResult<usize> {
        let walked = Walked::message(message)?;
        self.live(message.py()).push(message.py(), walked)
    }

    /// Appends messages; none where one of them cannot be read.
    fn extend(&self, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = messages.py();
        let new: Vec<Bound<'_, PyAny>> = messages.try_iter()?.collect::<PyResult<_>>()?;
        let walked = new.iter().map(Walked::message).collect::<PyResult<Vec<_>>>()?;
        let mut live = self.live(py);
        let format = live.window.format();
        for walked in &walked {
            louver::Message::parse(format, walked.raw(0)).map_err(|error| errors::json(py, &error))?;
        }
        walked.into_iter().try_for_each(|walked| live.push(py, walked).map(drop))
    }

    /// Makes the view keep the policy's promise. Call it before each request.
    fn fit(&self, py: Python<'_>) -> PyResult<Fit> {
        Ok(self.live(py).fit(py)?.into())
    }

    /// What is sent: the objects that were pushed, and messages of Louver's own.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.live(py).view(py)
    }

    /// The view of a history that is handed over whole, as frameworks do: a list of messages, or a request as a dict.
    fn view_of<'py>(&self, history: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = history.py();
        // What is walked over may call back: the window is not held meanwhile.
        let format = self.live(py).window.format();
        let (walked, frame) = walk_request(history, format)?;
        let mut live = self.live(py);
        if let Some(frame) = &frame {
            live.reframe(py, &self.settings, frame)?;
        }
        Self::follow(py, &mut live, walked)?;
        if live.is_server_side(frame.as_ref()) {
            return Ok(history.clone());
        }
        live.fit(py)?;
        let key = live.window.format().history_key();
        with_history(history, key, live.view(py)?)
    }

    /// Tells what the provider counted for the last request: a number, or its answer.
    fn report_usage(&self, usage: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let py = usage.py();
        let format = self.live(py).window.format();
        let usage = usage_of(format, usage)?;
        Ok(usage.map(|usage| self.live(py).report_usage(usage)))
    }

    /// Tells that the provider's cache has expired, so that a cut costs nothing.
    fn cache_expired(&self, py: Python<'_>) {
        self.live(py).window.cache_expired();
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
        let summary = Summary::new(summary).with_usage(input_tokens, output_tokens);
        self.live(py).window.answer(job.get().id, Ok(summary)).into()
    }

    /// Says that a job came to nothing; what it covers waits for the next.
    fn fail(&self, py: Python<'_>, job: &Bound<'_, Job>, reason: String) -> Fit {
        self.live(py).window.answer(job.get().id, Err(reason)).into()
    }

    /// The job that waits for its answer.
    #[getter]
    fn open_job(&self, py: Python<'_>) -> Option<Job> {
        self.live(py).window.open_job().cloned().map(Job::from)
    }

    /// What was appended since there were so many records: lines from which `open` gives the window back.
    #[pyo3(signature = (since=0))]
    fn records(&self, py: Python<'_>, since: usize) -> PyResult<Vec<String>> {
        let live = self.live(py);
        let lines = live.window.records_since(since).map(|record| serde_json::to_string(&record));
        lines.collect::<Result<_, _>>().map_err(|error| errors::record(py, error))
    }

    /// Everything that was left out or changed: index and object, as it came in.
    fn left_out<'py>(&self, py: Python<'py>) -> Vec<(usize, Bound<'py, PyAny>)> {
        let live = self.live(py);
        live.window.left_out().map(|(index, _)| (index, live.objects[index].bind(py).clone())).collect()
    }

    /// The messages behind an address such as `12` or `[louver:3-17]`, as they came in.
    fn recall<'py>(&self, py: Python<'py>, address: &str) -> PyResult<Vec<(usize, Bound<'py, PyAny>)>> {
        let address: louver::address::Address = address.parse().map_err(|error| errors::settings(py, error))?;
        let live = self.live(py);
        let found = live.window.recall(&address).map_err(|error| errors::settings(py, error))?;
        Ok(found.iter().map(|(index, _)| (*index, live.objects[*index].bind(py).clone())).collect())
    }

    /// Every message that was pushed.
    #[getter]
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.live(py).objects.iter().map(|object| object.bind(py)))
    }

    /// What is sent now, in tokens, system and tools included.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> u64 {
        self.live(py).window.tokens()
    }

    /// What sending everything would come to.
    #[getter]
    fn log_tokens(&self, py: Python<'_>) -> u64 {
        self.live(py).window.log_tokens()
    }

    /// What the budget allows, where the policy has one.
    #[getter]
    fn allowed_tokens(&self, py: Python<'_>) -> Option<u64> {
        self.live(py).window.budget().map(louver::Budget::allowed_tokens)
    }

    #[getter]
    fn format(&self, py: Python<'_>) -> &'static str {
        self.live(py).window.format().name()
    }

    #[getter]
    fn policy(&self, py: Python<'_>) -> String {
        self.live(py).window.policy_name().to_owned()
    }

    /// The summary that stands in the view.
    #[getter]
    fn summary(&self, py: Python<'_>) -> Option<String> {
        self.live(py).window.summary().map(str::to_owned)
    }

    /// What the catalogue did not know of the model.
    #[getter]
    fn warning(&self, py: Python<'_>) -> Option<String> {
        self.live(py).warning.clone()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.live(py).window.len()
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let live = self.live(py);
        let (policy, format) = (live.window.policy_name(), live.window.format());
        format!("<louver.Window: {format}, {policy}, {} messages, {} tokens>", live.window.len(), live.window.tokens())
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A window in use is reachable anyway.
        let Ok(live) = self.live.try_lock() else { return Ok(()) };
        live.objects.iter().try_for_each(|object| visit.call(object))
    }
}

/// A list of messages, or a request with what stands around its history.
pub(crate) fn walk_request(history: &Bound<'_, PyAny>, format: louver::Format) -> PyResult<(Walked, Option<Frame>)> {
    let key = format.history_key();
    if is_list(history) {
        return Ok((Walked::history(history)?, None));
    }
    let Ok(body) = history.cast::<PyDict>() else {
        let hint = if as_bytes(history)?.is_some() { " (`louver.trim` takes bytes)" } else { "" };
        return Err(PyTypeError::new_err(format!("expected a list of messages, or a request as a dict{hint}")));
    };
    let frame = Frame::read(history.py(), frame_to_json(body, key)?, format)?;
    let walked = match body.get_item(key)? {
        Some(list) if is_list(&list) => Walked::history(&list)?,
        _ => Walked::default(),
    };
    Ok((walked, Some(frame)))
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
