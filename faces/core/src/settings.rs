//! What the caller says about a window, and what it comes to.

use crate::Fault;
use louver::catalog::Catalog;
use louver::inspect::Subject;
use louver::policy::MessagesConfig;
use louver::tokens::CounterChoice;
use louver::trim::TrimOptions;
use louver::window::{Assembled, Builder, WindowConfig};
use louver::{Body, Budget, Format, PolicyKind};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;

/// The settings as they were given: the same as the flags of the command line, and those of the policies.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    format: Option<Format>,
    model: Option<String>,
    policy: Option<PolicyKind>,
    context_window: Option<u64>,
    max_output: Option<u64>,
    counter: CounterChoice,
    max_messages: Option<usize>,
    preserve_first: Option<usize>,
    preserve_last: Option<usize>,
    total_tokens: Option<u64>,
    profile: Option<String>,
    summarize: bool,
    condensing_prompt: Option<String>,
    keep_recent_tokens: Option<u64>,
    ledger_tokens: Option<u64>,
    pin: Option<Vec<String>>,
    pin_tools: Option<Vec<String>>,
}

/// What holds for one conversation.
#[derive(Debug)]
pub struct Resolved {
    pub(crate) config: WindowConfig,
    model_name: Option<String>,
    context_window: Option<u64>,
    total_tokens: Option<u64>,
    pub(crate) warning: Option<String>,
}

impl Settings {
    /// Reads settings by their names; those that are null are not said.
    ///
    /// # Errors
    ///
    /// [`Fault::Usage`] for a name that is no setting or a value of another type, [`Fault::Settings`] for an unknown name of
    /// a format, policy or counter.
    pub fn read(given: Map<String, Value>) -> Result<Self, Fault> {
        let mut settings = Self::default();
        for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
            settings.set(&name, value)?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), Fault> {
        match name {
            "format" => self.format = Some(parsed(name, value)?),
            "model" => self.model = Some(typed(name, value)?),
            "policy" => self.policy = Some(parsed(name, value)?),
            "context_window" => self.context_window = Some(typed(name, value)?),
            "max_output" => self.max_output = Some(typed(name, value)?),
            "counter" => self.counter = parsed(name, value)?,
            "max_messages" => self.max_messages = Some(typed(name, value)?),
            "preserve_first" => self.preserve_first = Some(typed(name, value)?),
            "preserve_last" => self.preserve_last = Some(typed(name, value)?),
            "total_tokens" => self.total_tokens = Some(typed(name, value)?),
            "profile" => self.profile = Some(typed(name, value)?),
            "summarize" => self.summarize = typed(name, value)?,
            "condensing_prompt" => self.condensing_prompt = Some(typed(name, value)?),
            "keep_recent_tokens" => self.keep_recent_tokens = Some(typed(name, value)?),
            "ledger_tokens" => self.ledger_tokens = Some(typed(name, value)?),
            "pin" => self.pin = Some(typed(name, value)?),
            "pin_tools" => self.pin_tools = Some(typed(name, value)?),
            _ => return Err(Fault::Usage(format!("`{name}` is no setting of a window"))),
        }
        Ok(())
    }

    /// The model, unless the settings name one.
    pub fn or_model(mut self, model: Option<String>) -> Self {
        self.model = self.model.or(model);
        self
    }

    /// The same, but the policy for known windows decides in any case.
    pub(crate) fn taken_as_known(mut self) -> Self {
        self.policy = self.policy.or_else(|| Some(PolicyKind::default_for(true)));
        self
    }

