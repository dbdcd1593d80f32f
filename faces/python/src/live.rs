//! A window of the engine, with the objects that its messages came as.

use crate::errors;
use crate::input::{Sent, list_of};
use crate::settings::{Resolved, Settings};
use crate::walk::Walked;
use louver::window::Origin;
use louver::wire::PartKind;
use louver::{Body, Error, Format, JsonError, Message, Usage};
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::sync::Arc;

/// A conversation: the engine's window, and an object for each message of its log.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) window: louver::Window,
    pub(crate) objects: Vec<Py<PyAny>>,
    /// What stood around the last request, as JSON text.
    frame: Option<String>,
    pub(crate) warning: Option<String>,
}

/// What stands around a history: a request without it.
#[derive(Debug)]
pub(crate) struct Frame {
    text: String,
    pub(crate) body: Body,
}

impl Frame {
    pub(crate) fn read(py: Python<'_>, text: String, format: Format) -> PyResult<Self> {
        let body = Body::parse(&text, Some(format)).map_err(|error| errors::json(py, &error))?;
        Ok(Self { text, body })
    }
}

impl Live {
    pub(crate) fn new(py: Python<'_>, resolved: Resolved, frame: Option<&Frame>) -> PyResult<Self> {
        let config = match frame {
            Some(frame) => resolved.config.with_frame(&frame.body),
            None => resolved.config,
        };
        let window = louver::Window::new(config).map_err(|error| errors::settings(py, error))?;
        let frame = frame.map(|frame| frame.text.clone());
        Ok(Self { window, objects: Vec::new(), frame, warning: resolved.warning })
    }

    /// How many messages stand at the beginning of both.
    pub(crate) fn common(&self, walked: &Walked) -> usize {
        let is_same = |index: &usize| self.window.original(*index).is_some_and(|own| own.raw() == walked.raw(*index));
        (0..walked.len().min(self.window.len())).take_while(is_same).count()
    }

    /// The same conversation as it was after so many messages: what was decided by then stands.
    pub(crate) fn rewound(&self, py: Python<'_>, len: usize) -> Result<Self, Error> {
        let mut log = self.window.log();
        log.messages.truncate(len);
        log.events.retain(|(at, _)| *at <= len);
        let window = louver::Window::restore(self.window.config().clone(), log)?;
        let objects = self.objects.iter().take(len).map(|object| object.clone_ref(py)).collect();
        Ok(Self { window, objects, frame: self.frame.clone(), warning: self.warning.clone() })
    }

    /// Appends what stands behind the first so many messages. Nothing is appended where one cannot be read.
    pub(crate) fn append(&mut self, py: Python<'_>, walked: Walked, common: usize) -> PyResult<()> {
        let format = self.window.format();
        let window = &mut self.window;
        let appended: Result<Walked, (usize, JsonError)> = py.detach(|| {
            let read = |index| Message::parse(format, walked.raw(index)).map(Arc::new).map_err(|error| (index, error));
            let messages = (common..walked.len()).map(read).collect::<Result<Vec<_>, _>>()?;
            for message in messages {
                window.push(message);
            }
            Ok(walked)
        });
        let walked = appended.map_err(|(index, error)| {
            let path = error.path().replacen('$', &format!("$[{index}]"), 1);
            errors::input(py, &error.to_string().replacen('$', &format!("$[{index}]"), 1), &path, Some(error.offset()))
        })?;
        self.objects = walked.objects;
        Ok(())
    }

    /// Appends one message.
    pub(crate) fn push(&mut self, py: Python<'_>, walked: Walked) -> PyResult<usize> {
        let message = Message::parse(self.window.format(), walked.raw(0)).map_err(|error| errors::json(py, &error))?;
        let window = &mut self.window;
        let index = py.detach(|| window.push(message));
        self.objects.extend(walked.objects);
        Ok(index)
    }

    /// Counts what stands around the history now, where that has changed.
    pub(crate) fn reframe(&mut self, py: Python<'_>, settings: &Settings, frame: &Frame) -> PyResult<()> {
        if self.frame.as_deref() == Some(&*frame.text) {
            return Ok(());
        }
        let resolved = settings.resolve(py, &frame.body)?;
        if self.window.is_empty() {
            *self = Self::new(py, resolved, Some(frame))?;
            return Ok(());
        }
        let config = resolved.config.with_frame(&frame.body);
        self.window.refigure(config.budget, config.economy, config.overhead);
        self.frame = Some(frame.text.clone());
        Ok(())
    }

    /// Whether the provider holds part of the history, so that nothing may be left out here.
    pub(crate) fn is_server_side(&self, frame: Option<&Frame>) -> bool {
        let is_reference = |index| self.window.original(index).is_some_and(|own| own.shape().has(PartKind::Reference));
        let may_refer = self.window.format() == Format::OpenAiResponses;
        let has_reference = || may_refer && (0..self.window.len()).any(is_reference);
        frame.is_some_and(|frame| frame.body.is_server_side()) || has_reference()
    }

    pub(crate) fn fit(&mut self, py: Python<'_>) -> PyResult<louver::Fit> {
        let window = &mut self.window;
        py.detach(|| window.fit()).map_err(|overflow| errors::overflow(py, &overflow))
    }

    /// The view: which messages of the log it has, and what is ours or changed.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        let view = self.window.view();
        view.iter().map(|sent| sent_of(sent.origin, sent.message)).collect()
    }

    /// The view as objects.
    pub(crate) fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let objects: Vec<_> = self.objects.iter().map(|object| object.bind(py).clone()).collect();
        list_of(py, &self.sent(), &objects)
    }

    /// Tells what the provider counted for the last request.
    pub(crate) fn report_usage(&mut self, usage: Usage) -> &'static str {
        use louver::tokens::Verdict;
        match self.window.report_usage(usage) {
            Verdict::Used => "used",
            Verdict::TooSmall => "too-small",
            Verdict::Unbelievable => "unbelievable",
            Verdict::Outlier => "outlier",
            _ => "unknown",
        }
    }
}

pub(crate) fn sent_of(origin: Origin, message: &Message) -> Sent {
    match origin {
        Origin::Kept(index) => Sent::Same(index),
        other => Sent::New { raw: message.raw().to_owned(), like: other.index() },
    }
}

/// What a provider counted: a number of tokens, or the provider's own answer.
pub(crate) fn usage_of(format: Format, given: &Bound<'_, PyAny>) -> PyResult<Option<Usage>> {
    if let Ok(tokens) = given.extract::<u64>() {
        return Ok(Some(Usage::of_input(tokens)));
    }
    let walked = Walked::message(given)?;
    Ok(Usage::from_response(format, walked.raw(0)))
}
