//! One decision over a whole input.

use crate::plan::{Overflow, Warning};
use crate::policy::{Account, SettingsError};
use crate::report::{Action, Report};
use crate::tokens::AtMost;
use crate::window::{Fit, Log, Window, WindowConfig};
use crate::wire::Body;
use std::sync::Arc;

/// How to trim.
///
/// ```
/// use louver::trim::{TrimOptions, trim};
/// use louver::window::WindowConfig;
/// use louver::{Body, Budget, Format, PolicyKind};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hello"}]"#, None)?;
/// let policy = "tokens".parse::<PolicyKind>()?;
/// let config = WindowConfig::new(Format::OpenAiChat, policy).with_budget(Budget::new(16_000, None)?);
/// let options = TrimOptions::from(config).with_total_tokens(900).with_bounds(false);
/// let trimmed = trim(&body, options)?;
/// assert!(trimmed.json == body.text() && !trimmed.is_bound);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TrimOptions {
    /// The window: policy, budget, counter. What stands around the messages of the input is counted into it.
    pub config: WindowConfig,
    /// What the provider reported for all but the last message, if the caller has such a figure.
    pub total_tokens: Option<u64>,
    /// Whether a bound is enough where no count can change the decision: the vocabulary of an exact counter takes
    /// longer to load than a short conversation to trim.
    pub takes_bounds: bool,
}

impl TrimOptions {
    /// The same, with a figure of the provider's for all but the last message.
    #[must_use]
    pub fn with_total_tokens(self, total_tokens: impl Into<Option<u64>>) -> Self {
        Self { total_tokens: total_tokens.into(), ..self }
    }

    /// The same, content with a bound where no count can change the decision, or not.
    #[must_use]
    pub fn with_bounds(self, takes_bounds: bool) -> Self {
        Self { takes_bounds, ..self }
    }
}

impl From<WindowConfig> for TrimOptions {
    fn from(config: WindowConfig) -> Self {
        Self { config, total_tokens: None, takes_bounds: false }
    }
}

/// What trimming gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Trimmed {
    /// The same kind of JSON as the input.
    pub json: String,
    /// What was done.
    pub report: Report,
    /// The window that the output is the view of: it knows where each message comes from, and gives back what was left out.
    pub window: Window,
    /// What was spent and weighed, where the policy decides by price.
    pub account: Option<Account>,
    /// Whether the tokens reported are a bound, not a count.
    pub is_bound: bool,
}

/// Why trimming did not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
/// use louver::policy::{MessagesConfig, PolicyKind};
/// use louver::trim::trim;
/// use louver::window::WindowConfig;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[{"role":"system","content":"Be brief."}, {"role":"user","content":"Hi"},
///     {"role":"assistant","content":"Hello"}, {"role":"user","content":"Bye"}]"#, None)?;
/// let cap = MessagesConfig { max_messages: 3, preserve_last_n: 1, ..MessagesConfig::default() };
/// let trimmed = trim(&body, WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
/// assert_eq!(trimmed.report.kept, [0, 1, 3], "instructions stay, and the first message behind them");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Settings the policy cannot work with, or a history that cannot be made to fit.
pub fn trim(body: &Body, options: impl Into<TrimOptions>) -> Result<Trimmed, TrimError> {
    let (options, is_bound) = bounded(body, options.into())?;
    let (policy, condenses) = (options.config.policy.clone(), options.config.policy.condenses());
    let mut warnings: Vec<Warning> = body.is_ambiguous().then_some(Warning::Ambiguous).into_iter().collect();
    if body.is_server_side() {
        warnings.push(Warning::ServerSide);
    }
    let (window, fit) = fitted(body, options)?;
    let mut fit = fit?;
    if condenses && (fit.job.take().is_some() || fit.is_cut()) {
        warnings.push(Warning::NoModel);
    }
    if policy.always_folds() {
        // Earlier cuts are part of the one decision about this list.
        fit.tokens_before = window.log_tokens();
    }
    warnings.append(&mut fit.warnings);
    fit.warnings = warnings;
    Ok(written(body, window, &fit, is_bound))
}

/// What a window sends of an input, as the same kind of JSON.
pub(crate) fn written(body: &Body, window: Window, fit: &Fit, is_bound: bool) -> Trimmed {
    let report = Report::new(&window, fit);
    let json = match report.action {
        Action::None => body.text().to_owned(),
        Action::Truncate | Action::Condense => {
            body.render(window.view().iter().map(|sent| (sent.origin.index(), sent.message.raw())))
        }
    };
    let account = window.account().filter(|_| !body.is_server_side());
    Trimmed { json, report, window, account, is_bound }
}

/// The window that [`trim`] sends the view of: it knows what was left out and gives it back.
///
/// ```
/// use louver::policy::{MessagesConfig, PolicyKind};
/// use louver::trim::trimmed_window;
/// use louver::window::WindowConfig;
/// use louver::wire::{Body, Format};
///
/// let body = Body::parse(r#"[{"role":"user","content":"Hi"}, {"role":"user","content":"So?"},
///     {"role":"user","content":"Bye"}]"#, None)?;
/// let cap = MessagesConfig { max_messages: 2, preserve_last_n: 1, ..MessagesConfig::default() };
/// let window = trimmed_window(&body, WindowConfig::new(Format::OpenAiChat, PolicyKind::Messages(cap)))?;
/// assert_eq!(window.left_out().map(|(index, _)| index).collect::<Vec<_>>(), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Settings the policy cannot work with, or a history that cannot be made to fit.
pub fn trimmed_window(body: &Body, options: impl Into<TrimOptions>) -> Result<Window, TrimError> {
    let (window, fit) = fitted(body, options.into())?;
    fit?;
    Ok(window)
}

/// The same with a bound in place of the counter, if no count can change the decision and the caller takes bounds.
fn bounded(body: &Body, options: TrimOptions) -> Result<(TrimOptions, bool), SettingsError> {
    let may_bound = options.takes_bounds && options.total_tokens.is_none();
    let Some(at_most) = AtMost::of(&options.config.counter).filter(|_| may_bound) else {
        return Ok((options, false));
    };
    let config = WindowConfig { counter: Arc::new(at_most), ..options.config.clone() };
    let untouched = Log { messages: body.messages().to_vec(), events: Vec::new() };
    let (window, _) = Window::rebuild(config.clone().with_frame(body), untouched)?;
    let is_bound = !window.heeds_counts();
    Ok((if is_bound { TrimOptions { config, ..options } } else { options }, is_bound))
}

/// Where the provider holds part of the history, leaving something out here would break it: nothing is decided.
pub(crate) fn fitted(body: &Body, options: TrimOptions) -> Result<(Window, Result<Fit, Overflow>), SettingsError> {
    let TrimOptions { config, total_tokens, .. } = options;
    let folds = config.policy.always_folds();
    let config = config.with_frame(body);
    let messages = body.messages().to_vec();
    if body.is_server_side() {
        let (window, _) = Window::rebuild(config, Log { messages, events: Vec::new() })?;
        let fit = Fit { tokens_before: window.tokens(), tokens_after: window.tokens(), ..Fit::default() };
        return Ok((window, Ok(fit)));
    }
    let mut log = if folds { Log::of_transcript(messages) } else { Log::decided_once(messages) };
    if let Some(total_tokens) = total_tokens {
        let last = log.events.len() - 1;
        log.events.insert(last, (log.messages.len(), crate::window::Event::TotalReported { total_tokens }));
    }
    Window::rebuild(config, log)
}
