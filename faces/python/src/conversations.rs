//! Many conversations behind one client: each request finds its own.

use crate::errors;
use crate::fit::Fit;
use crate::input::list_of;
use crate::memory::Memory;
use crate::walk::Wire;
use crate::window::{settings_of, usage_of, walk_request, with_history};
use louver::Format;
use louver_face::Sent;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyDict, PyString};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Windows for requests that carry their whole history and say nothing of the conversation they belong to.
///
/// A request goes on with the conversation whose log it begins with. One that leaves a known path on the way begins a
/// branch: what was decided up to there stands.
#[pyclass(frozen, module = "louver")]
#[derive(Debug)]
pub(crate) struct Conversations {
    format: Format,
    known: Mutex<louver_face::Conversations>,
    memory: Mutex<Memory>,
}

/// One request as it may be sent.
#[pyclass(frozen, get_all, module = "louver")]
#[derive(Debug)]
pub(crate) struct Turn {
    /// The request, in the form it came in.
    request: Py<PyAny>,
    /// For each message of the view the index in the history it was given for, if any, and whether it is as it was.
    origins: Vec<(Option<usize>, bool)>,
    /// Whether it is what was given.
    is_unchanged: bool,
    /// What was done.
    fit: Option<Fit>,
    /// The conversation it belongs to.
    conversation: u64,
}

impl Conversations {
    fn known(&self, py: Python<'_>) -> MutexGuard<'_, louver_face::Conversations> {
        self.known.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Conversations {
    #[new]
    #[pyo3(signature = (model=None, *, max_conversations=64, **settings))]
    fn new(
        py: Python<'_>,
        model: Option<String>,
        max_conversations: usize,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let settings = settings_of(py, model, settings)?;
        let known = louver_face::Conversations::new(settings, max_conversations);
        let known = known.map_err(|fault| errors::raised(py, fault))?;
        Ok(Self { format: known.format(), known: Mutex::new(known), memory: Mutex::default() })
    }

    /// The request as it may be sent: a list of messages, or a request as a dict. What came in stays as it is.
    ///
    /// Messages of a framework are given as they are: `wire` makes the format's dict of one, and is asked only for those
    /// that are new or have changed; where it reads only some of their attributes, `reads` names them. `make` makes one of
    /// the message that it was, if any, and of the dict that it became.
    #[pyo3(signature = (request, *, wire=None, reads=Vec::new(), make=None))]
    fn fit<'py>(
        &self,
        request: &Bound<'py, PyAny>,
        wire: Option<Bound<'py, PyAny>>,
        reads: Vec<Bound<'py, PyString>>,
        make: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Turn> {
        let py = request.py();
        let (walked, frame) = walk_request(request, self.format, &self.memory, &Wire { make: wire, reads })?;
        let mut known = self.known(py);
        let conversations = &mut *known;
        let asked = py.detach(|| conversations.fit(&walked.texts, frame.as_ref()));
        drop(known);
        let asked = asked.map_err(|fault| errors::raised(py, fault))?;
        let (fit, conversation) = (asked.fit.map(Fit::from), asked.conversation);
        let Some(view) = asked.view else {
            let origins = (0..asked.len).map(|index| (Some(index), true)).collect();
            let request = request.clone().unbind();
            return Ok(Turn { request, origins, is_unchanged: true, fit, conversation });
        };
        let objects: Vec<_> = walked.objects.into_iter().map(|object| object.into_bound(py)).collect();
        let sent = with_history(request, self.format.history_key(), list_of(py, &view, &objects, make)?)?;
        let origins: Vec<_> = view.iter().map(Sent::origin).collect();
        let is_unchanged = origins.len() == objects.len() && origins.iter().all(|(_, is_kept)| *is_kept);
        Ok(Turn { request: sent.unbind(), origins, is_unchanged, fit, conversation })
    }

    /// Tells what the provider counted for a request: a number, or its answer.
    fn report_usage(&self, turn: &Bound<'_, Turn>, usage: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let Some(usage) = usage_of(self.format, usage)? else { return Ok(None) };
        Ok(self.known(turn.py()).report_usage(turn.get().conversation, usage))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.known(py).len()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is in use is reachable anyway.
        let Ok(memory) = self.memory.try_lock() else { return Ok(()) };
        memory.traverse(&visit)
    }
}