    /// The wire format, where it is said.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    /// The wire format that is said, or that the model's provider speaks.
    ///
    /// # Errors
    ///
    /// Where neither is known.
    pub fn wire_format(&self) -> Result<Format, Fault> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let found = self.model.as_deref().and_then(|name| Catalog::builtin().find(name));
        match found.as_ref().map(|found| &*found.model.provider) {
            Some("anthropic") => Ok(Format::Anthropic),
            Some(provider) if provider.starts_with("gemini") || provider.starts_with("vertex") => Ok(Format::Gemini),
            Some(_) => Ok(Format::OpenAiChat),
            None => Err(Fault::settings("say `format`, or a `model` that the catalogue knows")),
        }
    }

    /// What holds for a conversation, or for what stands around it.
    ///
    /// # Errors
    ///
    /// Where the model is unknown and nothing stands in for what it would say, or no budget is left.
    pub fn resolve(&self, body: &Body) -> Result<Resolved, Fault> {
        self.resolve_for(body.format(), body.model(), body.max_output())
    }

    /// The same where only this is known of it.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn resolve_for(&self, format: Format, model: Option<&str>, reply: Option<u64>) -> Result<Resolved, Fault> {
        let model_name = self.model.as_deref().or(model);
        let Assembled { mut config, model, context_window, budget, model_warning, .. } =
            self.builder(format, model_name, reply).assemble();
        if let (Some(typed), None, None) = (&self.model, &model, self.context_window) {
            let reason = format!("`{typed}` is not in the catalogue (`context_window` and `counter` do without)");
            return Err(Fault::settings(reason));
        }
        self.tell(&mut config.policy);
        if config.policy.needs_budget() {
            config.budget = budget.transpose().map_err(Fault::settings)?;
        }
        let warning = model_warning.map(|warning| warning.to_string());
        let model_name = model_name.map(str::to_owned);
        Ok(Resolved { config, model_name, context_window, total_tokens: self.total_tokens, warning })
    }

    fn builder(&self, format: Format, model: Option<&str>, reply: Option<u64>) -> Builder {
        let mut builder = Builder::new(format).counter(self.counter);
        if let Some(name) = model {
            builder = builder.model(name);
        }
        if let Some(tokens) = self.context_window {
            builder = builder.context_window(tokens);
        }
        if let Some(tokens) = self.max_output.filter(|tokens| *tokens > 0).or(reply) {
            builder = builder.reply(tokens);
        }
        if let Some(prompt) = &self.condensing_prompt {
            builder = builder.condensing_prompt(prompt);
        }
        let is_about_messages =
            self.max_messages.is_some() || self.preserve_first.is_some() || self.preserve_last.is_some();
        let cap = || is_about_messages.then(|| PolicyKind::Messages(MessagesConfig::default()));
        match self.policy.clone().or_else(cap) {
            Some(policy) => builder.policy(policy),
            None => builder,
        }
    }

    /// Tells a policy what the settings say about it.
    fn tell(&self, policy: &mut PolicyKind) {
        if let Some(messages) = policy.messages_mut() {
            messages.max_messages = self.max_messages.unwrap_or(messages.max_messages);
            messages.preserve_first_n = self.preserve_first.unwrap_or(messages.preserve_first_n);
            messages.preserve_last_n = self.preserve_last.unwrap_or(messages.preserve_last_n);
            messages.summarize_on_trim |= self.summarize;
        }
        if let Some(tokens) = policy.tokens_mut() {
            tokens.current_profile_id = self.profile.clone().or(tokens.current_profile_id.take());
            tokens.auto_condense_context |= self.summarize;
        }
        if let Some(ladder) = policy.ladder_mut() {
            ladder.keep_recent_tokens = self.keep_recent_tokens.unwrap_or(ladder.keep_recent_tokens);
            ladder.ledger_tokens = self.ledger_tokens.unwrap_or(ladder.ledger_tokens);
            ladder.pin = self.pin.clone().unwrap_or_else(|| std::mem::take(&mut ladder.pin));
            ladder.pin_tools = self.pin_tools.clone().unwrap_or_else(|| std::mem::take(&mut ladder.pin_tools));
            ladder.summarize_on_trim |= self.summarize;
        }
    }
}

impl Resolved {
    /// What the engine is told about the one decision over a conversation.
    pub(crate) fn trim_options(&self) -> TrimOptions {
        let total_tokens = self.total_tokens.filter(|_| self.config.policy.tokens().is_some());
        TrimOptions::from(self.config.clone()).with_total_tokens(total_tokens)
    }

    /// What a conversation is looked at in.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            config: &self.config,
            model_name: self.model_name.as_deref(),
            context_window: self.context_window,
            allowed_tokens: self.config.budget.map(Budget::allowed_tokens),
        }
    }

    /// Whether the policy has to know the context window, and nobody does.
    pub(crate) fn lacks_window(&self) -> bool {
        self.config.policy.needs_budget() && self.context_window.is_none()
    }
}

pub(crate) fn typed<T: DeserializeOwned>(name: &str, value: Value) -> Result<T, Fault> {
    serde_json::from_value(value)
        .map_err(|error| Fault::Usage(format!("the setting `{name}` is of another type: {error}")))
}

pub(crate) fn parsed<T>(name: &str, value: Value) -> Result<T, Fault>
where
    T: FromStr,
    T::Err: Display,
{
    typed::<String>(name, value)?.parse().map_err(Fault::settings)
}
