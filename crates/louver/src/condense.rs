//! Condensing without I/O: jobs out, summaries in.
//!
//! A [`CondenseJob`] is a prompt with its bounds. Whoever holds the window runs it with any model, whenever it suits,
//! and hands the text back through [`Window::answer`](crate::window::Window::answer). Until
//! then the view is already legal and within its bound, so nothing waits and nothing is lost: what has left but is not
//! yet covered by a summary is carried forward to the next job.
//!
//! One job is open at a time, and it stays open until it is answered, however often the window is cut meanwhile: a model
//! that takes many turns for a summary still gets it in. Whoever took a job and cannot finish it says so with an error.

use crate::address::holds;
use crate::display::shortened;
use crate::json::JsonError;
use crate::unsummarized::Unsummarized;
use crate::wire::{Message, Part, PartKind};
use std::collections::VecDeque;
use std::ops::Range;

/// What the model is asked, unless a prompt of one's own is configured.
pub const SUMMARY_PROMPT: &str = "Summarize the following conversation history concisely. Focus on: what files were \
    read/written, what decisions were made, what problems were encountered, and what the current state of the task \
    is. Be factual and brief.";

/// What a summary message starts with.
pub const SUMMARY_PREFIX: &str = "[Conversation Summary]";

/// The reply length of a condensing call.
pub const SUMMARY_MAX_TOKENS: u64 = 1024;

/// At least so many messages leave between two summaries.
pub const MIN_EVICTED_PER_SUMMARY: usize = 10;

/// Characters of a tool call or result that a summary's input shows.
const TOOL_TEXT_CHARS: usize = 200;

/// Input characters where no window says how much a condensing call may hold.
const DEFAULT_INPUT_CHARS: usize = 300_000;

/// A cautious reading of tokens as characters, so that the condensing request fits for any tokenizer.
const INPUT_CHARS_PER_TOKEN: u64 = 2;

/// A summary to be had: nothing has been called yet.
///
/// ```
/// use louver::condense::{CondenseJob, Outcome};
/// use louver::policy::MessagesConfig;
/// use louver::window::WindowConfig;
/// use louver::{Format, PolicyKind, Summary, Window};
///
/// let cap = MessagesConfig { max_messages: 4, preserve_last_n: 2, summarize_on_trim: true, ..MessagesConfig::default() };
/// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
/// for turn in 0..20 {
///     window.push_raw(&format!(r#"{{"role":"user","content":"Note number {turn}: nothing has to be done."}}"#))?;
/// }
/// let job: CondenseJob = window.fit()?.job.expect("enough has left");
/// assert!(job.prompt.contains("Note number 3") && job.max_tokens == 1024);
/// let answer = Summary::new("Notes without consequence."); // from any model, now or later
/// assert_eq!(window.answer(job.id, Ok(answer)).outcome, Some(Outcome::Accepted));
/// assert_eq!(window.summary(), Some("Notes without consequence."));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CondenseJob {
    /// Names the job in the answer.
    pub id: u64,
    /// The whole prompt.
    pub prompt: String,
    /// The reply length to ask for.
    pub max_tokens: u64,
    /// The messages it covers, as ranges of the log.
    pub covers: Vec<Range<usize>>,
}

/// What a model answered.
///
/// ```
/// use louver::Summary;
///
/// let summary = Summary::new("The parser was fixed.").with_usage(1_200, 9).with_cost(0.004);
/// assert_eq!((summary.input_tokens, summary.output_tokens, summary.cost), (1_200, 9, Some(0.004)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The text.
    pub text: String,
    /// Tokens the call read.
    pub input_tokens: u64,
    /// Tokens the call wrote.
    pub output_tokens: u64,
    /// What the call cost, in USD, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Summary {
    /// What a model wrote, where nobody counts what that took.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same with the tokens that the call read and wrote.
    #[must_use]
    pub fn with_usage(self, input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, ..self }
    }

    /// The same with what the call cost, in USD.
    #[must_use]
    pub fn with_cost(self, usd: f64) -> Self {
        Self { cost: Some(usd), ..self }
    }
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It stands in the view.
    Accepted,
    /// It does not, and why. What it should have covered is carried forward.
    Rejected(Rejection),
}

