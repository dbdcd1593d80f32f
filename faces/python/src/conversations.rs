//! Many conversations behind one client: each request finds its own.

use crate::errors;
use crate::fit::Fit;
use crate::input::Sent;
use crate::live::{Frame, Live, usage_of};
use crate::settings::Settings;
use crate::walk::Walked;
use crate::window::{walk_request, with_history};
use louver::Format;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Windows for requests that carry their whole history and say nothing of the conversation they belong to.
///
/// A request goes on with the conversation whose log it begins with. One that leaves a known path on the way begins a
/// branch: what was decided up to there stands.
#[pyclass(frozen, module = "louver")]
#[derive(Debug)]
pub(crate) struct Conversations {
    settings: Settings,
    format: Format,
    max_conversations: usize,
    known: Mutex<Known>,
}

/// The conversations, the one that was asked last at the end.
#[derive(Debug, Default)]
struct Known {
    conversations: Vec<Conversation>,
    next_id: u64,
}

#[derive(Debug)]
struct Conversation {
    id: u64,
    model: Option<String>,
    live: Live,
}

/// One request as it may be sent.
#[pyclass(frozen, get_all, module = "louver")]
#[derive(Debug)]
pub(crate) struct Turn {
    /// The request, in the form it came in.
    request: Py<PyAny>,
    /// For each message of the view the index in the history it was given for, if any, and whether it is as it was.
    origins: Vec<(Option<usize>, bool)>,
    /// What was done.
    fit: Option<Fit>,
    /// The conversation it belongs to.
    conversation: u64,
}

impl Conversations {
    fn known(&self, py: Python<'_>) -> MutexGuard<'_, Known> {
        self.known.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation that the request goes on with, at the end of the list.
    fn meet(&self, py: Python<'_>, known: &mut Known, walked: &Walked, frame: Option<&Frame>) -> PyResult<usize> {
        let model = frame.and_then(|frame| frame.body.model());
        let begins_alike = |conversation: &Conversation| match conversation.model.as_deref() == model {
            true => conversation.live.common(walked),
            false => 0,
        };
        let best =
            py.detach(|| known.conversations.iter().map(begins_alike).enumerate().max_by_key(|(_, common)| *common));
        let (conversation, common) = match best.filter(|(_, common)| *common > 0) {
            Some((place, common)) if common == known.conversations[place].live.window.len() => {
                (known.conversations.remove(place), common)
            }
            Some((place, common)) => {
                let live = known.conversations[place].live.rewound(py, common);
                let live = live.map_err(|error| errors::window(py, &error))?;
                (known.begin(model, live), common)
            }
            None => {
                let reply = frame.and_then(|frame| frame.body.max_output());
                let resolved = self.settings.resolve_for(py, self.format, model, reply)?;
                (known.begin(model, Live::new(py, resolved, frame)?), 0)
            }
        };
        known.conversations.push(conversation);
        if known.conversations.len() > self.max_conversations {
            known.conversations.remove(0);
        }
        Ok(common)
    }
}

impl Known {
    fn begin(&mut self, model: Option<&str>, live: Live) -> Conversation {
        self.next_id += 1;
        Conversation { id: self.next_id, model: model.map(str::to_owned), live }
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
        let settings = Settings::read(settings)?.or_model(model);
        let format = settings.wire_format(py)?;
        let max_conversations = max_conversations.max(1);
        Ok(Self { settings, format, max_conversations, known: Mutex::default() })
    }

    /// The request as it may be sent: a list of messages, or a request as a dict. What came in stays as it is.
    fn fit(&self, request: &Bound<'_, PyAny>) -> PyResult<Turn> {
        let py = request.py();
        let (walked, frame) = walk_request(request, self.format)?;
        let mut known = self.known(py);
        let common = self.meet(py, &mut known, &walked, frame.as_ref())?;
        let last = known.conversations.last_mut();
        let Conversation { id, live, .. } = last.ok_or_else(|| errors::settings(py, "no conversation"))?;
        if let Some(frame) = &frame {
            live.reframe(py, &self.settings, frame)?;
        }
        live.append(py, walked, common)?;
        if live.is_server_side(frame.as_ref()) {
            let origins = (0..live.window.len()).map(|index| (Some(index), true)).collect();
            return Ok(Turn { request: request.clone().unbind(), origins, fit: None, conversation: *id });
        }
        let fit = Some(live.fit(py)?.into());
        let origins = live.sent().iter().map(origin).collect();
        let view = with_history(request, self.format.history_key(), live.view(py)?)?;
        Ok(Turn { request: view.unbind(), origins, fit, conversation: *id })
    }

    /// Tells what the provider counted for a request: a number, or its answer.
    fn report_usage(&self, turn: &Bound<'_, Turn>, usage: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
        let usage = usage_of(self.format, usage)?;
        let mut known = self.known(turn.py());
        let asked = known.conversations.iter_mut().find(|conversation| conversation.id == turn.get().conversation);
        Ok(asked.zip(usage).map(|(conversation, usage)| conversation.live.report_usage(usage)))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.known(py).conversations.len()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is in use is reachable anyway.
        let Ok(known) = self.known.try_lock() else { return Ok(()) };
        let mut objects = known.conversations.iter().flat_map(|conversation| &conversation.live.objects);
        objects.try_for_each(|object| visit.call(object))
    }
}

fn origin(sent: &Sent) -> (Option<usize>, bool) {
    match sent {
        Sent::Same(index) => (Some(*index), true),
        Sent::New { like, .. } => (*like, false),
    }
}
