//! The catalogue, and finding a model in it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
#[cfg(feature = "catalog")]
use std::sync::OnceLock;

use serde::{Deserialize, Deserializer, de};

use super::model::Model;
use super::name::{self, Parts};
use super::price::{Listed, Prices, Tier};
use super::traits::Rules;

/// Every model known.
///
/// ```
/// use louver::catalog::Catalog;
///
/// # #[cfg(feature = "catalog")] {
/// let catalog = Catalog::builtin();
/// assert!(catalog.models().any(|model| model.name == "gpt-5"));
/// assert_eq!(catalog.find("openai/gpt-5").unwrap().model.name, "gpt-5");
/// # }
/// assert!(Catalog::from_json("{}", "{}").is_err()); // one's own tables, in the same form
/// ```
#[derive(Debug, Clone)]
pub struct Catalog {
    models: BTreeMap<String, Model>,
    /// Prefixes that names in the table have, such as `gemini/`.
    own_prefixes: BTreeSet<String>,
    rules: Rules,
}

/// A model, and how sure it is that it is the one asked for.
///
/// ```
/// # #[cfg(feature = "catalog")] {
/// let found = louver::catalog::Catalog::builtin().find("gpt-5").unwrap();
/// assert!(found.warning.is_none() && found.model.context_window > 100_000);
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Found<'a> {
    /// The model. A stand-in has the size of the one it names, the dearest prices and the strictest binding of thinking
    /// of its family, and the other traits (tokenizer, cache, ...) that the name asked for has.
    pub model: Cow<'a, Model>,
    /// Set when another model stands in for the one asked for; names both.
    pub warning: Option<ModelWarning>,
}

/// What the catalogue does not know of a model.
///
/// ```
/// use louver::catalog::ModelWarning;
///
/// let warning = ModelWarning::Unknown { asked: "my-model".to_owned() };
/// assert_eq!(warning.to_string(), "model `my-model` is not in the catalogue: four characters count as one token");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelWarning {
    /// The cautious of its family stands in.
    #[error(
        "model `{asked}` is not in the catalogue: a window of {context_window} tokens is taken, that of `{stand_in}`, the \
         smallest of its family"
    )]
    StandIn {
        /// The name that was asked for.
        asked: String,
        /// The model whose window is taken.
        stand_in: String,
        /// That window.
        context_window: u64,
    },
    /// Nothing is known of it, its tokenizer included.
    #[error("model `{asked}` is not in the catalogue: four characters count as one token")]
    Unknown {
        /// The name that was asked for.
        asked: String,
    },
}

/// Why a catalogue could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The table of models is not the JSON it should be.
    #[error("the table of models cannot be read")]
    Models(#[source] serde_json::Error),
    /// The rules for traits are not the JSON they should be.
    #[error("the rules for the traits of models cannot be read")]
    Traits(#[source] serde_json::Error),
    /// A model without a context window.
    #[error("model `{0}` has no context window")]
    Window(String),
    /// A model without an input or output price, or with one that is no price.
    #[error("model `{0}` has no usable prices")]
    Prices(String),
}

impl Catalog {
    /// The catalogue that is compiled in; parsed on first use.
    #[cfg(feature = "catalog")]
    #[must_use]
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Catalog> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let models = [include_str!("models.json"), include_str!("retired.json")];
            Self::from_tables(&models, include_str!("traits.json")).expect("the tables are part of the binary")
        })
    }

    /// Reads a table of models and the rules for their traits, in the form of the built-in
    /// files.
    ///
    /// # Errors
    ///
    /// [`CatalogError`] when either is malformed or a price is missing.
    pub fn from_json(models: &str, traits: &str) -> Result<Self, CatalogError> {
        Self::from_tables(&[models], traits)
    }

    fn from_tables(models: &[&str], traits: &str) -> Result<Self, CatalogError> {
        let mut listed: BTreeMap<String, ListedModel> = BTreeMap::new();
        for table in models {
            let table: BTreeMap<String, ListedModel> = serde_json::from_str(table).map_err(CatalogError::Models)?;
            listed.extend(table);
        }
        let rules: Rules = serde_json::from_str(traits).map_err(CatalogError::Traits)?;
        let prefix = |name: &String| name.rsplit_once('/').map(|(prefix, _)| format!("{prefix}/"));
        let own_prefixes = listed.keys().filter_map(prefix).collect();
        let models = listed
            .into_iter()
            .map(|(name, model)| Ok((name.clone(), model.into_model(name, &rules)?)))
            .collect::<Result<_, CatalogError>>()?;
        Ok(Self { models, own_prefixes, rules })
    }

    /// Every model, by name.
    pub fn models(&self) -> impl Iterator<Item = &Model> {
        self.models.values()
    }

    /// The model of this name.
    ///
    /// Looked up exactly, then without or with a provider's prefix, then without its date. Else, with a warning, the
    /// cautious of its family: the smallest window of the members of the same or the nearest lower version, and the
    /// dearest prices and the strictest binding of thinking of all. `None` when no family fits. Case does not matter.
    ///
    /// ```
    /// # #[cfg(feature = "catalog")] {
    /// use louver::catalog::Catalog;
    ///
    /// let catalog = Catalog::builtin();
    /// let exact = catalog.find("gemini-2.5-pro").expect("known under its provider's prefix");
    /// assert_eq!((exact.model.name.as_str(), exact.warning), ("gemini/gemini-2.5-pro", None));
    ///
    /// let stand_in = catalog.find("claude-sonnet-4-9").expect("of a known family");
    /// assert_eq!(
    ///     stand_in.warning.expect("a stand-in").to_string(),
    ///     "model `claude-sonnet-4-9` is not in the catalogue: a window of 1000000 tokens is taken, that of \
    ///      `claude-sonnet-4-6`, the smallest of its family"
    /// );
    /// assert!(catalog.find("llama-4").is_none());
    /// # }
    /// ```
    pub fn find(&self, name: &str) -> Option<Found<'_>> {
        let asked = name.trim().to_ascii_lowercase();
        let bare = name::without_prefixes(&asked, &self.rules.prefixes);
        let base = name::without_owner(bare);
        let undated = name::without_date(base);
        let dashed = undated.replace('.', "-");
        let spellings = [asked.as_str(), bare, base, undated, &dashed];
        match spellings.iter().find_map(|spelling| self.spelled(spelling)) {
            Some(model) => Some(Found { model: Cow::Borrowed(model), warning: None }),
            None => self.stand_in(name, bare),
        }
    }

    /// The model of exactly this name, with or without a provider's prefix.
    fn spelled(&self, name: &str) -> Option<&Model> {
        let prefixed = |prefix: &String| self.models.get(&format!("{prefix}{name}"));
        self.models.get(name).or_else(|| self.own_prefixes.iter().find_map(prefixed))
    }

    fn stand_in(&self, asked: &str, bare: &str) -> Option<Found<'_>> {
        let parts = Parts::of(bare);
        if parts.family.is_empty() {
            return None;
        }
        let all = self.models.values().map(|model| (Parts::of(self.bare(&model.name)), model));
        let relatives = all.filter(|(relative, _)| relative.family == parts.family);
        let family: Vec<(Vec<u64>, &Model)> = relatives.map(|(relative, model)| (relative.version, model)).collect();
        let is_below = |version: &&Vec<u64>| !version.is_empty() && **version <= parts.version;
        let nearest = family.iter().map(|(version, _)| version).filter(is_below).max();
        let members = family.iter().filter(|(version, _)| nearest.is_none_or(|nearest| version == nearest));
        let (_, member) = members.min_by_key(|(_, model)| (model.context_window, model.name.len()))?;
        let mut traits = self.rules.traits_of(&member.provider, bare);
        let bindings = family.iter().map(|(_, model)| model.traits.thinking);
        traits.thinking = bindings.fold(traits.thinking, Ord::max);
        let models = || family.iter().map(|(_, model)| *model);
        let prices = models().map(|model| model.prices).fold(member.prices, Prices::dearer);
        let warning = ModelWarning::StandIn {
            asked: asked.to_owned(),
            stand_in: member.name.clone(),
            context_window: member.context_window,
        };
        let model = Model { traits, prices, tiers: dearest_tiers(models(), prices), ..(*member).clone() };
        Some(Found { model: Cow::Owned(model), warning: Some(warning) })
    }

    fn bare<'a>(&self, name: &'a str) -> &'a str {
        name::without_prefixes(name, &self.rules.prefixes)
    }
}

