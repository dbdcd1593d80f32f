//! The names of the original systems that call a model through a callback, as thin functions over the engine.

use louver::condense::{CondenseJob, Outcome, Summary};
use louver::plan::{CondenseError, Overflow, Warning};
use louver::policy::{MessagesConfig, PolicyKind, SettingsError, TokensConfig};
use louver::seeds::{Trimmed, truncate_conversation_if_needed as decide};
use louver::tokens::Counter;
use louver::window::{Fit, Log, Window, WindowConfig};
use louver::{Budget, Format, Message};
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
    let config = WindowConfig::new(format, PolicyKind::Messages(config));
    let (mut window, fit) = Window::rebuild(config, Log::decided_once(messages.to_vec()))?;
    let fit = fit.unwrap_or_default();
    let mut warnings = fit.warnings;
    if let Some(job) = fit.job {
        let answer = call(job.prompt).await.map(Summary::new);
        if let Some(Outcome::Rejected(reason)) = window.answer(job.id, answer).outcome {
            warnings.push(Warning::NotCondensed(reason));
        }
    }
    Ok(Trimmed::of(&window, warnings))
}

/// The token window's one decision about a list, with the callback asked for a summary where condensing is on.
///
/// # Errors
///
/// Settings the policy cannot work with. The inner result is the overflow, where even the floor does not fit.
pub async fn truncate_conversation_if_needed(
    format: Format,
    messages: &[Arc<Message>],
    total_tokens: Option<u64>,
    config: TokensConfig,
    budget: Budget,
    counter: Arc<dyn Counter>,
    call: impl AsyncFnOnce(String) -> Result<String, String>,
) -> Result<(Window, Result<Fit, Overflow>), SettingsError> {
    let (mut window, mut fit) = decide(format, messages, total_tokens, config, budget, counter)?;
    if let Ok(fit) = &mut fit
        && let Some(job) = fit.job.take()
    {
        let answer = call(job.prompt).await.map(Summary::new);
        let answered = window.answer(job.id, answer);
        match answered.outcome {
            Some(Outcome::Rejected(reason)) => fit.error = Some(CondenseError::Rejected(reason)),
            _ => fit.tokens_after = answered.tokens_after,
        }
    }
    Ok((window, fit))
}

/// The engine's own job over everything: one message is appended behind, and nothing is kept before it.
fn job_over(format: Format, messages: &[Arc<Message>]) -> Option<CondenseJob> {
    let all = MessagesConfig { max_messages: 1, preserve_first_n: 0, preserve_last_n: 0, summarize_on_trim: true };
    let mut window = Window::new(WindowConfig::new(format, PolicyKind::Messages(all))).ok()?;
    for message in messages {
        window.push(Arc::clone(message));
    }
    // A summary waits for ten messages, so a short list is filled up with silent ones behind it.
    let silent = Message::synthetic(format, louver::wire::Role::User, " ").ok()?;
    for _ in 0..=louver::condense::MIN_EVICTED_PER_SUMMARY {
        window.push(silent.clone());
    }
    window.fit().ok()?.job
}
