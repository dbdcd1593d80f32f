//! How the window of a run is configured.

use crate::overhead::count_overhead;
use crate::tools::ToolDefinition;
use louver::budget::Budget;
use louver::catalog::Catalog;
use louver::policy::{MessagesConfig, PolicyKind};
use louver::tokens::CounterChoice;
use louver::window::WindowConfig;
use louver::wire::Format;

/// The window's configuration as a run is given it. What follows from model, system prompt and tools is filled in.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// What decides, and how it is set.
    pub policy: PolicyKind,
    /// The context window. Without one, the model's own is taken where the policy needs one.
    pub budget: Option<Budget>,
    /// Which counter.
    pub counter: CounterChoice,
    /// Replaces the condensing prompt.
    pub custom_condensing_prompt: Option<String>,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            policy: PolicyKind::Messages(MessagesConfig::default()),
            budget: None,
            counter: CounterChoice::Auto,
            custom_condensing_prompt: None,
        }
    }
}

impl WindowOptions {
    /// The cap on messages, if the policy looks at one and it is not switched off.
    #[must_use]
    pub fn message_cap(&self) -> Option<usize> {
        self.policy.messages().map(|config| config.max_messages).filter(|cap| *cap > 0)
    }

    /// Tokens that fit into one request, reply included: the budget's, or else the model's as far as it is known.
    #[must_use]
    pub fn context_window(&self, model: &str) -> Option<u64> {
        let budget = self.budget.map(|budget| budget.context_window());
        budget.or_else(|| Catalog::builtin().find(model).map(|found| found.model.context_window))
    }

    /// The engine's configuration for a model with a system prompt and tools.
    ///
    /// # Errors
    ///
    /// An unknown policy, or a reply reserve that leaves nothing of the model's window.
    pub fn config(
        &self,
        format: Format,
        model: &str,
        max_tokens: u64,
        system: Option<&str>,
        tools: &[ToolDefinition],
    ) -> Result<WindowConfig, louver::Error> {
        let found = Catalog::builtin().find(model);
        let model = found.as_ref().map(|found| &*found.model);
        let mut config = WindowConfig::new(format, self.policy.clone()).with_model(model, self.counter);
        config.budget = self.budget;
        if self.budget.is_none() && self.policy.needs_budget() {
            config.budget = model.map(|model| Budget::new(model.context_window, Some(max_tokens))).transpose()?;
        }
        config.overhead = count_overhead(&*config.counter, system, tools);
        config.custom_condensing_prompt = self.custom_condensing_prompt.clone();
        Ok(config)
    }
}
