//! The names of the original systems that call a model through a callback, as thin functions over the engine.

use louver::budget::Budget;
use louver::condense::{CondenseJob, Outcome, Summary};
use louver::plan::Overflow;
use louver::policy::{MessagesConfig, SettingsError, TokensConfig};
use louver::seeds::{Trimmed, truncate_conversation_if_needed as decide};
use louver::tokens::Counter;
use louver::window::{ConversationWindow, Fit, Log, WindowConfig};
use louver::wire::{Format, Message};
use std::sync::Arc;

/// What [`summarize`] could not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummarizeError {
    /// Nobody said anything outside of tool calls and results.
    #[error("there is nothing to summarise: no message has text")]
    NothingToSay,
    /// The callback failed.
    #[error("the model did not answer: {0}")]
    Failed(String),
}

/// Asks a model, through a callback that takes a prompt, for a summary of some messages.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// use louver::wire::{Body, Format};
/// use louver_agent::seeds::summarize;
///
/// let list = r#"[{"role":"user","content":"Read a.txt"},{"role":"assistant","content":"It is empty."}]"#;
/// let body = Body::parse(list, Some(Format::OpenAiChat)).unwrap();
/// let summary = summarize(Format::OpenAiChat, body.messages(), async |prompt| {
///     assert!(prompt.ends_with("\n\n[user]: Read a.txt\n[assistant]: It is empty."));
///     Ok("a.txt is empty.".to_owned())
/// });
/// assert_eq!(summary.await.unwrap(), "a.txt is empty.");
/// # }
/// ```
///
/// # Errors
///
/// Nothing to summarise, or the callback's own failure.
pub async fn summarize(
    format: Format,
    messages: &[Arc<Message>],
    call: impl AsyncFnOnce(String) -> Result<String, String>,
) -> Result<String, SummarizeError> {
    let job = job_over(format, messages).ok_or(SummarizeError::NothingToSay)?;
    call(job.prompt).await.map_err(SummarizeError::Failed)
}

/// The message window's one decision about a list, with a summary in the place of what left where
/// `summarize_on_trim` asks for one and the callback gives one.
///
/// # Errors
///
/// None for this policy today.
pub async fn trim_with_summary(
    format: Format,
    messages: &[Arc<Message>],
    config: MessagesConfig,
    call: impl AsyncFnOnce(String) -> Result<String, String>,
) -> Result<Trimmed, SettingsError> {
    let mut window_config = WindowConfig::new(format, "messages");
    window_config.settings.messages = config;
    let (mut window, fit) = ConversationWindow::rebuild(window_config, Log::decided_once(messages.to_vec()))?;
    let mut fit = fit.unwrap_or_default();
    let mut warnings = std::mem::take(&mut fit.warnings);
    if let Some(job) = fit.job {
        let answer = call(job.prompt).await.map(|text| Summary { text, ..Summary::default() });
        if let Ok(Outcome::Rejected(reason)) = window.answer(job.id, answer) {
            warnings.push(format!("condensing failed, messages are left out without a summary: {reason}"));
        }
    }
    Ok(Trimmed {
        trimmed: window.view().iter().map(|sent| sent.message.clone()).collect(),
        evicted: window.evicted().map(|(_, message)| message.clone()).collect(),
        metrics: window.metrics(),
        warnings,
    })
}

/// The token window's one decision about a list, with the callback asked for a summary where condensing is on.
///
/// # Errors
///
/// Settings the policy cannot work with. The inner result is the overflow, where even the floor does not fit.
pub async fn truncate_conversation_if_needed(
    format: Format,
    messages: &[Arc<Message>],
    config: TokensConfig,
    budget: Budget,
    counter: Arc<dyn Counter>,
    call: impl AsyncFnOnce(String) -> Result<String, String>,
) -> Result<(ConversationWindow, Result<Fit, Overflow>), SettingsError> {
    let (mut window, mut fit) = decide(format, messages, config, budget, counter)?;
    if let Ok(Fit { job: Some(job), error, .. }) = &mut fit {
        let answer = call(job.prompt.clone()).await.map(|text| Summary { text, ..Summary::default() });
        match window.answer(job.id, answer) {
            Ok(Outcome::Accepted) => {}
            Ok(Outcome::Rejected(reason)) => *error = Some(reason),
            Err(overflow) => return Ok((window, Err(overflow))),
        }
    }
    Ok((window, fit))
}

/// The engine's own job over everything: one message is appended behind, and nothing is kept before it.
fn job_over(format: Format, messages: &[Arc<Message>]) -> Option<CondenseJob> {
    let mut config = WindowConfig::new(format, "messages");
    config.settings.messages =
        MessagesConfig { max_messages: 1, preserve_first_n: 0, preserve_last_n: 0, summarize_on_trim: true };
    let mut window = ConversationWindow::new(config).ok()?;
    messages.iter().for_each(|message| window.push(Arc::clone(message)));
    // A summary waits for ten messages, so a short list is filled up with silent ones behind it.
    let silent = Message::synthetic(format, louver::wire::Role::User, " ").ok()?;
    (0..louver::condense::MIN_EVICTED_PER_SUMMARY + 1).for_each(|_| window.push(silent.clone()));
    window.fit().ok()?.job
}
