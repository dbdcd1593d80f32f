//! What a conversation is measured by: model, prices, window, counter.

use crate::cache::Tariff;
use crate::conversation::Conversation;
use crate::options::Options;
use louver::Format;
use louver::budget::{Budget, NothingLeft};
use louver::catalog::{Catalog, Found, Model};
use louver::tokens::Counter;
use louver::window::{Builder, WindowConfig};
use std::sync::Arc;

/// Why a conversation cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AssumptionsError {
    /// No model of this name, and none like it.
    #[error("model `{0}` is not in the catalogue, and no model is like it")]
    UnknownModel(String),
    /// A window that the reply alone fills.
    #[error(transparent)]
    NothingLeft(#[from] NothingLeft),
}

/// What a conversation is measured by.
#[derive(Clone, Debug)]
pub(crate) struct Assumptions {
    /// The name that was asked for or recorded.
    pub(crate) model: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) tariff: Tariff,
    pub(crate) budget: Budget,
    /// The window for the model, whatever decides in it.
    pub(crate) window: WindowConfig,
}

impl Assumptions {
    pub(crate) fn of(conversation: &Conversation, options: &Options) -> Result<Self, AssumptionsError> {
        let mut warnings = Vec::new();
        let (name, model) = find_model(conversation, options, &mut warnings)?;
        let mut tariff = Tariff::of_model(&model);
        if let Some(prices) = options.cache_prices {
            tariff = tariff.with_multiples(prices.write, prices.read);
        }
        let budget = budget(options, &model)?;
        let window = Builder::new(conversation.format).known_model(model).counter(options.counter).assemble().config;
        let window = window.with_economy(tariff.economy()).with_budget(budget);
        Ok(Self { model: name, warnings, tariff, budget, window })
    }

    pub(crate) fn counter(&self) -> &Arc<dyn Counter> {
        &self.window.counter
    }
}

fn find_model(
    conversation: &Conversation,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<(String, Model), AssumptionsError> {
    let catalog = Catalog::builtin();
    if let Some(asked) = &options.model {
        let found = catalog.find(asked).ok_or_else(|| AssumptionsError::UnknownModel(asked.clone()))?;
        return Ok((asked.clone(), accept(found, warnings)));
    }
    if let Some(recorded) = &conversation.model
        && let Some(found) = catalog.find(recorded)
    {
        return Ok((recorded.clone(), accept(found, warnings)));
    }
    let stand_in = stand_in(conversation.format);
    let found = catalog.find(stand_in).ok_or_else(|| AssumptionsError::UnknownModel(stand_in.to_owned()))?;
    let (name, warning) = match &conversation.model {
        Some(recorded) => (
            recorded.clone(),
            format!("model `{recorded}` is not in the catalogue: prices and window of `{stand_in}` stand in"),
        ),
        None => (stand_in.to_owned(), format!("no model is recorded: prices and window of `{stand_in}` stand in")),
    };
    warnings.push(warning);
    Ok((name, accept(found, warnings)))
}

fn accept(found: Found<'_>, warnings: &mut Vec<String>) -> Model {
    warnings.extend(found.warning.map(|warning| warning.to_string()));
    found.model.into_owned()
}

/// The model whose prices and window hold where a record names none that is known.
fn stand_in(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "claude-sonnet-5",
        Format::OpenAiChat | Format::OpenAiResponses => "gpt-5.5",
        Format::Gemini => "gemini-2.5-pro",
    }
}

/// The window and the reserve asked for. A small window that the usual reserve would fill keeps less free.
fn budget(options: &Options, model: &Model) -> Result<Budget, NothingLeft> {
    let window = options.context_window.unwrap_or(model.context_window);
    let usual = Budget::new(window, options.max_output);
    if options.max_output.is_some() || usual.is_ok() {
        return usual;
    }
    let smaller = model.max_output.into_iter().chain([window / 4]);
    smaller.map(|reserve| Budget::new(window, Some(reserve))).find(Result::is_ok).unwrap_or(usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_known_exactly() {
        for format in Format::ALL {
            let found = Catalog::builtin().find(stand_in(format)).unwrap();
            assert_eq!(found.warning, None);
        }
    }

    #[test]
    fn a_small_window_keeps_less_free() {
        let options = Options::of(Vec::new());
        let model = Catalog::builtin().find("gpt-4").unwrap().model;
        let budget = budget(&options, &model).unwrap();
        assert!(budget.context_window() == 8192 && budget.reserve() < 8192);
    }

    #[test]
    fn an_unknown_model_that_was_asked_for_is_an_error_and_a_recorded_one_a_warning() {
        let mut conversation = Conversation::new("x", Format::Gemini, Vec::new());
        conversation.model = Some("no such thing".to_owned());
        let mut options = Options::of(Vec::new());
        let assumptions = Assumptions::of(&conversation, &options).unwrap();
        assert_eq!((assumptions.model.as_str(), assumptions.warnings.len()), ("no such thing", 1));
        options.model = Some("no such thing".to_owned());
        assert!(Assumptions::of(&conversation, &options).is_err());
    }
}