/// The steps of all members of a family, none below the prices before it.
fn dearest_tiers<'a>(family: impl Iterator<Item = &'a Model>, prices: Prices) -> Vec<Tier> {
    let mut steps: BTreeMap<u64, Prices> = BTreeMap::new();
    for tier in family.flat_map(|model| &model.tiers) {
        let step = steps.entry(tier.above_input_tokens).or_insert(tier.prices);
        *step = step.dearer(tier.prices);
    }
    let mut dearest = prices;
    let step = |(above_input_tokens, prices): (u64, Prices)| {
        dearest = dearest.dearer(prices);
        Tier { above_input_tokens, prices: dearest }
    };
    steps.into_iter().map(step).collect()
}

/// A model as the table lists it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedModel {
    provider: String,
    #[serde(deserialize_with = "whole")]
    context_window: Option<u64>,
    #[serde(default, deserialize_with = "whole")]
    max_output: Option<u64>,
    usd_per_million: Listed,
    #[serde(default)]
    above_input_tokens: BTreeMap<u64, Listed>,
    #[serde(default, deserialize_with = "whole")]
    cache_min_tokens: Option<u64>,
    retires: Option<String>,
}

impl ListedModel {
    fn into_model(self, name: String, rules: &Rules) -> Result<Model, CatalogError> {
        let traits = rules.traits_of(&self.provider, name::without_prefixes(&name, &rules.prefixes));
        let Some(context_window) = self.context_window else {
            return Err(CatalogError::Window(name));
        };
        let Some(prices) = self.usd_per_million.prices() else {
            return Err(CatalogError::Prices(name));
        };
        let tier = |(above_input_tokens, listed): (&u64, &Listed)| {
            Some(Tier { above_input_tokens: *above_input_tokens, prices: listed.tier(&prices)? })
        };
        let Some(tiers) = self.above_input_tokens.iter().map(tier).collect() else {
            return Err(CatalogError::Prices(name));
        };
        Ok(Model {
            name,
            provider: self.provider,
            context_window,
            max_output: self.max_output,
            prices,
            tiers,
            cache_min_tokens: self.cache_min_tokens.unwrap_or(traits.cache_min_tokens),
            retires: self.retires,
            traits,
        })
    }
}

/// A whole number, which the table sometimes spells `4096.0`.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(deserializer)? else {
        return Ok(None);
    };
    if number.fract() == 0.0 && (0.0..1e15).contains(&number) {
        return Ok(Some(number as u64));
    }
    Err(de::Error::custom(format!("{number} is not a whole number of tokens")))
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
