//! How a window is made: the one place where model, budget, prices and counter come together.

use super::{Record, Window};
use crate::Error;
use crate::budget::Budget;
use crate::catalog::{Catalog, Found, Model, ThinkingBinding};
use crate::count::count_overhead;
use crate::economy::Economy;
use crate::json::Cursor;
use crate::policy::PolicyKind;
use crate::tokens::{Chars4, Counter, CounterChoice, Millitokens};
use crate::wire::{Body, Format, Thinking};
use std::sync::Arc;

/// How a window is made.
#[derive(Clone, Debug, serde::Serialize)]
pub struct WindowConfig {
    /// The wire format of its messages.
    pub format: Format,
    /// What decides, and how it is set.
    pub policy: PolicyKind,
    /// The context window, for policies that count tokens.
    pub budget: Option<Budget>,
    /// What the model's cache costs.
    pub economy: Economy,
    /// Counts tokens.
    #[serde(serialize_with = "by_name")]
    pub counter: Arc<dyn Counter>,
    /// What system and tools cost in every request.
    pub overhead: Millitokens,
    /// What the model does with thinking behind a changed prefix: where it refuses it, thinking behind a cut has to go.
    pub thinking: ThinkingBinding,
    /// Replaces the seeds' condensing prompt.
    pub custom_condensing_prompt: Option<String>,
}

fn by_name<S: serde::Serializer>(counter: &Arc<dyn Counter>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(counter.name())
}

impl WindowConfig {
    /// A window that knows no model: four characters count as a token, nothing stands around the messages.
    ///
    /// ```
    /// use louver::policy::{MessagesConfig, PolicyKind};
    /// use louver::window::{Window, WindowConfig};
    /// use louver::wire::Format;
    ///
    /// let cap = MessagesConfig { max_messages: 3, preserve_last_n: 1, ..MessagesConfig::default() };
    /// let mut window = Window::new(WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
    /// for i in 0..5 {
    ///     window.push_raw(&format!(r#"{{"role":"user","content":"Message {i}"}}"#))?;
    /// }
    /// window.fit()?;
    /// let kept: Vec<_> = window.view().iter().filter_map(|sent| sent.origin.index()).collect();
    /// assert_eq!(kept, [0, 3, 4]);
    /// assert_eq!(window.evicted().count(), 2);
    /// # Ok::<(), louver::Error>(())
    /// ```
    #[must_use]
    pub fn new(format: Format, policy: PolicyKind) -> Self {
        Self {
            format,
            policy,
            budget: None,
            economy: Economy::default(),
            counter: Arc::new(Chars4),
            overhead: Millitokens::ZERO,
            thinking: ThinkingBinding::None,
            custom_condensing_prompt: None,
        }
    }

    /// The same with everything that follows from a model: counter, prices, and what it does with thinking.
    #[must_use]
    pub fn with_model(mut self, model: Option<&Model>, counter: CounterChoice) -> Self {
        self.counter = counter.resolve(model);
        if let Some(model) = model {
            self.economy = Economy::of_model(model);
            self.thinking = model.traits.thinking;
        }
        self
    }

    /// The same with what stands around the messages of a request: system and tools, and whether it asks for manual
    /// thinking, which binds an unfinished turn whatever is known of the model.
    #[must_use]
    pub fn with_frame(mut self, body: &Body) -> Self {
        self.overhead = count_overhead(&*self.counter, body);
        let is_manual = body.format() == Format::Anthropic && body.thinking() == Thinking::Enabled;
        if is_manual && self.thinking == ThinkingBinding::None {
            self.thinking = ThinkingBinding::OpenTurn;
        }
        self
    }
}

/// Makes a window for a model; what the catalogue knows of it is applied, what it does not know is a warning.
///
/// ```
/// use louver::{Format, Window};
///
/// let mut window = Window::for_model(Format::Anthropic, "claude-sonnet-5-5")
///     .frame(&serde_json::json!({ "model": "claude-sonnet-5-5", "max_tokens": 4096, "system": "Be brief." }))
///     .build()?;
/// window.push_json(&serde_json::json!({ "role": "user", "content": "Hello" }))?;
/// let request = window.request()?;
/// assert!(request.json().ends_with(r#""messages":[{"content":"Hello","role":"user"}]}"#));
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder makes nothing until `build`"]
pub struct Builder {
    format: Format,
    model: String,
    policy: Option<PolicyKind>,
    context_window: Option<u64>,
    reply: Option<u64>,
    counter: CounterChoice,
    frame: Option<Result<String, serde_json::Error>>,
    condensing_prompt: Option<String>,
}

