//! The names of the original systems, as thin functions over the engine.
//!
//! Nothing here decides anything. `ConversationWindow` is the [`Window`] itself; those
//! that call a model through a callback live with the agent.

pub use crate::budget::{ANTHROPIC_DEFAULT_MAX_TOKENS, TOKEN_BUFFER_PERCENTAGE};
pub use crate::policy::{MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD};

use crate::budget::Budget;
use crate::count::count_message;
use crate::plan::{Overflow, Warning};
use crate::policy::{MessagesConfig, PolicyKind, SettingsError, TokensConfig, messages_to_drop};
use crate::tokens::Counter;
use crate::unit::units_of;
use crate::window::{Fit, Log, Metrics, Window, WindowConfig};
use crate::wire::{Format, Message};
use std::sync::Arc;

/// The original's name of the window.
pub type ConversationWindow = Window;

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
    pub warnings: Vec<Warning>,
}

impl Trimmed {
    /// What a window that has decided sends, and what it left out.
    pub fn of(window: &Window, warnings: Vec<Warning>) -> Self {
        Self {
            trimmed: window.view().iter().map(|sent| sent.message.clone()).collect(),
            evicted: window.evicted().map(|(_, message)| message.clone()).collect(),
            metrics: window.metrics(),
            warnings,
        }
    }
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
    let config = WindowConfig::new(format, PolicyKind::Messages(config));
    let (window, fit) = Window::rebuild(config, Log::decided_once(messages.to_vec()))?;
    Ok(Trimmed::of(&window, fit.map(|fit| fit.warnings).unwrap_or_default()))
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
    let instructions = messages.iter().take_while(|message| message.shape().is_instruction()).count();
    let last_dropped = instructions + messages_to_drop(messages.len() - instructions, fraction);
    let units = units_of(format, messages.iter().map(|message| &**message));
    let is_dropped = |unit: &std::ops::Range<usize>| unit.start > instructions && unit.end <= last_dropped + 1;
    units.filter(|unit| !is_dropped(unit)).flatten().collect()
}

/// The token window's one decision about a list. `total_tokens` is what the provider reported for all but the last
/// message, if the caller has such a figure. The inner result is the overflow, where even the floor does not fit.
///
/// # Errors
///
/// Settings the policy cannot work with.
pub fn truncate_conversation_if_needed(
    format: Format,
    messages: &[Arc<Message>],
    total_tokens: Option<u64>,
    config: TokensConfig,
    budget: Budget,
    counter: Arc<dyn Counter>,
) -> Result<(ConversationWindow, Result<Fit, Overflow>), SettingsError> {
    let config = WindowConfig::new(format, PolicyKind::Tokens(config)).with_budget(budget).with_counter(counter);
    let mut window = Window::new(config)?;
    for message in messages {
        window.push(Arc::clone(message));
    }
    if let Some(total_tokens) = total_tokens {
        window.report_total(total_tokens);
    }
    let fit = window.fit();
    Ok((window, fit))
}
