//! How a window is made: the one place where model, budget, prices and counter come together.

use super::{Record, Window};
use crate::budget::{ANTHROPIC_DEFAULT_MAX_TOKENS, Budget, NothingLeft};
#[cfg(feature = "catalog")]
use crate::catalog::Catalog;
use crate::catalog::{Found, Model, ModelWarning, ThinkingBinding};
use crate::count::count_overhead;
use crate::economy::Economy;
use crate::error::{Error, FrameError};
use crate::json::Cursor;
use crate::policy::PolicyKind;
use crate::tokens::{Chars4, Counter, CounterChoice, Millitokens};
use crate::wire::{Body, Format, Thinking};
use std::borrow::Cow;
use std::sync::Arc;

/// How a window is made.
///
/// ```
/// use louver::catalog::ThinkingBinding;
/// use louver::policy::Economy;
/// use louver::tokens::{Chars4, CounterChoice};
/// use louver::window::WindowConfig;
/// use louver::{Body, Budget, Format, PolicyKind, Window};
/// use std::sync::Arc;
///
/// let body = Body::parse(r#"{"system":"Be brief.","messages":[]}"#, Some(Format::Anthropic))?;
/// let config = WindowConfig::new(Format::Anthropic, "tokens".parse::<PolicyKind>()?)
///     .with_model(None, CounterChoice::Chars4)
///     .with_counter(Arc::new(Chars4))
///     .with_budget(Budget::new(16_000, Some(1_000))?)
///     .with_economy(Economy::default())
///     .with_thinking(ThinkingBinding::OpenTurn)
///     .with_frame(&body);
/// assert_eq!(config.overhead.ceil_tokens(), 3); // the system prompt
/// assert!(Window::new(config)?.is_empty());
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
#[must_use = "a configuration does nothing by itself"]
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
    /// What the first line of a ledger says behind its title: how to have back what it stands for, say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_heading: Option<String>,
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
            ledger_heading: None,
        }
    }

    /// The same with everything that follows from a model: counter, prices, and what it does with thinking.
    pub fn with_model(mut self, model: Option<&Model>, counter: CounterChoice) -> Self {
        self.counter = counter.resolve(model);
        if let Some(model) = model {
            self.economy = Economy::of_model(model);
            self.thinking = model.traits.thinking;
        }
        self
    }

    /// The same with a context window, or without one.
    pub fn with_budget(mut self, budget: impl Into<Option<Budget>>) -> Self {
        self.budget = budget.into();
        self
    }

    /// The same with other prices.
    pub fn with_economy(mut self, economy: Economy) -> Self {
        self.economy = economy;
        self
    }

    /// The same with another counter.
    pub fn with_counter(mut self, counter: Arc<dyn Counter>) -> Self {
        self.counter = counter;
        self
    }

    /// The same for a model that does this with thinking.
    pub fn with_thinking(mut self, thinking: ThinkingBinding) -> Self {
        self.thinking = thinking;
        self
    }

    /// The same with what stands around the messages of a request: system and tools, and whether it asks for manual
    /// thinking, which binds an unfinished turn whatever is known of the model.
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
///
/// # A model that the catalogue does not know
///
/// ```
/// use louver::tokens::CounterChoice;
/// use louver::window::{Assembled, Builder};
/// use louver::{Format, PolicyKind};
///
/// let builder = Builder::new(Format::OpenAiChat)
///     .model("a-model-of-my-own")
///     .context_window(32_000)
///     .reply(2_000)
///     .counter(CounterChoice::Chars4)
///     .policy("full-cut".parse::<PolicyKind>()?)
///     .condensing_prompt("Sum this up.");
/// let Assembled { config, model, budget, .. } = builder.assemble(); // `build` makes a window of it
/// assert!(model.is_none() && config.policy.name() == "full-cut");
/// assert_eq!(budget.unwrap()?.allowed_tokens(), 26_800); // less 10 % and the reply
/// let resumed = Builder::new(Format::OpenAiChat).context_window(32_000).open([])?; // with records, as they were written
/// assert!(resumed.is_empty());
/// # Ok::<(), louver::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a builder makes nothing until `build`"]
pub struct Builder {
    format: Format,
    model: Option<String>,
    /// What is known of the model, where that is known already.
    known: Option<Model>,
    policy: Option<PolicyKind>,
    context_window: Option<u64>,
    reply: Option<u64>,
    counter: CounterChoice,
    frame: Option<Result<String, serde_json::Error>>,
    condensing_prompt: Option<String>,
}

