//! What a conversation is measured by: model, prices, window, counter.

use crate::billed::Billed;
use crate::cache::Tariff;
use crate::conversation::{Conversation, Turn};
use crate::fitted::find;
use crate::options::Options;
use crate::terms::Terms;
use louver::Format;
use louver::budget::{Budget, NothingLeft};
use louver::catalog::{Catalog, Cost, Found, Model};
use louver::tokens::Counter;
use louver::window::{Builder, WindowConfig};
use std::collections::HashMap;
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
    /// The name that was asked for or recorded; the most used where there are several.
    pub(crate) model: String,
    pub(crate) warnings: Vec<String>,
    /// The budget of the model above.
    pub(crate) budget: Budget,
    /// The window for the model, whatever decides in it.
    pub(crate) window: WindowConfig,
    /// The terms of all models and lives of the cache that were used.
    pub(crate) terms: Vec<Terms>,
    /// Which of them hold for each request.
    terms_of: Vec<usize>,
}

impl Assumptions {
    pub(crate) fn of(conversation: &Conversation, turns: &[Turn], options: &Options) -> Result<Self, AssumptionsError> {
        let mut known = KnownModels { conversation, options, warnings: Vec::new(), found: Vec::new() };
        let mut terms: Vec<(TermsKey, Terms)> = Vec::new();
        let mut terms_of = Vec::new();
        let mut is_long_lived = false;
        for turn in turns {
            let billed = find(&conversation.billed, turn);
            is_long_lived = billed.and_then(Billed::is_long_lived).unwrap_or(is_long_lived);
            let recorded = billed.and_then(|billed| billed.model.as_ref()).or(conversation.model.as_ref());
            let key = TermsKey { model: known.find(recorded.map(String::as_str))?, is_long_lived };
            let at = terms.iter().position(|(other, _)| *other == key).unwrap_or(terms.len());
            if at == terms.len() {
                terms.push((key, known.terms(key)?));
            }
            terms_of.push(at);
        }
        let main = most_used(&terms_of);
        let model = known.found[terms[main].0.model].1.clone();
        let terms: Vec<Terms> = terms.into_iter().map(|(_, terms)| terms).collect();
        let Terms { tariff, budget, .. } = terms[main].clone();
        let window = Builder::new(conversation.format).known_model(model).counter(options.counter).assemble().config;
        let window = window.with_economy(tariff.economy()).with_budget(budget);
        Ok(Self { model: terms[main].model.clone(), warnings: known.warnings, budget, window, terms, terms_of })
    }

    pub(crate) fn counter(&self) -> &Arc<dyn Counter> {
        &self.window.counter
    }

    /// The terms of a request.
    pub(crate) fn at(&self, turn: usize) -> &Terms {
        &self.terms[self.terms_of[turn]]
    }
}

/// The terms that most requests have; the earlier of two.
fn most_used(terms_of: &[usize]) -> usize {
    let count = |terms: usize| terms_of.iter().filter(|other| **other == terms).count();
    let last = terms_of.iter().copied().max().unwrap_or(0);
    (0..=last).rev().max_by_key(|terms| count(*terms)).unwrap_or(0)
}

/// What terms depend on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TermsKey {
    model: usize,
    is_long_lived: bool,
}

/// The models of a conversation, each looked up once.
struct KnownModels<'a> {
    conversation: &'a Conversation,
    options: &'a Options,
    warnings: Vec<String>,
    found: Vec<(String, Model)>,
}

