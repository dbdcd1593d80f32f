//! One decision over a whole input.

use crate::catalog::{Model, ThinkingBinding};
use crate::count::count_overhead;
use crate::plan::Overflow;
use crate::policy::{Account, Row, Settings, SettingsError};
use crate::report::{Action, Report};
use crate::tokens::Counter;
use crate::window::{ConversationWindow, Log, WindowConfig};
use crate::wire::Body;
use std::sync::Arc;

/// How to trim.
#[derive(Clone, Debug)]
pub struct TrimOptions<'a> {
    /// The policy's name.
    pub policy: &'a str,
    /// What the policy is told.
    pub settings: Settings,
    /// Counts tokens.
    pub counter: Arc<dyn Counter>,
    /// The model, if it is known: it decides what becomes of thinking.
    pub model: Option<&'a Model>,
}

/// What trimming gave.
#[derive(Clone, Debug)]
pub struct Trimmed {
    /// The same kind of JSON as the input.
    pub json: String,
    /// What was done.
    pub report: Report,
    /// What was spent and weighed, where the policy decides by price.
    pub account: Option<Account>,
}

/// Why trimming did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrimError {
    /// Settings the policy cannot work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A history that cannot be made to fit.
    #[error(transparent)]
    Overflow(#[from] Overflow),
}

/// Trims a request body or a list of messages.
///
/// ```
/// use louver::policy::Settings;
/// use louver::tokens::Chars4;
/// use louver::trim::{TrimOptions, trim};
/// use louver::wire::Body;
/// use std::sync::Arc;
///
/// let body = Body::parse(r#"[{"role":"system","content":"Be brief."}, {"role":"user","content":"Hi"},
///     {"role":"assistant","content":"Hello"}, {"role":"user","content":"Bye"}]"#, None)?;
/// let mut settings = Settings::default();
/// settings.messages.max_messages = 2;
/// settings.messages.preserve_last_n = 1;
/// let options = TrimOptions { policy: "messages", settings, counter: Arc::new(Chars4), model: None };
/// let trimmed = trim(&body, options)?;
/// assert_eq!(trimmed.report.kept, [0, 3]);
/// assert_eq!(trimmed.json, r#"[{"role":"system","content":"Be brief."}, {"role":"user","content":"Bye"}]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Settings the policy cannot work with, or a history that cannot be made to fit.
pub fn trim(body: &Body, options: TrimOptions<'_>) -> Result<Trimmed, TrimError> {
    let row = Row::find(options.policy)?;
    let config = window_config(row, body, options);
    let mut warnings = body_warnings(body);
    if body.is_server_side() {
        return Ok(untouched(body, config, warnings)?);
    }
    let wants_condensing = config.settings.messages.summarize_on_trim || config.settings.tokens.auto_condense_context;
    let (window, fit) = fitted(row, config, body)?;
    let mut fit = fit?;
    if wants_condensing && (fit.job.take().is_some() || fit.is_cut()) {
        warnings
            .push("condensing is configured, but trim calls no model: messages are left out without a summary".into());
    }
    warnings.append(&mut fit.warnings);
    if row.always_folds {
        // Earlier cuts are part of the one decision about this list.
        fit.tokens_before = window.log_tokens();
    }
    fit.warnings = warnings;
    let report = Report::new(row.name, &window, &fit);
    let json = match report.action {
        Action::None => body.text().to_owned(),
        Action::Truncate | Action::Condense => {
            body.render(window.view().iter().map(|sent| (sent.origin.index(), sent.message.raw())))
        }
    };
    Ok(Trimmed { json, report, account: window.account() })
}

/// The window that [`trim`] sends the view of: it knows what was left out and gives it back.
///
/// ```
/// use louver::policy::Settings;
/// use louver::tokens::Chars4;
/// use louver::trim::{TrimOptions, trimmed_window};
/// use louver::wire::Body;
/// use std::sync::Arc;
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hi"}, {"role":"user","content":"So?"},
///     {"role":"user","content":"Bye"}]"#, None)?;
/// let mut settings = Settings::default();
/// settings.messages.max_messages = 2;
/// settings.messages.preserve_last_n = 1;
/// let options = TrimOptions { policy: "messages", settings, counter: Arc::new(Chars4), model: None };
/// let window = trimmed_window(&body, options)?;
/// assert_eq!(window.left_out().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Settings the policy cannot work with, or a history that cannot be made to fit.
pub fn trimmed_window(body: &Body, options: TrimOptions<'_>) -> Result<ConversationWindow, TrimError> {
    let row = Row::find(options.policy)?;
    let config = window_config(row, body, options);
    let (window, fit) = match body.is_server_side() {
        true => unfitted(config, body)?,
        false => fitted(row, config, body)?,
    };
    fit?;
    Ok(window)
}

fn window_config(row: &Row, body: &Body, options: TrimOptions<'_>) -> WindowConfig {
    let mut config = WindowConfig::new(body.format(), row.name);
    config.overhead = count_overhead(&*options.counter, body);
    config.counter = options.counter;
    config.settings = options.settings;
    config.thinking = options.model.map(|model| model.traits.thinking).unwrap_or(ThinkingBinding::None);
    config
}

type Fitted = (ConversationWindow, Result<crate::window::Fit, Overflow>);

fn fitted(row: &Row, config: WindowConfig, body: &Body) -> Result<Fitted, SettingsError> {
    let messages = body.messages().to_vec();
    let log = if row.always_folds { Log::of_transcript(messages) } else { Log::decided_once(messages) };
    ConversationWindow::rebuild(config, log)
}

fn unfitted(config: WindowConfig, body: &Body) -> Result<Fitted, SettingsError> {
    ConversationWindow::rebuild(config, Log { messages: body.messages().to_vec(), events: Vec::new() })
}

/// Where the provider holds part of the history, leaving something out here would break it.
fn untouched(body: &Body, config: WindowConfig, mut warnings: Vec<String>) -> Result<Trimmed, SettingsError> {
    warnings.push("part of this history is kept by the provider, so nothing was left out".to_owned());
    let policy = config.policy.clone();
    let (window, _) = unfitted(config, body)?;
    let tokens = window.tokens();
    let fit = crate::window::Fit { tokens_before: tokens, tokens_after: tokens, warnings, ..Default::default() };
    Ok(Trimmed { json: body.text().to_owned(), report: Report::new(&policy, &window, &fit), account: None })
}

fn body_warnings(body: &Body) -> Vec<String> {
    let ambiguous = "this could be more than one format; it is read as openai-chat (--format says otherwise)";
    if body.is_ambiguous() { vec![ambiguous.to_owned()] } else { Vec::new() }
}