/// Why a summary does not stand in the view.
///
/// ```
/// assert_eq!(louver::condense::Rejection::Empty.to_string(), "the summary is empty");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// There was none; in the words of whoever asked the model.
    #[error("{0}")]
    Failed(String),
    /// It answers a job that nobody waits for.
    #[error("no such job is open")]
    NoSuchJob,
    /// It says nothing.
    #[error("the summary is empty")]
    Empty,
    /// It would make the view larger.
    #[error("the summary has {tokens} tokens, more than the {replaced_tokens} it replaces")]
    TooLarge {
        /// Its tokens.
        tokens: u64,
        /// Those of what it covers.
        replaced_tokens: u64,
    },
    /// It cannot be written as a message of the format, which property tests rule out.
    #[error(transparent)]
    Unreadable(#[from] JsonError),
}

/// Keeps track of what is summarised, what is not yet, and when to ask again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Condenser {
    custom_prompt: Option<String>,
    summary: Option<Summary>,
    /// What has left and neither a summary nor the open job covers.
    waiting: Unsummarized,
    open: Option<CondenseJob>,
    next_id: u64,
    /// After a failure: no further try before the log is this long.
    wait_until_len: usize,
}

impl Condenser {
    pub(crate) fn new(custom_prompt: Option<String>) -> Self {
        Self { custom_prompt, ..Self::default() }
    }

    pub(crate) fn summary(&self) -> Option<&Summary> {
        self.summary.as_ref()
    }

    pub(crate) fn may_ask(&self, log_len: usize) -> bool {
        log_len >= self.wait_until_len
    }

    /// Carries forward what has left, unless the open job covers it already.
    pub(crate) fn carry<'m>(&mut self, left: &[Range<usize>], message: impl Fn(usize) -> &'m Message) {
        let open = self.open.as_ref().map_or(&[][..], |job| &job.covers);
        for index in left.iter().cloned().flatten().filter(|index| !holds(open, *index)) {
            self.waiting.push(index, has_text(message(index)));
        }
    }

    /// The job that waits for its answer.
    pub(crate) fn open(&self) -> Option<&CondenseJob> {
        self.open.as_ref()
    }

    /// Makes a job of what was carried forward and of `in_view`, which leaves when the summary arrives. Where all of it
    /// has left already, it waits until enough has come together; while a job is open, the next one waits for its answer.
    pub(crate) fn ask<'m>(
        &mut self,
        in_view: Vec<Range<usize>>,
        log_len: usize,
        allowed_tokens: Option<u64>,
        message: impl Fn(usize) -> &'m Message,
    ) -> Option<CondenseJob> {
        let is_early = in_view.is_empty() && self.waiting.messages() < MIN_EVICTED_PER_SUMMARY;
        let has_text =
            || self.waiting.has_text() || in_view.iter().cloned().flatten().any(|index| has_text(message(index)));
        if self.open.is_some() || is_early || !self.may_ask(log_len) || !has_text() {
            return None;
        }
        let mut covers = self.waiting.take();
        covers.extend(in_view);
        covers.sort_by_key(|range| range.start);
        self.open_job(self.next_id.wrapping_add(1), covers, allowed_tokens, message);
        self.open.clone()
    }

    /// Opens a job that was asked for before, as it is recorded.
    pub(crate) fn reopen<'m>(
        &mut self,
        id: u64,
        covers: Vec<Range<usize>>,
        allowed_tokens: Option<u64>,
        message: impl Fn(usize) -> &'m Message,
    ) {
        self.waiting.take();
        self.open_job(id, covers, allowed_tokens, message);
    }

    fn open_job<'m>(
        &mut self,
        id: u64,
        covers: Vec<Range<usize>>,
        allowed_tokens: Option<u64>,
        message: impl Fn(usize) -> &'m Message,
    ) {
        let lines = covers.iter().cloned().flatten().flat_map(|index| lines_of(message(index)));
        let prompt = self.prompt(lines.collect(), input_chars(allowed_tokens));
        self.next_id = id;
        self.open = Some(CondenseJob { id, prompt, max_tokens: SUMMARY_MAX_TOKENS, covers });
    }

    /// Goes on counting behind the jobs of another.
    pub(crate) fn count_on_from(&mut self, other: &Self) {
        self.next_id = self.next_id.max(other.next_id);
    }

    /// What the open job covers, if it is the one of this id.
    pub(crate) fn covers_of(&self, id: u64) -> Option<Vec<Range<usize>>> {
        self.open.as_ref().filter(|job| job.id == id).map(|job| job.covers.clone())
    }

    /// Closes the job: what it covers is in this summary.
    pub(crate) fn succeed(&mut self, summary: Summary) {
        self.open = None;
        self.summary = Some(summary);
    }

    /// Closes the job. The next one waits until the log has grown.
    pub(crate) fn fail(&mut self, log_len: usize) {
        self.open = None;
        self.wait_until_len = log_len + MIN_EVICTED_PER_SUMMARY;
    }

    /// Prompt, blank line, earlier summary, lines: within the bound, oldest tool output dropped first. The earlier
    /// summary stands for more than any line, so it has half of the room before they have the rest.
    fn prompt(&self, lines: Vec<Line>, max_chars: usize) -> String {
        let instruction = self.custom_prompt.as_deref().unwrap_or(SUMMARY_PROMPT);
        let room = max_chars.saturating_sub(instruction.len());
        let summary = self.summary.as_ref().map(|summary| format!("[summary]: {}", summary.text));
        let earlier = summary.into_iter().map(|text| Line { text, is_tool: false });
        let earlier = bounded(earlier.collect(), room / 2);
        let taken: usize = earlier.iter().map(|line| line.text.len() + 1).sum();
        let lines = bounded(lines, room.saturating_sub(taken));
        let texts: Vec<&str> = earlier.iter().chain(&lines).map(|line| line.text.as_str()).collect();
        format!("{instruction}\n\n{}", texts.join("\n"))
    }
}

