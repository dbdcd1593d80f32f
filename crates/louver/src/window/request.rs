//! A request, ready to be sent, and what the provider says about it afterwards.

use super::{Fit, Window};
use crate::cache_mark::with_cache_mark;
use crate::plan::Overflow;
use crate::wire::Format;
use serde_json::Value;
use std::borrow::Cow;

/// More are refused.
const MOST_CACHE_MARKS: u32 = 4;

/// A fitted view inside the frame that the window was made with.
///
/// ```
/// use louver::{Format, Window};
/// use serde_json::json;
///
/// let frame = json!({ "model": "claude-sonnet-5-5", "max_tokens": 1024 });
/// let mut window = Window::for_model(Format::Anthropic, "claude-sonnet-5-5").frame(&frame).build()?;
/// window.push_json(&json!({ "role": "user", "content": "Hello" }))?;
/// let request = window.request()?.with_cache_marks();
/// assert!(!request.fit().is_cut());
/// assert!(request.json().contains(r#""cache_control":{"type":"ephemeral"}"#));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Debug)]
pub struct Request<'w> {
    window: &'w Window,
    fit: Fit,
    has_cache_marks: bool,
}

impl Window {
    /// Fits, and puts the view into the window's frame.
    ///
    /// # Errors
    ///
    /// As [`fit`](Self::fit).
    pub fn request(&mut self) -> Result<Request<'_>, Overflow> {
        let fit = self.fit()?;
        Ok(Request { window: self, fit, has_cache_marks: false })
    }
}

impl Request<'_> {
    /// What the fit did.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Puts cache marks where the window says that they belong, in the format that has them (Anthropic's), as far as
    /// frame and messages leave room for them. They are on the copy that goes out; the log never sees them.
    #[must_use]
    pub fn with_cache_marks(self) -> Self {
        Self { has_cache_marks: true, ..self }
    }

    /// The whole request: the frame with the view as its history. Without a frame, the view as a JSON array.
    pub fn json(&self) -> String {
        let messages = self.messages();
        match &self.window.frame {
            Some(frame) => frame.render(messages.iter().map(|raw| (None, &**raw))),
            None => format!("[{}]", messages.join(",")),
        }
    }

    fn messages(&self) -> Vec<Cow<'_, str>> {
        let mut messages: Vec<Cow<'_, str>> =
            self.window.view().iter().map(|sent| Cow::Borrowed(sent.message.raw())).collect();
        if self.has_cache_marks && self.window.format() == Format::Anthropic {
            let breakpoints = self.window.breakpoints();
            let mut marks = self.cache_marks();
            for index in [breakpoints.end, breakpoints.head].into_iter().filter_map(|count| count.checked_sub(1)) {
                let marked =
                    messages.get(index).filter(|_| marks < MOST_CACHE_MARKS).and_then(|raw| with_cache_mark(raw));
                if let Some(marked) = marked {
                    messages[index] = Cow::Owned(marked);
                    marks += 1;
                }
            }
        }
        messages
    }

    /// The marks that frame and view have of their own.
    fn cache_marks(&self) -> u32 {
        let frame = self.window.frame.as_ref().map_or(0, |frame| frame.history().outer_cache_marks);
        frame + self.window.view().iter().map(|sent| sent.message.shape().cache_marks).sum::<u32>()
    }
}

/// No request has more tokens than this.
const MOST_TOKENS: f64 = 1e12;

/// What a provider counted for the input of a request. No token is in two of the figures.
///
/// ```
/// use louver::window::Usage;
/// use louver::Format;
///
/// let answer = r#"{"usage":{"input_tokens":12,"cache_read_input_tokens":3000,"cache_creation_input_tokens":500}}"#;
/// let usage = Usage::from_response(Format::Anthropic, answer).unwrap();
/// assert_eq!((usage.input, usage.cache_read, usage.total()), (12, 3000, 3512));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Neither read from the cache nor written to it.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to it.
    pub cache_write: u64,
}

impl Usage {
    /// A figure that counts everything, cached or not.
    pub fn of_input(tokens: u64) -> Self {
        Self { input: tokens, ..Self::default() }
    }

    /// The whole input.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    /// The provider's own object in an answer (or in the event of a stream that carries it); nothing where there is
    /// none, or none that can be believed.
    pub fn from_response(format: Format, answer: &str) -> Option<Self> {
        let answer: Value = serde_json::from_str(answer).ok()?;
        let number = |value: &Value| Self::figure(value).unwrap_or_default();
        match format {
            Format::Anthropic => {
                let usage = first_object([&answer["usage"], &answer["message"]["usage"]])?;
                let input = Self::figure(&usage["input_tokens"])?;
                let (read, write) = (&usage["cache_read_input_tokens"], &usage["cache_creation_input_tokens"]);
                Some(Self { input, cache_read: number(read), cache_write: number(write) })
            }
            Format::OpenAiChat | Format::OpenAiResponses => {
                let usage = first_object([&answer["usage"], &answer["response"]["usage"]])?;
                let (total, details) = match Self::figure(&usage["prompt_tokens"]) {
                    Some(total) => (total, &usage["prompt_tokens_details"]),
                    None => (Self::figure(&usage["input_tokens"])?, &usage["input_tokens_details"]),
                };
                Some(Self::of_total(total, number(&details["cached_tokens"]), number(&details["cache_write_tokens"])))
            }
            Format::Gemini => {
                let usage = first_object([&answer["usageMetadata"], &answer["response"]["usageMetadata"]])?;
                let total = Self::figure(&usage["promptTokenCount"])?;
                Some(Self::of_total(total, number(&usage["cachedContentTokenCount"]), 0))
            }
        }
    }

    /// A number of tokens, a fraction rounded up; nothing where it is none, or none that can be believed.
    ///
    /// ```
    /// use louver::window::Usage;
    /// use serde_json::json;
    ///
    /// assert_eq!(Usage::figure(&json!(12)), Some(12));
    /// assert_eq!(Usage::figure(&json!(11.5)), Some(12));
    /// assert!([json!(-1), json!(1e300), json!(null), json!("12")].iter().all(|odd| Usage::figure(odd).is_none()));
    /// ```
    pub fn figure(value: &Value) -> Option<u64> {
        let tokens = value.as_f64()?.ceil();
        (0.0..=MOST_TOKENS).contains(&tokens).then_some(tokens as u64)
    }

    fn of_total(total: u64, cache_read: u64, cache_write: u64) -> Self {
        Self { input: total.saturating_sub(cache_read).saturating_sub(cache_write), cache_read, cache_write }
    }
}

fn first_object<const N: usize>(values: [&Value; N]) -> Option<&Value> {
    values.into_iter().find(|value| value.is_object())
}
