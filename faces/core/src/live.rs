//! A window of the engine over texts.

use crate::{Fault, Fit, Job, Resolved, Settings, Texts};
use louver::address::Address;
use louver::cache_mark::{may_be_marked, unmarked_form, without_cache_marks};
use louver::json::JsonError;
use louver::tokens::Verdict;
use louver::window::Origin;
use louver::wire::PartKind;
use louver::{Body, Format, Message, Record, Summary, Usage};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A conversation: the engine's window, and what stood around its last request.
#[derive(Debug)]
pub struct Live {
    window: louver::Window,
    /// What stood around the last request, as JSON text.
    frame: Option<String>,
    /// What the catalogue did not know of the model.
    warning: Option<String>,
    /// The texts that messages of the log came as, where others hold them, too: the same text need not be read again.
    came: Vec<Option<Arc<str>>>,
    /// Which messages of the log came with a cache mark. The log has none: clients move them on with each request.
    marked: Vec<bool>,
    /// Somebody may have so many of its records and no other ones: those behind were of a history that was left.
    told: AtomicUsize,
}

/// What stands around a history: a request without it.
#[derive(Debug)]
pub struct Frame {
    text: String,
    pub(crate) body: Body,
}

impl Frame {
    /// Reads a request whose history is empty.
    ///
    /// # Errors
    ///
    /// Where it is no request of the format.
    pub fn read(text: String, format: Format) -> Result<Self, Fault> {
        let body = Body::parse(&text, Some(format)).map_err(|error| Fault::from(&error))?;
        Ok(Self { text, body })
    }
}

/// One message of a view.
#[derive(Clone, Debug)]
pub enum Sent {
    /// As it came in, at this place.
    Same(usize),
    /// Ours, or changed.
    New {
        /// As JSON text.
        raw: String,
        /// The message that it was, if it was one.
        like: Option<usize>,
    },
}

impl Sent {
    pub(crate) fn of(origin: Origin, message: &Message) -> Self {
        match origin {
            Origin::Kept(index) => Self::Same(index),
            other => Self::New { raw: message.raw().to_owned(), like: other.index() },
        }
    }

    /// The message of the history that it is or was, if any, and whether it is as it was.
    pub fn origin(&self) -> (Option<usize>, bool) {
        match self {
            Self::Same(index) => (Some(*index), true),
            Self::New { like, .. } => (*like, false),
        }
    }
}

impl Live {
    /// A window without messages.
    ///
    /// # Errors
    ///
    /// Where the settings make none.
    pub fn new(resolved: Resolved, frame: Option<&Frame>) -> Result<Self, Fault> {
        let config = match frame {
            Some(frame) => resolved.config.with_frame(&frame.body),
            None => resolved.config,
        };
        let window = louver::Window::new(config).map_err(Fault::settings)?;
        Ok(Self {
            window,
            frame: frame.map(|frame| frame.text.clone()),
            warning: resolved.warning,
            came: Vec::new(),
            marked: Vec::new(),
            told: AtomicUsize::new(usize::MAX),
        })
    }

    /// The window of some records: its recorded decisions hold, whatever is set here.
    ///
    /// # Errors
    ///
    /// Where a line is no record, or none of this window.
    pub fn open(resolved: Resolved, records: Vec<String>) -> Result<Self, Fault> {
        let read = |line: String| serde_json::from_str::<Record>(&line);
        let records = records.into_iter().map(read).collect::<Result<Vec<_>, _>>();
        let window = louver::Window::open(resolved.config, records.map_err(Fault::record)?)?;
        let (came, marked, told) = (Vec::new(), Vec::new(), AtomicUsize::new(usize::MAX));
        Ok(Self { window, frame: None, warning: resolved.warning, came, marked, told })
    }

    /// The engine's window.
    pub fn window(&self) -> &louver::Window {
        &self.window
    }

    /// What the catalogue did not know of the model.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// How many messages stand at the beginning of both.
    pub(crate) fn common(&self, texts: &Texts) -> usize {
        let is_same = |index: &usize| {
            self.has_come(texts, *index)
                || self.window.original(*index).is_some_and(|own| self.is_same(*index, own.raw(), texts.raw(*index)))
        };
        (0..texts.len().min(self.window.len())).take_while(is_same).count()
    }

