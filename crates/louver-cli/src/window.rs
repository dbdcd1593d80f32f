//! What decides about a conversation, once the conversation is known: model, budget, counter.

use anyhow::anyhow;
use louver::budget::{ANTHROPIC_DEFAULT_MAX_TOKENS, Budget};
use louver::catalog::{Catalog, Model};
use louver::policy::PolicyKind;
use louver::tokens::{Counter, CounterChoice};
use louver::trim::TrimOptions;
use louver::window::WindowConfig;
use louver::wire::Body;
use std::borrow::Cow;
use std::sync::Arc;

/// What flags and configuration say.
#[derive(Clone, Debug)]
pub(crate) struct WindowChoice {
    pub(crate) policy: PolicyKind,
    /// The policy where no context window is known.
    pub(crate) without_window: PolicyKind,
    /// What the provider reported for all but the last message.
    pub(crate) total_tokens: Option<u64>,
    /// What `--model` says; it beats the input's own.
    pub(crate) model: Option<String>,
    /// What the configuration says; the input's own beats it.
    pub(crate) configured_model: Option<String>,
    pub(crate) context_window: Option<u64>,
    pub(crate) max_output: Option<u64>,
    pub(crate) counter: CounterChoice,
    /// Flags and keys that were given although the policy does not look at them.
    pub(crate) idle: Vec<&'static str>,
}

/// What holds for one conversation.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) policy: PolicyKind,
    pub(crate) total_tokens: Option<u64>,
    /// The name that was asked for.
    pub(crate) model_name: Option<String>,
    /// What the catalogue knows of it.
    pub(crate) model: Option<Cow<'static, Model>>,
    pub(crate) limit: Option<Limit>,
    pub(crate) counter: Arc<dyn Counter>,
    counter_choice: CounterChoice,
    pub(crate) warnings: Vec<String>,
}

/// A context window, and where the figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) context_window: u64,
    pub(crate) window_from: &'static str,
    pub(crate) reserve: u64,
    pub(crate) reserve_from: &'static str,
}

impl Limit {
    pub(crate) fn budget(self) -> Result<Budget, louver::budget::NothingLeft> {
        Budget::new(self.context_window, Some(self.reserve))
    }
}

impl WindowChoice {
    /// Finds model, counter and limit for a conversation. An unknown model is an error only where it was typed, or
    /// where nothing else says how large the window is and the policy has to know.
    pub(crate) fn resolve(&self, body: &Body) -> anyhow::Result<Window> {
        let name = self.model.as_deref().or(body.model()).or(self.configured_model.as_deref());
        let found = name.and_then(|name| Catalog::builtin().find(name));
        if let (Some(typed), None, None) = (&self.model, &found, self.context_window) {
            return Err(anyhow!(
                "--model: `{typed}` is not in the catalogue (--context-window and --counter do without)"
            ));
        }
        let mut warnings: Vec<String> = found.iter().filter_map(|found| found.warning.clone()).collect();
        if let (Some(name), None, CounterChoice::Auto) = (name, &found, self.counter) {
            warnings.push(format!("model `{name}` is not in the catalogue: four characters count as one token"));
        }
        let model = found.map(|found| found.model);
        let limit = self.limit(body, model.as_deref());
        Ok(Window {
            policy: if limit.is_some() { self.policy.clone() } else { self.without_window.clone() },
            total_tokens: self.total_tokens,
            model_name: name.map(str::to_owned),
            limit,
            counter: self.counter.resolve(model.as_deref()),
            counter_choice: self.counter,
            model,
            warnings,
        })
    }

    fn limit(&self, body: &Body, model: Option<&Model>) -> Option<Limit> {
        let (context_window, window_from) = match (self.context_window, model) {
            (Some(typed), _) => (typed, "--context-window"),
            (None, Some(model)) => (model.context_window, "the catalogue"),
            (None, None) => return None,
        };
        let typed = self.max_output.filter(|tokens| *tokens > 0);
        let asked = body.max_output().filter(|tokens| *tokens > 0);
        let (reserve, reserve_from) = match (typed, asked) {
            (Some(typed), _) => (typed, "--max-output"),
            (None, Some(asked)) => (asked, "the input"),
            (None, None) => (ANTHROPIC_DEFAULT_MAX_TOKENS, "the default"),
        };
        let limit = Limit { context_window, window_from, reserve, reserve_from };
        match model.and_then(|model| model.max_output).filter(|most| *most < reserve) {
            Some(most) => Some(Limit { reserve: most, reserve_from: "the most the model writes", ..limit }),
            None => Some(limit),
        }
    }
}

impl Window {
    /// The engine's window for a conversation.
    pub(crate) fn config(&self, body: &Body) -> anyhow::Result<WindowConfig> {
        let budget = match (self.policy.needs_budget(), self.limit) {
            (false, _) => None,
            (true, Some(limit)) => Some(limit.budget()?),
            (true, None) => return Err(self.no_budget()),
        };
        let config = WindowConfig::new(body.format(), self.policy.clone());
        let config = config.with_model(self.model.as_deref(), self.counter_choice);
        // The tokenizer is loaded already.
        Ok(WindowConfig { budget, counter: Arc::clone(&self.counter), ..config })
    }

    /// What the engine is told about the one decision over a conversation.
    pub(crate) fn trim_options(&self, body: &Body) -> anyhow::Result<TrimOptions> {
        let total_tokens = self.total_tokens.filter(|_| self.policy.tokens().is_some());
        Ok(TrimOptions { config: self.config(body)?, total_tokens, takes_bounds: false })
    }

    fn no_budget(&self) -> anyhow::Error {
        let policy = self.policy.name();
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
