//! How the window of a run is configured.

use crate::overhead::count_overhead;
use crate::tools::ToolDefinition;
use louver::budget::Budget;
use louver::catalog::{Catalog, ThinkingBinding};
use louver::policy::{Economy, Row, Settings, SettingsError};
use louver::tokens::CounterChoice;
use louver::window::WindowConfig;
use louver::wire::Format;

/// The window's configuration as a run is given it. What follows from model, system prompt and tools is filled in.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// The policy's name.
    pub policy: String,
    /// What the policy is told. Without a budget, one is made of the model's context window.
    pub settings: Settings,
    /// Which counter.
    pub counter: CounterChoice,
    /// Replaces the condensing prompt.
    pub custom_condensing_prompt: Option<String>,
}

impl Default for WindowOptions {
    fn default() -> Self {
        Self {
            policy: "messages".to_owned(),
            settings: Settings::default(),
            counter: CounterChoice::Auto,
            custom_condensing_prompt: None,
        }
    }
}

/// A window that cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// Settings the policy cannot work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A reply reserve that leaves no room.
    #[error(transparent)]
    Budget(#[from] louver::budget::NothingLeft),
}

impl WindowOptions {
    /// The cap on messages, if the policy looks at one and it is not switched off.
    #[must_use]
    pub fn message_cap(&self) -> Option<usize> {
        let counts_messages = matches!(self.policy.as_str(), "messages" | "both");
        Some(self.settings.messages.max_messages).filter(|cap| counts_messages && *cap > 0)
    }

    /// Tokens that fit into one request, reply included: the budget's, or else the model's as far as it is known.
    #[must_use]
    pub fn context_window(&self, model: &str) -> Option<u64> {
        let budget = self.settings.budget.map(|budget| budget.context_window());
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
    ) -> Result<WindowConfig, WindowError> {
        let found = Catalog::builtin().find(model);
        let model = found.as_ref().map(|found| &*found.model);
        let mut settings = self.settings.clone();
        if settings.budget.is_none() && Row::find(&self.policy)?.needs_budget {
            settings.budget = model.map(|model| Budget::new(model.context_window, Some(max_tokens))).transpose()?;
        }
        if let Some(model) = model {
            settings.economy = Economy::of_model(model);
        }
        let counter = self.counter.resolve(model);
        Ok(WindowConfig {
            overhead: count_overhead(&*counter, system, tools),
            thinking: model.map_or(ThinkingBinding::None, |model| model.traits.thinking),
            custom_condensing_prompt: self.custom_condensing_prompt.clone(),
            counter,
            settings,
            ..WindowConfig::new(format, &self.policy)
        })
    }
}
