//! The names of the original systems, as thin functions over the engine.
//!
//! Nothing here decides anything. [`ConversationWindow`] is the window itself; those
//! that call a model through a callback live with the agent.

pub use crate::budget::{ANTHROPIC_DEFAULT_MAX_TOKENS, TOKEN_BUFFER_PERCENTAGE};
pub use crate::policy::{MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD};

use crate::budget::Budget;
use crate::count::count_message;
use crate::plan::Overflow;
use crate::policy::{MessagesConfig, SettingsError, TokensConfig, messages_to_drop};
use crate::tokens::Counter;
use crate::unit::units_of;
use crate::window::{ConversationWindow, Fit, Log, Metrics, WindowConfig};
use crate::wire::{Format, Message};
use std::sync::Arc;

/// What [`trim`] gives back.
#[derive(Clone, Debug)]
pub struct Trimmed {
    /// What is sent.
    pub trimmed: Vec<Message>,
    /// What was left out.
    pub evicted: Vec<Message>,
    /// The four figures.
    pub metrics: Metrics,
    /// What one should know.
    pub warnings: Vec<String>,
}

/// The message window's one decision about a list.
///
/// ```
/// use louver::policy::MessagesConfig;
/// use louver::seeds::trim;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hello world"}]"#, Some(Format::OpenAiChat))?;
/// let result = trim(Format::OpenAiChat, body.messages(), MessagesConfig::default())?;
/// assert_eq!(result.trimmed.len(), 1);
/// assert_eq!(result.metrics.estimated_tokens, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// None for this policy today.
pub fn trim(format: Format, messages: &[Arc<Message>], config: MessagesConfig) -> Result<Trimmed, SettingsError> {
    let mut window_config = WindowConfig::new(format, "messages");
    window_config.settings.messages = config;
    let (window, fit) = decide_once(window_config, messages)?;
    Ok(Trimmed {
        trimmed: window.view().iter().map(|sent| sent.message.clone()).collect(),
        evicted: window.evicted().map(|(_, message)| message.clone()).collect(),
        metrics: window.metrics(),
        warnings: fit.map(|fit| fit.warnings).unwrap_or_default(),
    })
}

/// Characters divided by four, rounded up once over the list; good to about 20 %.
#[must_use]
pub fn estimate_tokens(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| message.shape().estimate_chars).sum::<u64>().div_ceil(4)
}

/// What a counter says of some messages.
#[must_use]
pub fn estimate_token_count(messages: &[Arc<Message>], counter: &dyn Counter) -> u64 {
    messages.iter().map(|message| count_message(counter, message)).sum::<crate::tokens::Millitokens>().ceil_tokens()
}

/// Keeps the first message and drops an even number after it, no unit in two. Returns the indices that stay.
///
/// ```
/// use louver::seeds::truncate_conversation;
/// use louver::wire::{Body, Format};
///
/// let list: Vec<_> = (0..5).map(|i| format!(r#"{{"role":"user","content":"{i}"}}"#)).collect();
/// let body = Body::parse(&format!("[{}]", list.join(",")), Some(Format::OpenAiChat))?;
/// assert_eq!(truncate_conversation(Format::OpenAiChat, body.messages(), 0.5), [0, 3, 4]);
/// # Ok::<(), louver::json::JsonError>(())
/// ```
#[must_use]
pub fn truncate_conversation(format: Format, messages: &[Arc<Message>], fraction: f64) -> Vec<usize> {
    let last_dropped = messages_to_drop(messages.len(), fraction);
    let units = units_of(format, messages.iter().map(|message| &**message));
    let is_dropped = |unit: &std::ops::Range<usize>| unit.start > 0 && unit.end <= last_dropped + 1;
    units.filter(|unit| !is_dropped(unit)).flatten().collect()
}

/// The token window's one decision about a list. The inner result is the overflow, where even the floor does not fit.
///
/// # Errors
///
/// Settings the policy cannot work with.
pub fn truncate_conversation_if_needed(
    format: Format,
    messages: &[Arc<Message>],
    config: TokensConfig,
    budget: Budget,
    counter: Arc<dyn Counter>,
) -> Result<(ConversationWindow, Result<Fit, Overflow>), SettingsError> {
    let mut window_config = WindowConfig::new(format, "tokens");
    window_config.settings.tokens = config;
    window_config.settings.budget = Some(budget);
    window_config.counter = counter;
    decide_once(window_config, messages)
}

/// A fresh window over a list, fitted at its end alone.
fn decide_once(
    config: WindowConfig,
    messages: &[Arc<Message>],
) -> Result<(ConversationWindow, Result<Fit, Overflow>), SettingsError> {
    ConversationWindow::rebuild(config, Log::decided_once(messages.to_vec()))
}
