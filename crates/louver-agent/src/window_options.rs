//! How the window of a run is configured.

use crate::overhead::count_overhead;
use crate::tools::ToolDefinition;
use louver::catalog::{Catalog, ModelWarning};
use louver::tokens::CounterChoice;
use louver::window::{Builder, WindowConfig};
use louver::{Budget, Error, Format, PolicyKind};

/// The window's configuration as a run is given it. What follows from model, system prompt and tools is filled in.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// What decides, and how it is set.
    pub policy: PolicyKind,
    /// The context window. Without one, the model's own is taken.
    pub budget: Option<Budget>,
    /// Which counter.
    pub counter: CounterChoice,
    /// Replaces the condensing prompt.
    pub custom_condensing_prompt: Option<String>,
}

impl WindowOptions {
    /// The defaults for a model: the policy follows from whether its context window is known.
    pub fn for_model(model: &str) -> Self {
        Self {
            policy: PolicyKind::default_for(Catalog::builtin().find(model).is_some()),
            budget: None,
            counter: CounterChoice::Auto,
            custom_condensing_prompt: None,
        }
    }

    /// The cap on messages, if the policy looks at one and it is not switched off.
    pub fn message_cap(&self) -> Option<usize> {
        self.policy.build().ok()?.max_messages()
    }

    /// Tokens that fit into one request, reply included: the budget's, or else the model's as far as it is known.
    pub fn context_window(&self, model: &str) -> Option<u64> {
        let budget = self.budget.map(|budget| budget.context_window());
        budget.or_else(|| Catalog::builtin().find(model).map(|found| found.model.context_window))
    }

    /// The engine's configuration for a model with a system prompt and tools.
    ///
    /// # Errors
    ///
    /// A reply reserve that leaves nothing of the model's window to a policy that needs it.
    pub fn config(
        &self,
        format: Format,
        model: &str,
        max_tokens: u64,
        system: Option<&str>,
        tools: &[ToolDefinition],
    ) -> Result<WindowConfig, Error> {
        let assembled = self.builder(format, model).reply(max_tokens).assemble();
        let mut config = assembled.config;
        if self.budget.is_none() && config.policy.needs_budget() {
            assembled.budget.transpose()?;
        }
        config.budget = self.budget.or(config.budget);
        config.overhead = count_overhead(&*config.counter, system, tools);
        config.custom_condensing_prompt = self.custom_condensing_prompt.clone();
        Ok(config)
    }

    /// What the catalogue does not know of a model.
    pub(crate) fn model_warning(&self, format: Format, model: &str) -> Option<ModelWarning> {
        self.builder(format, model).assemble().model_warning
    }

    fn builder(&self, format: Format, model: &str) -> Builder {
        Builder::new(format).model(model).policy(self.policy.clone()).counter(self.counter)
    }
}