/// What a window is made of, put together by a [`Builder`]: every figure there is, and where none is, why.
///
/// ```
/// use louver::Format;
/// use louver::window::Builder;
///
/// let assembled = Builder::new(Format::OpenAiChat).model("gpt-4").assemble();
/// assert_eq!(assembled.context_window, Some(8_192));
/// assert_eq!(assembled.config.policy.name(), "ladder");
/// let unknown = Builder::new(Format::OpenAiChat).assemble();
/// assert_eq!((unknown.config.policy.name(), unknown.budget), ("messages", None));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Assembled {
    /// How the window is made. The settings of its policy may still be changed.
    pub config: WindowConfig,
    /// What the catalogue knows of the model.
    pub model: Option<Cow<'static, Model>>,
    /// The context window, in tokens, as far as it is known.
    pub context_window: Option<u64>,
    /// What it leaves for a conversation; an error where that is nothing, and only a policy that needs it minds.
    pub budget: Option<Result<Budget, NothingLeft>>,
    /// What the catalogue did not know of the model.
    pub model_warning: Option<ModelWarning>,
}

impl Builder {
    /// A window for a model of which nothing is known, unless [`model`](Self::model) says it.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            model: None,
            known: None,
            policy: None,
            context_window: None,
            reply: None,
            counter: CounterChoice::Auto,
            frame: None,
            condensing_prompt: None,
        }
    }

    /// The model, to be looked up in the catalogue.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// What is known of the model, in place of the catalogue.
    pub fn known_model(mut self, model: Model) -> Self {
        self.known = Some(model);
        self
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
    pub fn open(mut self, records: impl IntoIterator<Item = Record>) -> Result<Window, Error> {
        let frame = self.frame.take().transpose().map_err(|error| FrameError::Serialize(Arc::new(error)))?;
        let frame = frame.map(|text| frame_of(self.format, &text)).transpose()?;
        self.reply = self.reply.or(frame.as_ref().and_then(Body::max_output));
        let Assembled { mut config, budget, model_warning, .. } = self.assemble();
        if config.policy.needs_budget() {
            config.budget = budget.transpose()?;
        }
        if let Some(frame) = &frame {
            config = config.with_frame(frame);
        }
        let mut window = Window::open(config, records)?;
        window.frame = frame.map(Arc::new);
        window.model_warning = model_warning;
        Ok(window)
    }

    /// Puts together what follows from the model and from what was said, and makes nothing yet. The frame is left out.
    pub fn assemble(self) -> Assembled {
        let found = match (self.known, &self.model) {
            (Some(known), _) => Some(Found { model: Cow::Owned(known), warning: None }),
            (None, name) => name.as_deref().and_then(known_model),
        };
        let model_warning = match (&found, &self.model, self.counter) {
            (Some(found), _, _) => found.warning.clone(),
            (None, Some(name), CounterChoice::Auto) => Some(ModelWarning::Unknown { asked: name.clone() }),
            _ => None,
        };
        let model = found.map(|found| found.model);
        let context_window = self.context_window.or(model.as_ref().map(|model| model.context_window));
        let policy = self.policy.unwrap_or_else(|| PolicyKind::default_for(context_window.is_some()));
        let reply = self.reply.filter(|tokens| *tokens > 0).unwrap_or(ANTHROPIC_DEFAULT_MAX_TOKENS);
        let most = model.as_ref().and_then(|model| model.max_output).unwrap_or(u64::MAX);
        let budget = context_window.map(|window| Budget::new(window, Some(reply.min(most))));
        let mut config = WindowConfig::new(self.format, policy).with_model(model.as_deref(), self.counter);
        config.custom_condensing_prompt = self.condensing_prompt;
        config.budget = budget.and_then(Result::ok);
        Assembled { config, model, context_window, budget, model_warning }
    }
}

/// What the built-in catalogue knows of a model; nothing where there is none.
#[cfg(feature = "catalog")]
fn known_model(name: &str) -> Option<Found<'static>> {
    Catalog::builtin().find(name)
}

#[cfg(not(feature = "catalog"))]
fn known_model(_name: &str) -> Option<Found<'static>> {
    None
}

/// A frame has no history of its own, or an empty one.
fn frame_of(format: Format, text: &str) -> Result<Body, FrameError> {
    let key = format.history_key();
    let mut has_history = false;
    let keys = Cursor::new(text).object(|member, cursor| {
        has_history |= member == key;
        cursor.skip().map(drop)
    });
    keys.map_err(FrameError::NoRequest)?;
    let with_history = match text.trim_end().strip_suffix('}') {
        Some(start) if !has_history => {
            let comma = if start.trim_end().ends_with('{') { "" } else { "," };
            format!("{start}{comma}\"{key}\":[]}}")
        }
        _ => text.to_owned(),
    };
    let body = Body::parse(&with_history, Some(format)).map_err(FrameError::NoRequest)?;
    if body.messages().is_empty() { Ok(body) } else { Err(FrameError::HasMessages) }
}