    /// Whether a message of the log says what this one does, wherever the client has its cache marks now.
    fn is_same(&self, index: usize, own: &str, raw: &str) -> bool {
        let may_be_marked = || self.marked.get(index) == Some(&true) || may_be_marked(raw) || may_be_marked(own);
        own == raw || may_be_marked() && unmarked_form(own) == unmarked_form(raw)
    }

    /// Whether a message of the log came as this very text.
    fn has_come(&self, texts: &Texts, index: usize) -> bool {
        let came = self.came.get(index).and_then(Option::as_ref);
        came.zip(texts.shared(index)).is_some_and(|(came, text)| Arc::ptr_eq(came, text))
    }

    /// The same conversation as it was after so many messages: what was decided by then stands.
    pub(crate) fn rewound(&self, len: usize) -> Result<Self, Fault> {
        let mut log = self.window.log();
        log.messages.truncate(len);
        log.events.retain(|(at, _)| *at <= len);
        let mut window = louver::Window::restore(self.window.config().clone(), log)?;
        // Summaries of what was left may still come.
        window.number_jobs_behind(&self.window);
        let came = self.came.iter().take(len).cloned().collect();
        let marked = self.marked.iter().take(len).copied().collect();
        let told = self.told.load(Ordering::Relaxed).min(1 + window.len() + window.events().len());
        let (frame, warning) = (self.frame.clone(), self.warning.clone());
        Ok(Self { window, frame, warning, came, marked, told: AtomicUsize::new(told) })
    }

    /// Appends what stands behind the first so many messages. Nothing is appended where one cannot be read.
    pub(crate) fn append(&mut self, texts: &Texts, common: usize) -> Result<(), Fault> {
        let read = |index| self.read(texts.raw(index)).map_err(|error| Fault::in_message(&error, index));
        for message in (common..texts.len()).map(read).collect::<Result<Vec<_>, _>>()? {
            self.add(message);
        }
        self.came.resize(texts.len(), None);
        for index in 0..texts.len() {
            if !self.has_come(texts, index) {
                self.came[index] = texts.shared(index).cloned();
            }
        }
        Ok(())
    }

    /// Reads a message without its cache marks, and says whether it had any.
    fn read(&self, raw: &str) -> Result<(Message, bool), JsonError> {
        let (format, bare) = (self.window.format(), without_cache_marks(raw));
        // A fault is told by its place in what came.
        let message = Message::parse(format, &bare).or_else(|_| Message::parse(format, raw))?;
        Ok((message, matches!(bare, Cow::Owned(_))))
    }

    fn add(&mut self, (message, is_marked): (Message, bool)) -> usize {
        let index = self.window.push(message);
        self.marked.resize(index, false);
        self.marked.push(is_marked);
        index
    }

    /// Brings the log in line with a history that was handed over whole: what stands as before is taken over, the rest is
    /// read. Where it differs, the window goes back to there.
    fn follow(&mut self, texts: &Texts) -> Result<(), Fault> {
        let common = self.common(texts);
        if common < self.window.len() {
            let mut rewound = self.rewound(common)?;
            rewound.append(texts, common)?;
            *self = rewound;
            return Ok(());
        }
        self.append(texts, common)
    }

    /// Fits a history that is handed over whole, with what stands around it. Nothing is done where the provider holds part
    /// of it.
    ///
    /// # Errors
    ///
    /// Where a message cannot be read, the settings come to nothing, or it cannot be made to fit.
    pub fn take(&mut self, settings: &Settings, texts: &Texts, frame: Option<&Frame>) -> Result<Option<Fit>, Fault> {
        if let Some(frame) = frame {
            self.reframe(settings, frame)?;
        }
        self.follow(texts)?;
        match self.is_server_side(frame) {
            true => Ok(None),
            false => self.fit().map(Some),
        }
    }