impl KnownModels<'_> {
    /// The number of a model: of the one that was asked for, or else of the recorded one, or else of a stand-in.
    fn find(&mut self, recorded: Option<&str>) -> Result<usize, AssumptionsError> {
        let wanted = self.options.model.as_deref().or(recorded);
        let name = wanted.unwrap_or(stand_in(self.conversation.format));
        if let Some(at) = self.found.iter().position(|(other, _)| other == name) {
            return Ok(at);
        }
        let model = match Catalog::builtin().find(name) {
            Some(found) => accept(found, &mut self.warnings),
            None if self.options.model.is_some() => return Err(AssumptionsError::UnknownModel(name.to_owned())),
            None => {
                let stand_in = stand_in(self.conversation.format);
                self.warnings.push(format!(
                    "model `{name}` is not in the catalogue: prices and window of `{stand_in}` stand in"
                ));
                known_stand_in(self.conversation.format)?
            }
        };
        if wanted.is_none() {
            self.warnings.push(format!("no model is recorded: prices and window of `{name}` stand in"));
        }
        self.found.push((name.to_owned(), model));
        Ok(self.found.len() - 1)
    }

    fn terms(&mut self, key: TermsKey) -> Result<Terms, AssumptionsError> {
        let (name, model) = &self.found[key.model];
        let mut tariff = Tariff::of_model(model);
        if key.is_long_lived {
            tariff = tariff.long_lived();
        }
        if let Some(prices) = self.options.cache_prices {
            tariff = tariff.with_multiples(prices.write, prices.read);
        }
        let mut model = model.clone();
        // The recorded window is the recorded model's.
        let recorded = self.conversation.context_window.filter(|_| self.options.model.is_none());
        model.context_window = recorded.unwrap_or(model.context_window);
        let needed = self.largest_recorded(name);
        if needed > model.context_window && self.options.context_window.is_none() {
            model.context_window = WINDOWS.into_iter().find(|window| *window >= needed).unwrap_or(needed);
            self.warnings.push(format!(
                "`{name}` was sent more than its window holds: a window of {} is assumed",
                louver::display::grouped(model.context_window)
            ));
        }
        let budget = budget(self.options, &model)?;
        Ok(Terms { model: name.clone(), cache: key.model, tariff, budget })
    }

    /// The largest request that a model is recorded to have answered.
    fn largest_recorded(&self, model: &str) -> u64 {
        let named = |billed: &Billed| billed.model.as_ref().or(self.conversation.model.as_ref()).cloned();
        let is_its = |billed: &&Billed| named(billed).is_some_and(|name| name == model);
        self.conversation.billed.iter().filter(is_its).map(Billed::input).max().unwrap_or(0)
    }
}

/// Windows that providers sell.
const WINDOWS: [u64; 4] = [200_000, 400_000, 1_000_000, 2_000_000];

/// What the recorded requests of a conversation cost at the catalogue's prices, those counted elsewhere left out; `None`
/// where nothing is recorded.
pub(crate) fn recorded_bill(conversation: &Conversation, turns: &[Turn]) -> Option<Cost> {
    let mut tariffs: HashMap<Option<&str>, Option<Tariff>> = HashMap::new();
    let counted = turns.iter().skip(conversation.counted_elsewhere);
    let bills = counted.filter_map(|turn| find(&conversation.billed, turn)).filter_map(|billed| {
        let name = billed.model.as_deref().or(conversation.model.as_deref());
        let tariff = tariffs.entry(name).or_insert_with(|| list_prices(name, conversation.format));
        tariff.as_ref().map(|tariff| billed.cost(tariff.prices_at(billed.input())))
    });
    bills.reduce(|sum, cost| sum + cost)
}

/// What a model's requests are billed at.
fn list_prices(name: Option<&str>, format: Format) -> Option<Tariff> {
    let found = name.and_then(|name| Catalog::builtin().find(name)).map(|found| found.model.into_owned());
    found.or(known_stand_in(format).ok()).map(|model| Tariff::of_model(&model))
}

fn known_stand_in(format: Format) -> Result<Model, AssumptionsError> {
    let name = stand_in(format);
    let found = Catalog::builtin().find(name).ok_or_else(|| AssumptionsError::UnknownModel(name.to_owned()))?;
    Ok(found.model.into_owned())
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
        let turns = [Turn { at: 1, answer_end: 2 }];
        let assumptions = Assumptions::of(&conversation, &turns, &options).unwrap();
        assert_eq!((assumptions.model.as_str(), assumptions.warnings.len()), ("no such thing", 1));
        options.model = Some("no such thing".to_owned());
        assert!(Assumptions::of(&conversation, &turns, &options).is_err());
    }

    #[test]
    fn a_model_that_was_asked_for_brings_its_own_window() {
        let mut conversation = Conversation::new("x", Format::OpenAiResponses, Vec::new());
        (conversation.model, conversation.context_window) = (Some("gpt-5.2".to_owned()), Some(123_456));
        let turns = [Turn { at: 1, answer_end: 2 }];
        let window =
            |options: &Options| Assumptions::of(&conversation, &turns, options).unwrap().budget.context_window();
        let mut options = Options::of(Vec::new());
        assert_eq!(window(&options), 123_456);
        options.model = Some("gpt-4.1".to_owned());
        assert_eq!(window(&options), Catalog::builtin().find("gpt-4.1").unwrap().model.context_window);
    }
}
