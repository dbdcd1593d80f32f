//! What decides about a conversation: flags, configuration and the conversation itself put together.

use crate::args::WindowFlags;
use crate::config::Config;
use anyhow::{anyhow, bail};
use louver::Body;
use louver::budget::{Budget, NothingLeft};
use louver::catalog::{Model, ModelWarning};
use louver::inspect::Subject;
use louver::policy::{MessagesConfig, PolicyKind, Row};
use louver::trim::TrimOptions;
use louver::window::{Assembled, Builder, WindowConfig};
use std::borrow::Cow;

/// What flags and configuration say. Flags beat the configuration, which beats the defaults.
#[derive(Clone, Debug)]
pub(crate) struct WindowChoice<'a> {
    /// The policy that is asked for; where none is, what is known of the model decides.
    pub(crate) policy: Option<PolicyKind>,
    flags: &'a WindowFlags,
    config: Option<&'a Config>,
}

/// What holds for one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) config: WindowConfig,
    /// The name that was asked for.
    pub(crate) model_name: Option<String>,
    /// What the catalogue knows of it.
    pub(crate) model: Option<Cow<'static, Model>>,
    pub(crate) limit: Option<Limit>,
    /// What the provider reported for all but the last message.
    total_tokens: Option<u64>,
    /// What the catalogue did not know.
    pub(crate) warning: Option<ModelWarning>,
    /// Flags and keys that were given although the policy does not look at them.
    pub(crate) idle: Vec<&'static str>,
}

/// A context window, and where the figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) context_window: u64,
    pub(crate) window_from: &'static str,
    pub(crate) reserve_from: &'static str,
    /// The window less buffer and reply, where that leaves anything.
    pub(crate) budget: Result<Budget, NothingLeft>,
}

impl<'a> WindowChoice<'a> {
    pub(crate) fn new(flags: &'a WindowFlags, config: Option<&'a Config>) -> Self {
        let is_about_messages =
            flags.max_messages.is_some() || flags.preserve_first.is_some() || flags.preserve_last.is_some();
        let asked = flags.policy.map(Row::kind).or_else(|| config.and_then(Config::wanted_policy));
        let policy = asked.or(is_about_messages.then(|| PolicyKind::Messages(MessagesConfig::default())));
        Self { policy, flags, config }
    }

    /// The same, but the policy for known windows decides in any case.
    pub(crate) fn taken_as_known(self) -> Self {
        Self { policy: Some(self.policy.unwrap_or_else(|| PolicyKind::default_for(true))), ..self }
    }

    /// Finds model, counter and limit for a conversation. An unknown model is an error only where it was typed, or
    /// where nothing else says how large the window is and the policy has to know.
    pub(crate) fn resolve(&self, body: &Body) -> anyhow::Result<Window> {
        let configured = self.config.and_then(|config| config.provider.as_ref()?.model.as_deref());
        let model_name = self.flags.model.as_deref().or(body.model()).or(configured);
        let context_window = self.flags.context_window.or(self.config.and_then(|config| config.context.context_window));
        let mut assembled = self.builder(body, model_name, context_window).assemble();
        if let (Some(typed), None, None) = (&self.flags.model, &assembled.model, context_window) {
            bail!("--model: `{typed}` is not in the catalogue (--context-window and --counter do without)");
        }
        self.set(&mut assembled.config.policy);
        let prompt = self.config.and_then(|config| config.context.custom_condensing_prompt.clone());
        assembled.config.custom_condensing_prompt = prompt;
        Ok(Window {
            limit: self.limit(body, &assembled, context_window.is_some()),
            idle: self.idle(&assembled.config.policy),
            total_tokens: self.flags.total_tokens,
            model_name: model_name.map(str::to_owned),
            model: assembled.model,
            warning: assembled.model_warning,
            config: assembled.config,
        })
    }

    fn builder(&self, body: &Body, model_name: Option<&str>, context_window: Option<u64>) -> Builder {
        let mut builder = Builder::new(body.format()).counter(self.flags.counter);
        if let Some(name) = model_name {
            builder = builder.model(name);
        }
        if let Some(tokens) = context_window {
            builder = builder.context_window(tokens);
        }
        if let Some(tokens) = self.typed_reply().or(body.max_output()).or(self.configured_reply()) {
            builder = builder.reply(tokens);
        }
        match &self.policy {
            Some(policy) => builder.policy(policy.clone()),
            None => builder,
        }
    }

    fn typed_reply(&self) -> Option<u64> {
        self.flags.max_output.filter(|tokens| *tokens > 0)
    }

    fn configured_reply(&self) -> Option<u64> {
        self.config.and_then(|config| config.execution.max_tokens)
    }

    fn limit(&self, body: &Body, assembled: &Assembled, is_said: bool) -> Option<Limit> {
        let (context_window, budget) = (assembled.context_window?, assembled.budget?);
        let asked = self.typed_reply().or(body.max_output().filter(|tokens| *tokens > 0));
        let configured = self.configured_reply().filter(|_| asked.is_none());
        let asked = asked.or(configured);
        let most = assembled.model.as_ref().and_then(|model| model.max_output).unwrap_or(u64::MAX);
        let reserve_from = match (self.typed_reply(), asked) {
            _ if asked.unwrap_or(louver::budget::ANTHROPIC_DEFAULT_MAX_TOKENS) > most => "the most the model writes",
            (Some(_), _) => "--max-output",
            (None, Some(_)) if configured.is_some() => "execution.max_tokens",
            (None, Some(_)) => "the input",
            (None, None) => "the default",
        };
        let window_from = if is_said { "--context-window" } else { "the catalogue" };
        Some(Limit { context_window, window_from, reserve_from, budget })
    }

