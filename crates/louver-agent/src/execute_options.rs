//! How one call of the tool loop is made.

use crate::tools::ToolDefinition;
use crate::{CondenseOptions, Observer, WindowOptions};
use louver::Format;
use louver::budget::ANTHROPIC_DEFAULT_MAX_TOKENS;
use louver::catalog::{Catalog, Cost};
use louver::window::WindowConfig;
use serde_json::{Map, Value};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Everything the tool loop is told besides the prompt and the conversation so far.
#[derive(Clone, Debug)]
pub struct ExecuteOptions {
    /// The model's name.
    pub model: String,
    /// The length of a reply at most.
    pub max_tokens: u64,
    /// The system prompt.
    pub system_prompt: Option<String>,
    /// Whether answers are streamed.
    pub is_streamed: bool,
    /// Further fields of every request, such as `thinking`.
    pub extra: Map<String, Value>,
    /// The window's configuration.
    pub window: WindowOptions,
    /// How summaries are had.
    pub condense: CondenseOptions,
    /// Stops the run.
    pub cancel: CancellationToken,
    /// A tool that takes longer has failed.
    pub tool_time_limit: Duration,
    /// Tools that run at the same time.
    pub max_parallel_calls: usize,
    /// Calls of the model at most.
    pub max_turns: usize,
    /// What a conversation may cost, summaries included: it stops before a call that might pass this. Nothing bounds the
    /// cost of a model whose prices are unknown.
    pub max_cost: Option<Cost>,
    /// What becomes of a call that a kill cut short.
    pub interrupted: Interrupted,
    /// Who watches.
    pub observer: Observer,
    /// Names the task in logs.
    pub task_id: String,
}

/// What becomes of a call of which nobody knows whether it took effect, because the process was killed before its result
/// was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interrupted {
    /// The model is told, and can look before it tries again. Nothing is ever done twice.
    #[default]
    Report,
    /// It is run again: right for tools that may be.
    Rerun,
}

impl ExecuteOptions {
    /// The defaults, for a model.
    pub fn new(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            max_tokens: Self::most_reply(model, ANTHROPIC_DEFAULT_MAX_TOKENS),
            system_prompt: None,
            is_streamed: true,
            extra: Map::new(),
            window: WindowOptions::for_model(model),
            condense: CondenseOptions::default(),
            cancel: CancellationToken::new(),
            tool_time_limit: Duration::from_secs(120),
            max_parallel_calls: 8,
            max_turns: 200,
            max_cost: None,
            interrupted: Interrupted::default(),
            observer: Observer::default(),
            task_id: String::new(),
        }
    }

    /// So long a reply, or the longest that the model is known to write.
    ///
    /// ```
    /// use louver_agent::ExecuteOptions;
    ///
    /// assert_eq!(ExecuteOptions::most_reply("claude-sonnet-4-5", 1_000_000), 64_000);
    /// assert_eq!(ExecuteOptions::most_reply("nobody-knows", 1_000_000), 1_000_000);
    /// ```
    pub fn most_reply(model: &str, max_tokens: u64) -> u64 {
        let written = Catalog::builtin().find(model).and_then(|found| found.model.max_output);
        max_tokens.min(written.unwrap_or(u64::MAX))
    }

    /// The window for a conversation in a format, with these tools.
    pub(crate) fn window_config(
        &self,
        format: Format,
        tools: &[ToolDefinition],
    ) -> Result<WindowConfig, louver::Error> {
        self.window.config(format, &self.model, self.max_tokens, self.system_prompt.as_deref(), tools)
    }
}