fn input_chars(allowed_tokens: Option<u64>) -> usize {
    let Some(tokens) = allowed_tokens else {
        return DEFAULT_INPUT_CHARS;
    };
    let chars = tokens.saturating_sub(SUMMARY_MAX_TOKENS).max(SUMMARY_MAX_TOKENS) * INPUT_CHARS_PER_TOKEN;
    usize::try_from(chars).unwrap_or(usize::MAX)
}

/// Whether anybody said something outside of tool calls and results.
fn has_text(message: &Message) -> bool {
    message.shape().parts.iter().any(|part| part.kind == PartKind::Text && !part.nested && !part.blank)
}

/// One line of a summary's input.
#[derive(Clone, Debug)]
struct Line {
    text: String,
    is_tool: bool,
}

/// A message as `[role]: text` lines.
fn lines_of(message: &Message) -> Vec<Line> {
    let role = message.shape().role.name();
    let line = |part| {
        let (text, is_tool) = part_text(message, part)?;
        Some(Line { text: format!("[{role}]: {text}"), is_tool })
    };
    message.shape().parts.iter().filter(|part| !part.nested).filter_map(line).collect()
}

/// What a summariser reads of a part, and whether a tool said it.
fn part_text(message: &Message, part: &Part) -> Option<(String, bool)> {
    match part.kind {
        PartKind::Text if part.blank => None,
        PartKind::Text => Some((message.text_of(part).into_owned(), false)),
        PartKind::ToolCall | PartKind::ServerToolCall => Some((
            format!("calls {}({})", message.name_of(part), shortened(&message.text_of(part), TOOL_TEXT_CHARS)),
            true,
        )),
        PartKind::ToolResult | PartKind::ServerToolResult => {
            Some((format!("result: {}", shortened(&message.text_of(part), TOOL_TEXT_CHARS)), true))
        }
        PartKind::Media(_) => Some(("[media]".to_owned(), false)),
        PartKind::Thinking | PartKind::Compaction | PartKind::Reference | PartKind::Other => None,
    }
}

/// Drops the oldest tool lines, then the oldest others, then clips what is left.
fn bounded(lines: Vec<Line>, max_chars: usize) -> VecDeque<Line> {
    let mut excess = lines.iter().map(|line| line.text.len() + 1).sum::<usize>().saturating_sub(max_chars);
    let mut kept = VecDeque::with_capacity(lines.len());
    for line in lines {
        if line.is_tool && excess > 0 {
            excess = excess.saturating_sub(line.text.len() + 1);
        } else {
            kept.push_back(line);
        }
    }
    while excess > 0 && kept.len() > 1 {
        excess = kept.pop_front().map_or(0, |line| excess.saturating_sub(line.text.len() + 1));
    }
    if excess > 0
        && let Some(line) = kept.front_mut()
    {
        line.text = crate::edit::clip(&line.text, max_chars / 4);
    }
    kept
}