    /// Tells a policy what configuration and flags say about it.
    fn set(&self, policy: &mut PolicyKind) {
        if let Some(config) = self.config {
            config.apply(policy);
        }
        let flags = self.flags;
        if let Some(messages) = policy.messages_mut() {
            messages.max_messages = flags.max_messages.unwrap_or(messages.max_messages);
            messages.preserve_first_n = flags.preserve_first.unwrap_or(messages.preserve_first_n);
            messages.preserve_last_n = flags.preserve_last.unwrap_or(messages.preserve_last_n);
        }
        if let (Some(tokens), Some(profile)) = (policy.tokens_mut(), &flags.profile) {
            tokens.current_profile_id = Some(profile.clone());
        }
    }

    /// Flags and keys that the policy does not look at.
    fn idle(&self, policy: &PolicyKind) -> Vec<&'static str> {
        let counts_messages = policy.messages().is_some();
        let has_token_window = policy.tokens().is_some();
        let flags = self.flags;
        let flags = [
            ("--max-messages", flags.max_messages.is_some() && !counts_messages),
            ("--preserve-first", flags.preserve_first.is_some() && !counts_messages),
            ("--preserve-last", flags.preserve_last.is_some() && !counts_messages),
            ("--context-window", flags.context_window.is_some() && !policy.needs_budget()),
            ("--max-output", flags.max_output.is_some() && !policy.needs_budget()),
            ("--total-tokens", flags.total_tokens.is_some() && !has_token_window),
            ("--profile", flags.profile.is_some() && !has_token_window),
        ];
        let flags = flags.into_iter().filter(|(_, is_idle)| *is_idle).map(|(flag, _)| flag);
        flags.chain(self.config.map(|config| config.idle_keys(policy)).unwrap_or_default()).collect()
    }
}

impl Window {
    /// What a conversation is looked at in.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            config: &self.config,
            model_name: self.model_name.as_deref(),
            context_window: self.limit.map(|limit| limit.context_window),
            allowed_tokens: self.limit.and_then(|limit| Some(limit.budget.ok()?.allowed_tokens())),
        }
    }

    /// What the engine is told about the one decision over a conversation.
    pub(crate) fn trim_options(&self) -> anyhow::Result<TrimOptions> {
        let mut config = self.config.clone();
        if config.policy.needs_budget() {
            config.budget = Some(self.limit.ok_or_else(|| self.no_budget())?.budget?);
        }
        let total_tokens = self.total_tokens.filter(|_| config.policy.tokens().is_some());
        Ok(TrimOptions::from(config).with_total_tokens(total_tokens))
    }

    fn no_budget(&self) -> anyhow::Error {
        let policy = self.config.policy.name();
        match &self.model_name {
            Some(name) => anyhow!(
                "model `{name}` is not in the catalogue, and the policy `{policy}` needs a context window: give \
                 --context-window"
            ),
            None => anyhow!(
                "the policy `{policy}` needs a context window: give --context-window, or a --model whose window is known"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Window, WindowChoice};
    use crate::args::{Arguments, Command};
    use crate::config::Config;
    use clap::Parser;
    use louver::wire::Body;

    /// What `trim` takes for a conversation that names this model.
    fn trim(arguments: &str, config: &str, model: &str) -> Window {
        let arguments = Arguments::try_parse_from(format!("louver trim {arguments}").split_whitespace()).unwrap();
        let Command::Trim(trim) = &arguments.command else { panic!("{arguments:?}") };
        let config = Config::parse(config).unwrap().config;
        let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"Hi"}}]}}"#);
        WindowChoice::new(&trim.window, Some(&config)).resolve(&Body::parse(&body, None).unwrap()).unwrap()
    }

    const KNOWN: &str = "gpt-5";

    #[test]
    fn flags_beat_the_configuration() {
        let config = "policy: both\nprofile: code\nexecution: {conversation: {max_messages: 40, preserve_last_n: 7}}";
        let policy = trim("--max-messages 9 --profile chat", config, KNOWN).config.policy;
        let messages = policy.messages().unwrap();
        assert_eq!((policy.name(), messages.max_messages), ("both", 9));
        assert_eq!((messages.preserve_last_n, messages.preserve_first_n), (7, 1));
        assert_eq!(policy.tokens().unwrap().current_profile_id.as_deref(), Some("chat"));
        assert_eq!(trim("--policy tokens", config, KNOWN).config.policy.name(), "tokens");
        let window =
            |arguments| trim(arguments, "context: {context_window: 8000}", KNOWN).limit.unwrap().context_window;
        assert_eq!(window("--policy tokens"), 8000);
        assert_eq!(window("--policy tokens --context-window 9000"), 9000);
    }

    #[test]
    fn the_ladder_decides_unless_something_else_is_asked_for() {
        let policies = |arguments, config| {
            [KNOWN, "nobody-knows"].map(|model| trim(arguments, config, model).config.policy.name().to_owned())
        };
        assert_eq!(policies("", ""), ["ladder", "messages"]);
        assert_eq!(policies("--max-messages 3", ""), ["messages", "messages"]);
        assert_eq!(policies("", "execution: {max_conversation_messages: 3}"), ["messages", "messages"]);
        assert_eq!(policies("--policy tokens", ""), ["tokens", "tokens"]);
        assert_eq!(policies("", "policy: ladder-lean"), ["ladder-lean", "ladder-lean"]);
    }

    #[test]
    fn flags_without_effect_are_known() {
        let idle = |arguments| trim(arguments, "", KNOWN).idle;
        assert_eq!(idle("--policy tokens --max-messages 3"), ["--max-messages"]);
        assert_eq!(idle("--policy messages --context-window 9"), ["--context-window"]);
        assert!(idle("--context-window 9").is_empty());
        assert!(idle("--policy both --context-window 9 --preserve-first 1").is_empty());
    }
}