    /// Appends one message, and gives its index in the log.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    pub fn push(&mut self, raw: &str) -> Result<usize, Fault> {
        let message = self.read(raw).map_err(|error| Fault::from(&error))?;
        Ok(self.add(message))
    }

    /// Appends messages; none where one of them cannot be read.
    ///
    /// # Errors
    ///
    /// For the first that cannot be read.
    pub fn extend(&mut self, texts: &Texts) -> Result<(), Fault> {
        let read = |index| self.read(texts.raw(index)).map_err(|error| Fault::from(&error));
        for message in (0..texts.len()).map(read).collect::<Result<Vec<_>, _>>()? {
            self.add(message);
        }
        Ok(())
    }

    /// Counts what stands around the history now, where that has changed.
    pub(crate) fn reframe(&mut self, settings: &Settings, frame: &Frame) -> Result<(), Fault> {
        if self.frame.as_deref() == Some(&*frame.text) {
            return Ok(());
        }
        let resolved = settings.resolve(&frame.body)?;
        if self.window.is_empty() {
            let mut anew = Self::new(resolved, Some(frame))?;
            anew.window.number_jobs_behind(&self.window);
            *self = anew;
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

    /// Makes the view keep the policy's promise.
    ///
    /// # Errors
    ///
    /// Where that cannot be; nothing has changed then.
    pub fn fit(&mut self) -> Result<Fit, Fault> {
        self.window.fit().map(Fit::from).map_err(Fault::Overflow)
    }

    /// The view: which messages of the log it has, and what is ours or changed.
    pub fn sent(&self) -> Vec<Sent> {
        self.window.view().iter().map(|sent| Sent::of(sent.origin, sent.message)).collect()
    }

    /// Tells what the provider counted for the last request, and gives what became of it.
    pub fn report_usage(&mut self, usage: Usage) -> &'static str {
        match self.window.report_usage(usage) {
            Verdict::Used => "used",
            Verdict::TooSmall => "too-small",
            Verdict::Unbelievable => "unbelievable",
            Verdict::Outlier => "outlier",
            _ => "unknown",
        }
    }

    /// Tells that the provider's cache has expired, so that a cut costs nothing.
    pub fn cache_expired(&mut self) {
        self.window.cache_expired();
    }

    /// Takes the text that a model wrote for a job, and what that cost in tokens.
    pub fn answer(&mut self, job: u64, summary: &str, input_tokens: u64, output_tokens: u64) -> Fit {
        let summary = Summary::new(summary).with_usage(input_tokens, output_tokens);
        self.window.answer(job, Ok(summary)).into()
    }

    /// Says that a job came to nothing; what it covers waits for the next.
    pub fn fail(&mut self, job: u64, reason: String) -> Fit {
        self.window.answer(job, Err(reason)).into()
    }

    /// The job that waits for its answer.
    pub fn open_job(&self) -> Option<Job> {
        self.window.open_job().cloned().map(Job::from)
    }

    /// What was appended since there were so many records: lines from which [`Live::open`] gives the window back.
    ///
    /// # Errors
    ///
    /// Where a record cannot be written, or the history was changed or left since there were so many.
    pub fn records(&self, since: usize) -> Result<Vec<String>, Fault> {
        if since > self.told.load(Ordering::Relaxed) {
            return Err(Fault::Record(format!(
                "the history was changed since there were {since} records: save all of them again, from 0"
            )));
        }
        let lines = self.window.records_since(since).map(|record| serde_json::to_string(&record));
        let lines: Vec<String> = lines.collect::<Result<_, _>>().map_err(Fault::record)?;
        self.told.fetch_max(since.saturating_add(lines.len()), Ordering::Relaxed);
        Ok(lines)
    }

    /// Everything that was left out or changed, as indices of the log.
    pub fn left_out(&self) -> Vec<usize> {
        self.window.left_out().map(|(index, _)| index).collect()
    }

    /// The messages behind an address such as `12` or `[louver:3-17]`, as indices of the log.
    ///
    /// # Errors
    ///
    /// Where it is no address, or one of another window.
    pub fn recall(&self, address: &str) -> Result<Vec<usize>, Fault> {
        let address: Address = address.parse().map_err(Fault::settings)?;
        let found = self.window.recall(&address).map_err(Fault::settings)?;
        Ok(found.iter().map(|(index, _)| *index).collect())
    }
}