impl Builder {
    pub(super) fn new(format: Format, model: &str) -> Self {
        Self {
            format,
            model: model.to_owned(),
            policy: None,
            context_window: None,
            reply: None,
            counter: CounterChoice::Auto,
            frame: None,
            condensing_prompt: None,
        }
    }

    /// What decides; by default the ladder where the context window is known, else the message window.
    pub fn policy(mut self, policy: PolicyKind) -> Self {
        self.policy = Some(policy);
        self
    }

    /// The context window, in place of the catalogue's.
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// The reply length to reserve, in place of the frame's.
    pub fn reply(mut self, tokens: u64) -> Self {
        self.reply = Some(tokens);
        self
    }

    /// The counter, in place of the model's.
    pub fn counter(mut self, counter: CounterChoice) -> Self {
        self.counter = counter;
        self
    }

    /// A request without its history: system, tools, parameters. Counted, and kept for
    /// [`request`](super::Window::request).
    pub fn frame(mut self, body: &impl serde::Serialize) -> Self {
        self.frame = Some(serde_json::to_string(body));
        self
    }

    /// Replaces the prompt that summaries are asked for with.
    pub fn condensing_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.condensing_prompt = Some(prompt.into());
        self
    }

    /// Makes the window.
    ///
    /// # Errors
    ///
    /// A frame that is no request of the format, a policy without the window it needs, or a reply reserve that leaves
    /// nothing.
    pub fn build(self) -> Result<Window, Error> {
        self.open([])
    }

    /// The window of some [`Record`]s: its recorded decisions hold, whatever is set here.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build), and a record that cannot be read.
    pub fn open(self, records: impl IntoIterator<Item = Record>) -> Result<Window, Error> {
        let found = Catalog::builtin().find(&self.model);
        let frame = self.frame.transpose().map_err(|error| Error::Frame(error.to_string()))?;
        let frame = frame.map(|text| frame_of(self.format, &text)).transpose()?;
        let model = found.as_ref().map(|found| &*found.model);
        let context_window = self.context_window.or(model.map(|model| model.context_window));
        let policy = self.policy.unwrap_or_else(|| PolicyKind::default_for(context_window.is_some()));
        let mut config = WindowConfig::new(self.format, policy).with_model(model, self.counter);
        config.custom_condensing_prompt = self.condensing_prompt;
        let reply = self.reply.or(frame.as_ref().and_then(Body::max_output));
        let most = model.and_then(|model| model.max_output).unwrap_or(u64::MAX);
        config.budget =
            context_window.map(|window| Budget::new(window, reply.map(|reply| reply.min(most)))).transpose()?;
        if let Some(frame) = &frame {
            config = config.with_frame(frame);
        }
        let mut window = Window::open(config, records)?;
        window.frame = frame.map(Arc::new);
        window.model_warning = model_warning(&self.model, found.as_ref());
        Ok(window)
    }
}

/// A frame has no history of its own, or an empty one.
fn frame_of(format: Format, text: &str) -> Result<Body, Error> {
    let key = format.history_key();
    let mut has_history = false;
    Cursor::new(text).object(|name, cursor| {
        has_history |= name == key;
        cursor.skip().map(drop)
    })?;
    let with_history = match text.trim().strip_suffix('}') {
        Some(start) if !has_history => {
            let comma = if start.trim_end().ends_with('{') { "" } else { "," };
            format!("{start}{comma}\"{key}\":[]}}")
        }
        _ => text.to_owned(),
    };
    let body = Body::parse(&with_history, Some(format))?;
    if body.messages().is_empty() { Ok(body) } else { Err(Error::Frame("it has messages of its own".to_owned())) }
}

fn model_warning(name: &str, found: Option<&Found>) -> Option<String> {
    match found {
        Some(found) => found.warning.clone(),
        None => Some(format!("model `{name}` is not in the catalogue: four characters count as one token")),
    }
}
